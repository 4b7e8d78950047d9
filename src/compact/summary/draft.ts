import { admits, tellingPart } from "./admit.ts"
import { oneLine } from "./line.ts"
import { maxLineLength, maxSources, type Note } from "./note.ts"

/** A note in the making: what it quotes of a tool's output is judged only once the note is known to be kept. */
export type Draft = Note & {
  /** A line or value of a tool's output, shown behind the text. */
  readonly quoted?: string
  /** The quotation is values under their keys, which no verb begins. */
  readonly values?: boolean
  /** What follows the quotation, in words of ours. */
  readonly after?: string
  /** What is said in place of a quotation that is not there. */
  readonly otherwise?: string
}

/** The note of a draft, or nothing if its own words may not stand. A quotation that may not is left out. */
export function finish({ quoted, values = false, after = "", otherwise = "", ...note }: Draft): Note | undefined {
  if (!admits(note.text, note.channel === "tool" ? "assistant" : note.channel)) return undefined
  const sources = distinct(note.sources)
  const told = quoted === undefined || values ? quoted : tellingPart(quoted)
  if (told === undefined || told === "" || !admits(told, "tool")) {
    return { ...note, sources, text: `${note.text}${otherwise}${after}` }
  }
  return { ...note, sources, text: oneLine(`${note.text}: ${told}${after}`, 2 * maxLineLength), channel: "tool" }
}

/** Each id once; of many the first and the last ones. */
export function distinct(ids: readonly string[]): readonly string[] {
  const each = [...new Set(ids)]
  return each.length <= maxSources ? each : [...each.slice(0, maxSources / 2), ...each.slice(-maxSources / 2)]
}
