import { createHash } from "node:crypto"
import { toStorable } from "./storable-text.ts"

/** The name of a payload: sha256 of its UTF-8 in hex. Lone surrogates, which UTF-8 cannot tell apart, count as their escapes. */
export function payloadHash(text: string): string {
  return sha256(text.isWellFormed() ? text : toStorable(text))
}

/** Whether a text is the one that was named: what was hashed by plain UTF-8 is accepted as well. */
export function isPayload(text: string, hash: string): boolean {
  return payloadHash(text) === hash || (!text.isWellFormed() && sha256(text) === hash)
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex")
}
