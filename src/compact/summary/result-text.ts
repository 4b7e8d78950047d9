import type { Part, ToolResultPart } from "../../message/part.ts"

/** Characters read from either end of a tool's output: that is where tools say how it went. */
const edge = 4_000

/** The two ends of what a tool answered. `whole` is there only if nothing was left out. */
export type ResultText = {
  readonly head: string
  readonly tail: string
  readonly whole?: string
  readonly length: number
}

const bareText = (part: Part): string =>
  part.type === "text" ? part.text : part.type === "document" ? (part.text ?? "") : ""

/** Read the ends of an output without joining what lies between. */
export function resultText({ content }: ToolResultPart): ResultText {
  return textEnds(content.length === 1 && content[0] !== undefined ? bareText(content[0]) : joined(content))
}

const joined = (content: readonly Part[]): string => content.map(bareText).join("\n")

/** The ends of any text that answers a command. */
export function textEnds(text: string): ResultText {
  const ends = { head: text.slice(0, edge), tail: text.slice(-edge), length: text.length }
  return text.length <= 2 * edge ? { ...ends, whole: text } : ends
}
