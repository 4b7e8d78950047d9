import { type PublicKey, readPublicKey } from "./key.ts"
import { maxKeys } from "./limits.ts"
import { faultIn } from "./rule-file.ts"

/**
 * What a key is good for. `trusted`: its commands are obeyed. `retired`: what it said stands, and it says nothing more. `revoked`: nothing
 * that it ever said stands.
 */
export type KeyState = "trusted" | "retired" | "revoked"

export type KnownKey = PublicKey & { readonly state: KeyState; readonly source: string }

/** The keys of a channel by fingerprint. */
export type KeyRing = ReadonlyMap<string, KnownKey>

const rank: Readonly<Record<KeyState, number>> = { trusted: 0, retired: 1, revoked: 2 }

export type KeyText = { readonly text: string; readonly source: string; readonly state: KeyState }

/** A ring of these keys. Of a key that is there more than once the least trusting word counts. */
export function makeKeyRing(texts: readonly KeyText[]): KeyRing {
  const ring = new Map<string, KnownKey>()
  for (const { text, source, state } of texts) {
    const key = readPublicKey(text, source)
    const known = ring.get(key.fingerprint)
    if (known === undefined || rank[state] > rank[known.state]) ring.set(key.fingerprint, { ...key, state, source })
  }
  if (ring.size > maxKeys) throw faultIn("keys", undefined, `at most ${maxKeys} keys`, `${ring.size}`)
  return ring
}

/** In which state the keys of a folder are. */
export const stateOf = (name: string): KeyState =>
  name.startsWith("keys/revoked/") ? "revoked" : name.startsWith("keys/retired/") ? "retired" : "trusted"
