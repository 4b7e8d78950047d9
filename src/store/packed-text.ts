import { promisify } from "node:util"
import { deflateRaw, inflateRaw } from "node:zlib"
import { fromStorable, toStorable } from "./storable-text.ts"

/** A text as it is kept: as text, or as the bytes of its deflated UTF-8 where that is smaller. */
export type PackedText = string | Uint8Array

const deflated = promisify(deflateRaw)
const inflated = promisify(inflateRaw)

/** Below this, deflating saves less than half a page of a database and costs more than writing it. */
const PACKED_CHARACTERS = 8192

/** Pack a text; the work on a large one is done on another thread. */
export async function packText(text: string): Promise<PackedText> {
  const storable = toStorable(text)
  if (storable.length < PACKED_CHARACTERS) return storable
  const plain = Buffer.from(storable, "utf8")
  const packed = await deflated(plain, { level: 1 })
  return packed.length < plain.length ? packed : storable
}

/** The text that was packed; throws if the bytes are damaged. */
export async function unpackText(packed: PackedText): Promise<string> {
  if (typeof packed === "string") return fromStorable(packed)
  return fromStorable((await inflated(packed)).toString("utf8"))
}
