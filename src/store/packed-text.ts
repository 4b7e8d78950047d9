import { promisify } from "node:util"
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib"
import { fromStorable, toStorable } from "./storable-text.ts"

/** A text as it is kept: as text, or as the bytes of its deflated UTF-8 where that is smaller. */
export type PackedText = string | Uint8Array

const deflated = promisify(deflateRaw)
const inflated = promisify(inflateRaw)

/** Below this, deflating saves next to nothing. */
const PACKED_CHARACTERS = 1024
/** Up to this, deflating takes less time than handing the work to another thread. */
const AT_ONCE_CHARACTERS = 32_768
/** The fastest: what is kept is written once, on the way of a turn, and read seldom. */
const LEVEL = { level: 1 } as const

/** Pack a text right here; nothing for one that is so large that it should be packed on another thread. */
export function packAtOnce(text: string): PackedText | undefined {
  const storable = toStorable(text)
  if (storable.length < PACKED_CHARACTERS) return storable
  if (storable.length > AT_ONCE_CHARACTERS) return undefined
  const plain = Buffer.from(storable, "utf8")
  return smaller(deflateRawSync(plain, LEVEL), plain, storable)
}

/** Pack a text; the work on a large one is done on another thread. */
export async function packText(text: string): Promise<PackedText> {
  const small = packAtOnce(text)
  if (small !== undefined) return small
  const storable = toStorable(text)
  const plain = Buffer.from(storable, "utf8")
  return smaller(await deflated(plain, LEVEL), plain, storable)
}

const smaller = (packed: Uint8Array, plain: Uint8Array, text: string): PackedText =>
  packed.length < plain.length ? packed : text

/** The text that was packed; throws if the bytes are damaged. */
export async function unpackText(packed: PackedText): Promise<string> {
  if (typeof packed === "string") return fromStorable(packed)
  const plain = packed.length <= AT_ONCE_CHARACTERS ? inflateRawSync(packed) : await inflated(packed)
  return fromStorable(plain.toString("utf8"))
}
