import type { Wire } from "../../message/ids.ts"
import type { Format, Message, Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { overlay } from "../../wire/json.ts"

/**
 * A request without the model's reasoning, which an upstream takes only among the words that it was thought among; with
 * `keepOpenRound` that of the turn under way stays, which some models want to see again. The same text if there is none to leave out.
 */
export function withoutReasoning(format: Format, wire: string, keepOpenRound: boolean): string {
  const request = decodeRequest(format, wire)
  const from = keepOpenRound ? request.messages.findLastIndex(isSpoken) : request.messages.length
  const end = from < 0 ? 0 : from
  const messages = stripped(untied(request.messages, end), end)
  return messages.length === request.messages.length && messages.every((message, n) => message === request.messages[n])
    ? wire
    : encodeRequest(request, { messages })
}

/** The user's own words, not the result of a call. */
const isSpoken = ({ role, parts }: Message): boolean =>
  role === "user" && parts.some(({ type }) => type !== "tool-result")

const stripped = (messages: Transcript, end: number): Transcript =>
  messages.flatMap((message, n): readonly Message[] => {
    if (n >= end) return [message]
    const parts = message.parts.filter(({ type }) => type !== "reasoning")
    if (parts.length === message.parts.length) return [message]
    return parts.length === 0 ? [] : [{ ...message, parts }]
  })

/** On OpenAI Responses an item of the model's is tied to its reasoning by its id, which it may do without. */
function untied(messages: Transcript, end: number): Transcript {
  let isTied = false
  return messages.map((message, n) => {
    if (message.role !== "assistant") isTied = false
    else if (message.parts.some(({ type }) => type === "reasoning")) isTied = true
    else if (isTied && n < end && message.format === "openai-responses") return withoutId(message)
    return message
  })
}

function withoutId(message: Message): Message {
  const bare = (wire: Wire | undefined): Wire | undefined =>
    wire === undefined || !wire.startsWith("{") ? wire : overlay(wire, { id: undefined })
  const parts = message.parts.map((part) =>
    part.type === "tool-call" ? { ...part, ...present({ wire: bare(part.wire) }) } : part,
  )
  return { ...message, parts, ...present({ wire: bare(message.wire) }) }
}
