import type { Message } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type Fields, objectIn, textIn } from "./body-fields.ts"
import { digest } from "./digest.ts"
import { isRandomId } from "./is-random-id.ts"

const known = new WeakMap<Message, readonly string[]>()

/**
 * What in a message only one conversation can have: random ids of calls and of items that the provider holds, the provider's seal on
 * a call without such an id, and what the provider wrote in place of a history. Clients that rewrite everything else send these back
 * as they are.
 */
export function anchorsOf(message: Message): readonly string[] {
  const before = known.get(message)
  if (before !== undefined) return before
  const found = [...new Set([...itemId(message), ...message.parts.flatMap(anchorsIn)])]
  known.set(message, found)
  return found
}

function anchorsIn(part: Part): readonly string[] {
  if (part.type === "tool-call" || part.type === "tool-result") {
    const id = isRandomId(part.callId) ? part.callId : timeIn(part.callId)
    return id === undefined ? sealOf(part.wire) : [id]
  }
  if (part.type !== "opaque") return []
  if (part.kind === "item_reference") return random(textIn(objectIn(part.wire), "id"))
  return part.kind.startsWith("compaction") && part.kind !== "compaction_trigger" ? compaction(part.wire) : []
}

/** Milliseconds since 1970 at the end of an id, from 2020 to 2050, and the number of the call in its answer. */
const time = /(?:1[5-9]|2[0-4])\d{11}(?:[_-]\d{1,4})?$/

/** Some clients make up ids from the tool's name and the time, and may write another name before it later; the time stays. */
const timeIn = (id: string): string | undefined => time.exec(id.slice(-40))?.[0]

/** Shorter ones are words in the place of a seal, the same for everyone. */
const leastSeal = 64

/** Gemini's calls have short ids, or none that clients send back; the first of each answer bears a seal on the thoughts before it. */
function sealOf(wire: string | undefined): readonly string[] {
  const parsed = wire?.includes("ignature") === true ? tryParse(wire) : undefined
  const fields: Fields = isObject(parsed) ? parsed : {}
  const seal = textIn(fields, "thoughtSignature") ?? textIn(fields, "thought_signature")
  return seal === undefined || seal.length < leastSeal ? [] : [digest("seal", seal)]
}

/** Shorter texts are no history in a nutshell. */
const leastCompaction = 16

/** It comes back with its keys in another order, or with a cache marker; what it says stays. */
function compaction(wire: string): readonly string[] {
  const parsed = tryParse(wire)
  const block: Fields = isObject(parsed) ? parsed : {}
  const said = textIn(block, "encrypted_content") ?? textIn(block, "content") ?? textIn(block, "id")
  return said === undefined || said.length < leastCompaction ? [] : [digest("compaction", said)]
}

/** On OpenAI Responses each item of an answer has an id, by which clients may refer to it. */
const itemId = ({ format, role, wire }: Message): readonly string[] =>
  format === "openai-responses" && role === "assistant" ? random(textIn(objectIn(wire), "id")) : []

const random = (id: string | undefined): readonly string[] => (id !== undefined && isRandomId(id) ? [id] : [])
