import { digestHeading } from "../../message/own-text.ts"
import type { Digest } from "./digest.ts"
import { schemas, stateLabels } from "./schema.ts"
import type { SchemaName, SummaryLine, SummarySection } from "./summary.ts"

export const goalHead = "Goal: "
/** The goal is shown up to where it was cut. */
export const cutGoalHead = "Goal (beginning): "
export const factsTitle = "Facts"
/** Before every further line of the goal, so that none can pass for a line of ours. */
export const indent = "  "

const breaking = /[\p{Cc}\u2028\u2029]+/gu

/** What would read as a state or as an escape gets a backslash before it. */
export const likeLabel: RegExp = new RegExp(
  `^\\\\*(?:${Object.values(stateLabels)
    .map((label) => label.replace(/[[\]]/g, "\\$&"))
    .join("|")})`,
)

/** A line as it stands below its heading. */
export function lineText({ text, state }: Pick<SummaryLine, "text" | "state">): string {
  const line = text.replace(breaking, " ")
  const safe = likeLabel.test(line) ? `\\${line}` : line
  return state === undefined ? `- ${safe}` : `- ${stateLabels[state]} ${safe}`
}

/** What stands above the lines of a section. One that the schema does not know has its name for a title. */
export function headingText(name: string, schema: SchemaName, brief: boolean): string {
  const section = schemas[schema].find((one) => one.name === name)
  return `## ${section === undefined ? name.replace(breaking, " ") : brief ? section.short : section.title}`
}

/** A section as it stands in a digest. */
export const sectionText = ({ name, lines }: SummarySection, schema: SchemaName, brief: boolean): string =>
  [headingText(name, schema, brief), ...lines.map(lineText)].join("\n")

/** A line of the ledger that could pass for a heading or a line of the summary. */
const likeOurs = /^(?:\\|#|- )/gm

/** All that stands between the tags. */
export function bodyText({ goal, summary: { schema, sections }, ledger }: Digest, brief: boolean): string {
  const goalText =
    goal === undefined ? [] : [`${goal.whole ? goalHead : cutGoalHead}${goal.text.replaceAll("\n", `\n${indent}`)}`]
  const facts = ledger.text === "" ? [] : [`## ${factsTitle}\n${ledger.text.replace(likeOurs, "\\$&")}`]
  const shown = sections.filter(({ lines }) => lines.length > 0).map((section) => sectionText(section, schema, brief))
  return [...(brief ? [] : [digestHeading]), ...goalText, ...shown, ...facts].join(brief ? "\n" : "\n\n")
}
