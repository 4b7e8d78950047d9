import { fence } from "../../message/fence.ts"
import { present } from "../../message/present.ts"
import { disarm, sift, tags } from "./prompt-render.ts"
import { stateLabels } from "./schema.ts"
import type { Summary, SummaryLine } from "./summary.ts"

type Room = { readonly limitTokens: number; readonly count: (text: string) => number }

/** The earlier summary in the format of the answer, in its fence; the most telling lines of it if not all fit. */
export function previousJson(previous: Summary, room: Room): string {
  const sections = keptLines(previous, room, ({ text, sources, state }) =>
    JSON.stringify({ text, from: sources, ...present({ state }) }),
  )
  const written = sections.map(({ name, lines }) => `${JSON.stringify(name)}:[${lines.join(",\n")}]`)
  return fence(tags.previous, `{"sections":{${written.join(",\n")}}}`)
}

/** The same for people: headings, and lines that end with the ids of their sources. */
export function previousPlain(previous: Summary, room: Room): string {
  const sections = keptLines(previous, room, ({ text, sources, state }) => {
    const label = state === undefined ? "" : `${stateLabels[state]} `
    return `- ${label}${text}${sources.length === 0 ? "" : ` (${sources.join(", ")})`}`
  })
  return fence(tags.previous, sections.map(({ name, lines }) => `${name}:\n${lines.join("\n")}`).join("\n"))
}

/** As many lines as there is room for, the worthiest first, written out in their old order. */
function keptLines(previous: Summary, { limitTokens, count }: Room, write: (line: SummaryLine) => string) {
  const lines = previous.sections
    .flatMap((section) => section.lines)
    .map((line) => ({ line, text: write({ ...line, text: disarm(sift(line)) }) }))
  const kept = new Map<SummaryLine, string>()
  let total = 0
  for (const { line, text } of lines.toSorted((one, other) => other.line.worth - one.line.worth)) {
    total += count(text)
    if (total > limitTokens) break
    kept.set(line, text)
  }
  return previous.sections.flatMap(({ name, lines: own }) => {
    const texts = own.flatMap((line) => kept.get(line) ?? [])
    return texts.length === 0 ? [] : [{ name, lines: texts }]
  })
}
