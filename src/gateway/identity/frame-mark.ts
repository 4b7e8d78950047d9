import { isVolatile } from "../../compact/stack/separate.ts"
import type { Message, ModelRequest, Part } from "../../message/message.ts"
import { isFrame, isToolList } from "./history.ts"
import { digest } from "./names.ts"

/**
 * A hash of a request's frame: its instructions without dates and times, and its tool names. Without an id, only requests with the same
 * mark can be matched by their messages: instructions contain rules, and one API key may serve many customers whose instructions differ in
 * one line.
 */
export const frameMark = (request: ModelRequest, hint: string | undefined): string =>
  digest("frame", request.format, toolNames(request), frameParts(request).map(stableHash), hint ?? "")

/** The tool names, sorted. */
export const toolNames = (request: ModelRequest): readonly string[] =>
  [...new Set([...request.tools.map(({ name }) => name), ...listedTools(request.messages)])].sort()

/** A tool list among the messages is identified by its kind and length, because its content is not decoded. */
function listedTools(messages: readonly Message[]): readonly string[] {
  const found: string[] = []
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === "opaque" && isToolList(part.kind)) found.push(`${part.kind}:${part.wire.length}`)
    }
  }
  return found
}

/** The instructions: the system part and system messages before the first turn. */
export function frameParts({ system, messages }: ModelRequest): readonly Part[] {
  const first = messages.findIndex((message) => !isFrame(message, false))
  const leading = messages.slice(0, first < 0 ? messages.length : first)
  const parts = [...system, ...leading.flatMap((message) => (message.role === "system" ? message.parts : []))]
  return parts.filter((part) => !isVolatile(part))
}

export const partText = (part: Part): string => (part.type === "text" ? part.text : (part.wire ?? ""))

const months =
  "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
/** Dates and times of day, which change without changing the meaning. Other numbers may belong to rules. */
const datesAndTimes = new RegExp(
  [
    String.raw`\b\d{4}[-/]\d{1,2}[-/]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?`,
    String.raw`\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b`,
    String.raw`\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?\b`,
    String.raw`\b(?:${months})\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?\b`,
    String.raw`\b\d{1,2}\.? (?:${months})(?:,? \d{4})?\b`,
    String.raw`\b(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\b`,
    String.raw`\b1\d{9}(?:\d{3})?\b`,
  ].join("|"),
  "g",
)

const known = new WeakMap<Part, string>()

function stableHash(part: Part): string {
  const before = known.get(part)
  if (before !== undefined) return before
  const mark = digest("text", partText(part).replace(datesAndTimes, "·"))
  known.set(part, mark)
  return mark
}
