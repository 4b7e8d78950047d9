import { generateKeyPairSync } from "node:crypto"
import { readPublicKey } from "./key.ts"

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
