import { createHash, sign, verify } from "node:crypto"
import { HoldfastError } from "../errors.ts"
import type { Payload } from "./command.ts"
import { type PublicKey, readPrivateKey } from "./key.ts"
import { maxCommandLength } from "./limits.ts"
import { readPayload } from "./read-command.ts"

/** Nothing else that is signed with the same key can be taken for a command: its bytes begin in another way. */
const domain = "holdfast operator command 1\n"

/** A command as it travels: `hf1.<fingerprint>.<payload>.<signature>`. Nothing in it can be trusted yet. */
export type SignedCommand = {
  readonly fingerprint: string
  readonly payload: Buffer
  readonly signature: Buffer
  /** What the signature is over. */
  readonly signed: Buffer
}

const bytesToSign = (before: string): Buffer => Buffer.from(`${domain}${before}`, "utf8")

/** Sign a command with a private key in PEM. */
export function signCommand(privateKey: string, payload: Payload): string {
  const { fingerprint, privateKey: key } = readPrivateKey(privateKey, "given")
  const json = JSON.stringify(payload)
  if (readPayload(json) === undefined)
    throw new HoldfastError({ code: "command-refused", reason: "malformed", found: "the payload is not a command" })
  const before = `hf1.${fingerprint}.${Buffer.from(json, "utf8").toString("base64url")}`
  return `${before}.${sign(null, bytesToSign(before), key).toString("base64url")}`
}

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
export const isSignedBy = ({ signed, signature }: SignedCommand, { key }: PublicKey): boolean =>
  verify(null, signed, key, signature)

/** What a command says whose signature was found right. */
export function payloadOf({ payload }: SignedCommand): Payload | undefined {
  const json = payload.toString("utf8")
  return Buffer.from(json, "utf8").equals(payload) ? readPayload(json) : undefined
}

/** By what a text that was refused can be recognised, without keeping it. */
export const hashOfCommand = (text: string): string =>
  createHash("sha256").update(text.slice(0, maxCommandLength), "utf8").digest("hex")
