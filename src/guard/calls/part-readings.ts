import type { Format } from "../../message/message.ts"
import { collect } from "../../wire/collect.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { PartStart, StreamEvent } from "../../wire/stream.ts"
import { couldHoldCall } from "./call-shape.ts"
import { type FoundCall, findCall, isInput } from "./find-call.ts"

/** A part of a stream that has come to its end. */
export type EndedPart = {
  readonly start: StreamEvent & PartStart
  readonly events: readonly StreamEvent[]
  /** The pieces of its input, joined. */
  readonly input: string
}

/** Fields in which a wire repeats the input of a call beside the pieces that it streamed. */
const copyNames = ["arguments", "input", "code", "action", "operation", "args"] as const

/**
 * All that a client could take a part for: what it comes to when it is put together, its pieces joined, and every copy that the
 * wire sends along. They say the same in an honest stream; where they differ, each is judged. None means that it is no call.
 */
export function readingsOf(format: Format, part: EndedPart): readonly FoundCall[] {
  const { start, events, input } = part
  const whole = wholeOf(format, events)
  if (start.part !== "tool-call") {
    if (whole === undefined || whole.length > 0) return whole ?? [unreadCall("", "", "it cannot be put together")]
    const hides = events.some(({ wire }) => wire !== undefined && couldHoldCall(contentOf(format, wire.sse.data)))
    return hides ? [unreadCall("", "", "it looks like a call and cannot be read as one")] : []
  }
  const { callId, tool, kind } = start
  const found = { callId, tool, providerRun: kind === "provider" }
  if (whole === undefined) return [unreadCall(callId, tool, "it cannot be put together")]
  const texts = [...(input === "" ? [] : [input]), ...events.flatMap(copiesIn)]
  const copies = texts.map((text): FoundCall => {
    const parsed = kind === "custom" ? undefined : tryParse(text)
    if (kind !== "function") return { ...found, input: parsed ?? text }
    return parsed !== undefined && isInput(parsed)
      ? { ...found, input: parsed }
      : unreadCall(callId, tool, "its arguments are not whole JSON")
  })
  return unique([...whole, ...(whole.length + copies.length === 0 ? [{ ...found, input: undefined }] : copies)])
}

const unreadCall = (callId: string, tool: string, unread: string): FoundCall => ({
  callId,
  tool,
  input: undefined,
  providerRun: false,
  unread,
})

/** What the part comes to; nothing where it cannot be put together. */
function wholeOf(format: Format, events: readonly StreamEvent[]): readonly FoundCall[] | undefined {
  try {
    const { messages } = collect(format, events)
    return messages.flatMap(({ parts }) => parts.flatMap((one) => findCall(format, one) ?? []))
  } catch {
    return undefined
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

/** What an event says of its part, without the frame around it. */
function contentOf(format: Format, data: string): unknown {
  const json = fieldsOf(tryParse(data))
  if (format === "anthropic-messages") return json.content_block ?? json.delta
  return format === "openai-responses" ? (json.item ?? json) : undefined
}

/** The input that an event repeats whole, as text. */
function copiesIn({ type, wire }: StreamEvent): readonly string[] {
  if (wire === undefined || (type !== "other" && type !== "part-start")) return []
  const json = fieldsOf(tryParse(wire.sse.data))
  const said = type === "other" ? json : fieldsOf(json.content_block ?? json.item)
  return copyNames.flatMap((name) => {
    const value = said[name]
    if (typeof value === "string") return value === "" ? [] : [value]
    if (value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)) return []
    return [JSON.stringify(value)]
  })
}

function unique(calls: readonly FoundCall[]): readonly FoundCall[] {
  const seen = new Set<string>()
  return calls.filter((call) => {
    const key = keyOf(call)
    const known = seen.has(key)
    seen.add(key)
    return !known
  })
}

/** What makes two readings the same call. */
export const keyOf = ({ tool, input, unread }: FoundCall): string => JSON.stringify([tool, input, unread])
