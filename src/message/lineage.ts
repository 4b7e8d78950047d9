import type { Message, Part, Transcript } from "./message.ts"
import { sha256Hex } from "./sha256.ts"

/**
 * Returns a key that stays the same when a client sends a message again: role, text, calls and results. Clients move cache markers, switch
 * between a text and a list of one, and some leave out reasoning; the key ignores all of that.
 */
export function lineageKey({ role, parts }: Message): string {
  const partKeys = parts.flatMap((part) => partKey(part))
  return sha256Hex(JSON.stringify([role, ...partKeys]).toWellFormed()).slice(0, 32)
}

function partKey(part: Part): readonly unknown[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [part.text]
    case "reasoning":
      return []
    case "tool-call":
      return [["call", part.callId, part.tool, sorted(part.input)]]
    case "tool-result":
      return [["result", part.callId, ...part.content.flatMap(partKey)]]
    case "image":
    case "document":
    case "opaque":
    case "unknown":
      return [[part.type, part.wire?.replace(/,?"cache_control":\{[^{}]*\}/, "")]]
  }
}

/** Sorts the keys of objects, because clients parse and rewrite arguments. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}

/** How a request's messages relate to those of an earlier request. */
export type Continuation =
  /** The request starts with all messages of the earlier one. */
  | { readonly type: "continues"; readonly common: number }
  /** Only the first `common` messages are the same: an edit, a retry, or a compaction by the client. */
  | { readonly type: "diverges"; readonly common: number; readonly sharedCalls: number }
  | { readonly type: "unrelated" }

/** Compares two histories by message keys. Shared call ids, which no client changes, distinguish a rewritten history from a new one. */
export function continuation(earlier: Transcript, later: Transcript): Continuation {
  let common = 0
  while (common < earlier.length && common < later.length && isSame(earlier[common], later[common])) common++
  if (common === earlier.length) return { type: "continues", common }
  const known = callsIn(earlier)
  const sharedCalls = [...callsIn(later)].filter((call) => known.has(call)).length
  return common === 0 && sharedCalls === 0 ? { type: "unrelated" } : { type: "diverges", common, sharedCalls }
}

const isSame = (one: Message | undefined, other: Message | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  (one === other || (one.role === other.role && lineageKey(one) === lineageKey(other)))

const callsIn = (messages: Transcript): ReadonlySet<string> =>
  new Set(messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-call" ? part.callId : []))))

const keys = new WeakMap<Message, string>()

/** Returns the content key of a message, computed once per message. */
export function messageKey(message: Message): string {
  const known = keys.get(message)
  if (known !== undefined) return known
  const key = lineageKey(message)
  keys.set(message, key)
  return key
}

/** Returns the message with another id; its content key stays the same. */
export function renamed(message: Message, id: Message["id"]): Message {
  const known = keys.get(message)
  const as = { ...message, id }
  if (known !== undefined) keys.set(as, known)
  return as
}
