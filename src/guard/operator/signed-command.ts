import { createHash } from "node:crypto"
import type { Payload } from "./command.ts"
import type { PublicKey } from "./key.ts"
import { maxCommandLength } from "./limits.ts"
import { readPayload } from "./read-command.ts"

/** Nothing else that is signed with the same key can be taken for a command: its bytes begin in another way. */
const domain = "holdfast operator command 1\n"

/** A command as it travels: `hf1.<fingerprint>.<payload>.<signature>`. Nothing in it can be trusted yet. */
export type SignedCommand = {
  readonly fingerprint: string
  readonly payload: Uint8Array
  readonly signature: Uint8Array
  /** What the signature is over. */
  readonly signed: Uint8Array
}

/** What a signature is over: all that stands before it, and what for. */
export const bytesToSign = (before: string): Uint8Array => Buffer.from(`${domain}${before}`, "utf8")

/** Take a text apart, or nothing if it has not the shape of a signed command. Each command has one way to be written. */
export function readSignedCommand(text: string): SignedCommand | undefined {
  if (typeof text !== "string" || text.length > maxCommandLength) return undefined
  const [, fingerprint = "", payload = "", signature = ""] = shape.exec(text) ?? []
  const bytes = { payload: Buffer.from(payload, "base64url"), signature: Buffer.from(signature, "base64url") }
  if (fingerprint === "" || bytes.signature.length !== signatureBytes) return undefined
  if (bytes.payload.toString("base64url") !== payload) return undefined
  if (bytes.signature.toString("base64url") !== signature) return undefined
  return { fingerprint, ...bytes, signed: bytesToSign(text.slice(0, text.lastIndexOf("."))) }
}

const shape = /^hf1\.([0-9a-f]{32})\.([\w-]+)\.([\w-]{86})$/
const signatureBytes = 64

/** Whether this key signed it, to the bit. */
export const isSignedBy = ({ signed, signature }: SignedCommand, key: PublicKey): boolean =>
  key.verifies(signed, signature)

/** What a command says whose signature was found right. */
export function payloadOf({ payload }: SignedCommand): Payload | undefined {
  const json = Buffer.from(payload).toString("utf8")
  return Buffer.from(json, "utf8").equals(payload) ? readPayload(json) : undefined
}

/** By what a text that was refused can be recognised, without keeping it. */
export const hashOfCommand = (text: string): string =>
  createHash("sha256").update(text.slice(0, maxCommandLength), "utf8").digest("hex")
