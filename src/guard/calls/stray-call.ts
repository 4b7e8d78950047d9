import type { Format } from "../../message/message.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { StreamEvent } from "../../wire/stream.ts"
import { couldHoldCall, looksLikeCall } from "./call-shape.ts"

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Fields of a delta that are read, or that no client takes for a call. */
const readFields: ReadonlySet<string> = new Set(["tool_calls", "function_call"])

/** Only the first choice is read, and of it the delta. */
function strayInChat(chunk: Fields): boolean {
  const choices = listOf(chunk.choices)
  const at = choices.findIndex((choice) => isObject(choice) && (choice.index ?? 0) === 0)
  return choices.some((choice, n) => {
    if (n !== at) return couldHoldCall(choice)
    const { delta, ...rest } = fieldsOf(choice)
    const more = Object.entries(fieldsOf(delta)).filter(([name]) => !readFields.has(name))
    return couldHoldCall(rest) || couldHoldCall(Object.fromEntries(more))
  })
}

/** Only the first candidate is read, and each part of it as one thing. */
function strayInGemini(chunk: Fields): boolean {
  const [first, ...rest] = listOf(chunk.candidates)
  if (rest.some(couldHoldCall)) return true
  const parts = listOf(fieldsOf(fieldsOf(first).content).parts)
  return parts.some((part) => {
    const calls = Object.keys(fieldsOf(part)).filter((name) => looksLikeCall({ [name]: true }))
    return calls.length > 1 || (calls.length > 0 && fieldsOf(part).text !== undefined)
  })
}

/** Blocks are read from their own events; an answer that begins with some in it is not. */
function strayInAnthropic(event: StreamEvent, json: Fields): boolean {
  if (event.type === "response-start") return couldHoldCall(fieldsOf(json.message).content)
  return event.type === "other" && couldHoldCall(json)
}

/** Items are read from their own events; what the closing event repeats is compared with them by the caller. */
function strayInResponses(event: StreamEvent, json: Fields): boolean {
  if (event.type === "response-start") return couldHoldCall(fieldsOf(json.response).output)
  if (event.type !== "other") return false
  const { response, ...rest } = json
  return couldHoldCall(fieldsOf(response).output) || couldHoldCall(rest)
}

/**
 * Does the wire of this event carry a call where the reader of the format does not look? The first piece of a wire event answers for
 * all of it. Where each wire event speaks of one part, those of a part that is `watched` are judged with it.
 */
export function isStray(format: Format, event: StreamEvent, watched: boolean): boolean {
  const { wire } = event
  if (wire === undefined || wire.piece > 0 || wire.sse.type !== "event" || wire.sse.data === "") return false
  const json = fieldsOf(tryParse(wire.sse.data))
  if (format === "openai-chat") return strayInChat(json)
  if (format === "gemini") return strayInGemini(json)
  if (watched) return false
  return format === "anthropic-messages" ? strayInAnthropic(event, json) : strayInResponses(event, json)
}

/** May an event that could not be read, or one that tells of an error, go on as it came? Only if nobody can find a call in it. */
export function isHarmless({ wire }: StreamEvent): boolean {
  if (wire === undefined) return true
  const { type, data } = wire.sse
  if (type === "comment" || data.trim() === "[DONE]") return true
  const json = type === "event" ? tryParse(data) : undefined
  return json !== undefined && !couldHoldCall(json)
}
