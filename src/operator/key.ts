import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { HoldfastError } from "../errors.ts"
import { maxKeyBytes } from "./limits.ts"

/** A public key that commands can be signed for. */
export type PublicKey = { readonly fingerprint: string; readonly key: KeyObject }

/** A pair of keys in PEM. The private half is for whoever commands, and for nobody else. */
export type KeyPair = { readonly privateKey: string; readonly publicKey: string; readonly fingerprint: string }

/** Make a pair of keys for signing commands (Ed25519). */
export function createKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  })
  return { privateKey, publicKey, fingerprint: fingerprintOf(publicKey) }
}

/** By what a public key is called: the first 128 bits of the sha256 of its SPKI, in hex. */
export const fingerprintOf = (publicKey: string, name = "given"): string => readPublicKey(publicKey, name).fingerprint

const refuse = (key: string, expected: string): never => {
  throw new HoldfastError({ code: "key-invalid", key, expected })
}

/** Read a public key in PEM, or its SPKI in base64. What is wrong is told by its name: the key itself is never quoted. */
export function readPublicKey(text: string, name: string): PublicKey {
  if (typeof text !== "string" || text.length > maxKeyBytes) refuse(name, "a public key of Ed25519 in PEM")
  if (/PRIVATE KEY/.test(text))
    refuse(name, "a public key (this is a private one, which belongs to whoever signs; move it away)")
  const key = parsePublic(text.trim())
  if (key?.asymmetricKeyType !== "ed25519") return refuse(name, "a public key of Ed25519 in PEM")
  return named(key)
}

function parsePublic(text: string): KeyObject | undefined {
  try {
    if (text.startsWith("-----BEGIN PUBLIC KEY-----")) return createPublicKey(text)
    return createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" })
  } catch {
    // Whatever the parser says may quote the key.
    return undefined
  }
}

function named(key: KeyObject): PublicKey {
  const der = key.export({ type: "spki", format: "der" })
  return { key, fingerprint: createHash("sha256").update(der).digest("hex").slice(0, 32) }
}

/** Read a private key in PEM, with the fingerprint of its public half. */
export function readPrivateKey(pem: string, name: string): PublicKey & { readonly privateKey: KeyObject } {
  const privateKey = parsePrivate(pem)
  if (privateKey?.asymmetricKeyType !== "ed25519")
    return refuse(name, "a private key of Ed25519 in PEM, without a passphrase")
  return { ...named(createPublicKey(privateKey)), privateKey }
}

function parsePrivate(pem: string): KeyObject | undefined {
  try {
    return pem.length > maxKeyBytes ? undefined : createPrivateKey(pem)
  } catch {
    // Whatever the parser says may quote the key.
    return undefined
  }
}
