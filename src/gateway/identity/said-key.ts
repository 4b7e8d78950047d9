import type { Message } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { keyOf } from "../../session/match.ts"
import { digest } from "./digest.ts"
import { isRandomId } from "./is-random-id.ts"

const known = new WeakMap<Message, string>()

/**
 * What a message says, as a key that stays when its client sends it back: of an answer, clients join the texts, trim them, and leave
 * the thinking out. Empty if it says nothing.
 */
export function saidKey(message: Message): string {
  const before = known.get(message)
  if (before !== undefined) return before
  const key = message.role === "assistant" ? answerKey(message) : message.parts.length === 0 ? "" : keyOf(message)
  known.set(message, key)
  return key
}

function answerKey({ parts }: Message): string {
  const text = steadyText(parts)
  const rest = parts.flatMap(otherKey)
  return text === "" && rest.length === 0 ? "" : digest("answer", text, ...rest)
}

/** Longer answers are taken as they are: nobody writes so much anew. */
const maxSpaced = 200_000

/** The words of an answer, however they are spaced. */
function steadyText(parts: readonly Part[]): string {
  const text = withoutThinking(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join(""))
  return (text.length > maxSpaced ? text : text.replace(/\s+/g, " ")).trim()
}

/** Some models think in the text itself, and clients take that out. */
function withoutThinking(text: string): string {
  const start = text.trimStart()
  const end = start.startsWith("<think>") ? start.indexOf("</think>") : -1
  return end < 0 ? text : start.slice(end + "</think>".length)
}

/** Shorter answers are given in every conversation. */
const leastTelling = 24

/** Would another conversation of the same client hardly have this answer? */
export const isTelling = (message: Message): boolean =>
  message.parts.some(({ type }) => type === "tool-call") || hasTellingWords(message)

/** The same by its words alone: many conversations begin with the same call. */
export const hasTellingWords = ({ parts }: Message): boolean => steadyText(parts).length >= leastTelling

function otherKey(part: Part): readonly unknown[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return []
    case "tool-call":
      // An id that is a place or a number may be another one when the call is sent back.
      return [isRandomId(part.callId) ? part.callId : [part.tool, part.input]]
    case "tool-result":
      return [["result", part.callId]]
    case "image":
    case "document":
    case "opaque":
    case "unknown":
      return [[part.type, part.wire?.length]]
  }
}
