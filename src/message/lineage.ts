import type { Message, Part, Transcript } from "./message.ts"
import { sha256Hex } from "./sha256.ts"

/**
 * What a message keeps when a client sends it again: who spoke, the words, the calls and their results. Cache markers move, a text
 * becomes a list of one and back, reasoning is left out by some: none of that makes it another message.
 */
export function lineageKey({ role, parts }: Message): string {
  const said = parts.flatMap((part) => partKey(part))
  return sha256Hex(JSON.stringify([role, ...said]).toWellFormed()).slice(0, 32)
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

/** Objects with their keys in order: clients parse and write arguments anew. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}

/** How a request's messages relate to those of an earlier request. */
export type Continuation =
  /** All of the earlier ones are there, and then some, or none. */
  | { readonly type: "continues"; readonly common: number }
  /** The first `common` are there; then it goes another way: an edit, a retry, a compaction by the client. */
  | { readonly type: "diverges"; readonly common: number; readonly sharedCalls: number }
  | { readonly type: "unrelated" }

/** Compare two histories by what was said. Call ids, which no client alters, still tell a rewritten history from a new one. */
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
