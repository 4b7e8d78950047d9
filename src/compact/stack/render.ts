import type { Part } from "../../message/part.ts"
import { isBlank, renderSection, type Section } from "./section.ts"
import type { Stack } from "./stack.ts"

/** One text part for each layer that says something, so that a provider can cache each apart. Equal content, equal bytes. */
export function renderStack(stack: Stack): readonly Part[] {
  return stack.layers.flatMap(({ sections }): readonly Part[] => {
    const said = sections.filter(({ text }) => !isBlank(text))
    return said.length === 0 ? [] : [{ type: "text", text: joinSections(said) }]
  })
}

/** Sections verbatim, with a blank line between them: as many line ends as the text before does not bring itself. */
function joinSections(sections: readonly Section[]): string {
  return sections
    .map(renderSection)
    .reduce((before, next) => `${before}${before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n"}${next}`)
}
