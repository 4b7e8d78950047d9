import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import type { Steps } from "./steps.ts"

/** Node's own sha256, accessed without an import so that browsers can load this file: the same digest, ten times as fast. */
const builtIn = globalThis.process?.getBuiltinModule?.("node:crypto")
const nativeHash = builtIn?.hash

/** Returns the sha256 of a text in plain JavaScript, for browsers. */
export const plainSha256 = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** Returns the sha256 of a text's UTF-8, in hex. */
export const sha256Hex: (text: string) => string =
  nativeHash === undefined ? plainSha256 : (text) => nativeHash("sha256", text, "hex")

/** Number of characters hashed in one step: a few milliseconds. */
const charactersPerStep = 1_000_000

const isLead = (unit: number): boolean => (unit & 0xfc00) === 0xd800
const isTrail = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** The same as `sha256Hex`, in steps for long texts. */
export function* sha256HexInSteps(text: string, atOnce = charactersPerStep): Steps<string> {
  if (text.length <= atOnce) return sha256Hex(text)
  const hash = builtIn?.createHash("sha256") ?? sha256.create()
  for (let from = 0, end = 0; from < text.length; from = end) {
    end = from + atOnce
    // Do not split a surrogate pair.
    if (isLead(text.charCodeAt(end - 1)) && isTrail(text.charCodeAt(end))) end++
    hash.update(utf8ToBytes(text.slice(from, end)))
    yield
  }
  const digest = hash.digest()
  return bytesToHex(Uint8Array.from(digest))
}

/** Like `sha256Hex`, also for a text with lone surrogates; for a file's text it is the digest that `sha256sum` prints. */
export const hashText = (text: string): string => sha256Hex(text.toWellFormed())

/** Returns the sha256 of the JSON of plain data; JSON keeps `["a", "b"]` and `["ab"]` apart. */
export const hashData = (data: unknown): string => hashText(JSON.stringify(data))
