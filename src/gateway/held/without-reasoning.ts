import type { Format, Message, Transcript } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"

/**
 * A request without the model's reasoning, which an upstream takes only among the words that it was thought among; with
 * `keepOpenRound` that of the turn under way stays, which some models want to see again. The same text if there is none to leave out.
 */
export function withoutReasoning(format: Format, wire: string, keepOpenRound: boolean): string {
  const request = decodeRequest(format, wire)
  const from = keepOpenRound ? request.messages.findLastIndex(isSpoken) : request.messages.length
  const messages = stripped(request.messages, from < 0 ? 0 : from)
  return messages.length === request.messages.length && messages.every((message, n) => message === request.messages[n])
    ? wire
    : encodeRequest(request, { messages })
}

/** The user's own words, not the result of a call. */
const isSpoken = ({ role, parts }: Message): boolean =>
  role === "user" && parts.some(({ type }) => type !== "tool-result")

const stripped = (messages: Transcript, end: number): Transcript =>
  messages.flatMap((message, n): readonly Message[] => {
    const parts = n < end ? message.parts.filter(({ type }) => type !== "reasoning") : message.parts
    if (parts.length === message.parts.length) return [message]
    return parts.length === 0 ? [] : [{ ...message, parts }]
  })
