import { hash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { isObject, tryParse } from "../../wire/json.ts"

/**
 * A compaction item of ours. What it stands for is in it, so that any replica reads it at any time, with or without its store; nothing
 * is fetched by it, so that it opens nobody else's conversation. It has a checksum and no secret: it says nothing that its bearer could
 * not say in a message, for all that comes out of it is spoken by user and assistant.
 */
const opening = "holdfast-1."

/** What an item may come to: more than any window holds. */
const maxLength = 64 * 1024 * 1024

/** The `encrypted_content` of an item that stands for these elements: the same ones give the same text. */
export function packElements(elements: readonly string[]): string {
  const packed = deflateRawSync(JSON.stringify(elements)).toString("base64url")
  return `${opening}${checkOf(packed)}.${packed}`
}

const checkOf = (packed: string): string => hash("sha256", packed, "hex").slice(0, 32)

/** The elements that an item of ours stands for; nothing if it is another's, or is not what it was. */
export function unpackElements(content: string): readonly string[] | undefined {
  const [check, packed] = content.startsWith(opening) ? content.slice(opening.length).split(".", 2) : []
  if (check === undefined || packed === undefined || check !== checkOf(packed)) return undefined
  const read = tryParse(inflate(packed))
  if (!Array.isArray(read)) return undefined
  const elements = read.filter((text): text is string => typeof text === "string" && isSpoken(text))
  return elements.length === read.length ? elements : undefined
}

function inflate(packed: string): string {
  try {
    return inflateRawSync(Buffer.from(packed, "base64url"), { maxOutputLength: maxLength }).toString("utf8")
  } catch {
    return ""
  }
}

/** An item of a conversation that nobody but user, assistant or tool speaks. */
function isSpoken(text: string): boolean {
  const element = tryParse(text)
  return isObject(element) && element.role !== "system" && element.role !== "developer"
}

/** The content of a compaction item, ours or not; nothing for any other element. */
export function compactionContent(element: string): string | undefined {
  if (!element.includes('"compaction')) return undefined
  const item = tryParse(element)
  const isItem = isObject(item) && (item.type === "compaction" || item.type === "compaction_summary")
  return isItem && typeof item.encrypted_content === "string" ? item.encrypted_content : undefined
}

/** A response id of ours: no upstream has ever heard of it. */
const responseOpening = "resp_holdfast_"

export const ownResponseId = (seed: string): string => `${responseOpening}${hash("sha256", seed, "hex").slice(0, 32)}`

export const isOwnResponseId = (id: string): boolean => id.startsWith(responseOpening)

export const compactionItem = (content: string) =>
  ({
    type: "compaction",
    id: `cmp_${hash("sha256", content, "hex").slice(0, 32)}`,
    encrypted_content: content,
  }) as const
