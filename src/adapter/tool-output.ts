import { HoldfastError } from "../message/errors.ts"
import { callId, messageId } from "../message/ids.ts"
import type { Format } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import { codecOf } from "../wire/codecs.ts"

/** What a result shows where the tool said nothing: some APIs refuse an empty text. */
export const noOutput = "(no output)"

/** More parts than any tool's answer has. */
const maxParts = 100
/** Of a text that is too long, so much of what stays is its beginning. */
const headShare = 0.7

/** A tool's output as parts that the format can carry, its texts together no longer than the limit. */
export function readToolOutput(output: unknown, format: Format, limitLength: number): readonly Part[] {
  const parts = isParts(output) ? output.slice(0, maxParts) : [textPart(textFrom(output))]
  let left = limitLength
  const bounded = parts.flatMap((part): readonly Part[] => {
    if (part.type !== "text") return [part]
    const text = cutMiddle(part.text.toWellFormed(), left)
    left = Math.max(0, left - text.length)
    return text === "" ? [] : [{ ...part, text }]
  })
  requireWritable(bounded, format)
  return bounded.length === 0 ? [textPart(noOutput)] : bounded
}

export const textPart = (text: string): Part => ({ type: "text", text })

/** Only what says its type is a part. */
const isParts = (output: unknown): output is readonly Part[] =>
  Array.isArray(output) &&
  output.every((part: unknown) => {
    if (typeof part !== "object" || part === null || !("type" in part)) return false
    if (part.type === "text") return "text" in part && typeof part.text === "string"
    return "wire" in part && typeof part.wire === "string"
  })

/** Tools are written in JavaScript, too: what is no text is told as JSON. */
function textFrom(output: unknown): string {
  if (typeof output === "string") return output
  return output === undefined ? "" : (JSON.stringify(output) ?? String(output))
}

/** A part that the format cannot carry is the tool's mistake, and is told as such. */
function requireWritable(parts: readonly Part[], format: Format): void {
  const result = { type: "tool-result", callId: callId("call"), kind: "function", content: parts } as const
  try {
    codecOf(format).writeMessage({ id: messageId("result"), role: "user", parts: [result] })
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    throw new Error(error.message)
  }
}

/** The beginning and the end of a text, with a word on how much is not shown between them. */
export function cutMiddle(text: string, limitLength: number): string {
  if (text.length <= limitLength) return text
  const note = `\n[${text.length - limitLength} characters or more are not shown]\n`
  const room = limitLength - note.length
  if (room <= 0) return text.slice(0, limitLength).toWellFormed()
  const head = Math.floor(room * headShare)
  return `${text.slice(0, head)}${note}${text.slice(text.length - (room - head))}`.toWellFormed()
}
