import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto"
import { HoldfastError } from "../../message/errors.ts"
import { maxKeyBytes } from "./limits.ts"

/** A public key that commands can be signed for. */
export type PublicKey = {
  readonly fingerprint: string
  /** Whether its private half signed these bytes, to the bit. */
  readonly verifies: (signed: Uint8Array, signature: Uint8Array) => boolean
}

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
  const fingerprint = createHash("sha256").update(der).digest("hex").slice(0, 32)
  return { fingerprint, verifies: (signed, signature) => verify(null, signed, key, signature) }
}

/** A private key, and what its public half is called. */
export type PrivateKey = { readonly fingerprint: string; readonly sign: (bytes: Uint8Array) => Uint8Array }

/** Read a private key in PEM. */
export function readPrivateKey(pem: string, name: string): PrivateKey {
  const privateKey = parsePrivate(pem)
  if (privateKey?.asymmetricKeyType !== "ed25519")
    return refuse(name, "a private key of Ed25519 in PEM, without a passphrase")
  const { fingerprint } = named(createPublicKey(privateKey))
  return { fingerprint, sign: (bytes) => sign(null, bytes, privateKey) }
}

function parsePrivate(pem: string): KeyObject | undefined {
  try {
    return pem.length > maxKeyBytes ? undefined : createPrivateKey(pem)
  } catch {
    // Whatever the parser says may quote the key.
    return undefined
  }
}
