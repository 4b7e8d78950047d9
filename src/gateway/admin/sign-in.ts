import { createHash, createPublicKey, type KeyObject, randomBytes, timingSafeEqual, verify } from "node:crypto"
import { isObject, tryParse } from "../../wire/json.ts"

/**
 * Browser sign-ins. `holdfast open` requests a code with the admin token; the page sends it back once, with the public half of a key that
 * never leaves the browser, and is signed in for some hours. A sign-in is a cookie that no script can read, and a proof that only pages of
 * the same origin can read: browsers send cookies to every port of a host, but never the proof.
 */
export type SignIns = {
  readonly newCode: () => SignInCode
  /** Use up a code and sign in; `code-wrong` if it is unknown, used or too old. */
  readonly enter: (code: string, publicKey: string, origin: string) => NewSignIn | "code-wrong" | "key-wrong"
  /** The sign-in of a request. */
  readonly find: (cookie: string | undefined, proof: string | null, origin: string) => SignIn | undefined
  readonly leave: (signedIn: SignIn) => void
  /** Read a text that the browser signed; each text is accepted once. */
  readonly readSigned: (signedIn: SignIn, text: string) => SignedChange
}

type SignInCode = { readonly code: string; readonly expiresAtMs: number }
type NewSignIn = { readonly cookie: string; readonly proof: string; readonly expiresAtMs: number }
export type SignIn = {
  readonly id: string
  readonly origin: string
  readonly key: KeyObject
  readonly fingerprint: string
  readonly expiresAtMs: number
}
type SignedChange =
  | { readonly type: "genuine"; readonly change: Readonly<Record<string, unknown>> }
  | { readonly type: "refused"; readonly found: string }

const minuteMs = 60_000
/** Lifetime of a code: long enough for a browser to start. */
const codeMs = 5 * minuteMs
/** Lifetime of a sign-in: a working day. */
const signedInMs = 8 * 60 * minuteMs
/** How old a signed text may be: it is sent at once, but clocks may differ a little. */
const changeMs = 2 * minuteMs
const maxCodes = 100
const maxSignedIn = 200
/** Limit on nonces, which are kept for as long as their text could be replayed. */
const maxNonces = 10_000

const secret = (): string => randomBytes(24).toString("base64url")
const digest = (text: string): string => createHash("sha256").update(text).digest("hex")
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)))

type StoredSignIn = SignIn & { readonly proofHash: string }

export function createSignIns(now: () => number): SignIns {
  const codes = new Map<string, number>()
  const known = new Map<string, StoredSignIn>()
  const nonces = new Map<string, number>()
  const forget = (): void => {
    for (const [hash, untilMs] of codes) if (untilMs <= now()) codes.delete(hash)
    for (const [id, { expiresAtMs }] of known) if (expiresAtMs <= now()) known.delete(id)
    for (const [nonce, untilMs] of nonces) if (untilMs <= now()) nonces.delete(nonce)
  }
  return {
    newCode: () => {
      forget()
      dropOldest(codes, maxCodes)
      const code = secret()
      const expiresAtMs = now() + codeMs
      codes.set(digest(code), expiresAtMs)
      return { code, expiresAtMs }
    },
    enter: (code, publicKey, origin) => {
      forget()
      const hash = digest(code)
      if (!codes.has(hash)) return "code-wrong"
      const read = readKey(publicKey)
      if (read === undefined) return "key-wrong"
      codes.delete(hash)
      dropOldest(known, maxSignedIn)
      const [cookie, proof, expiresAtMs] = [secret(), secret(), now() + signedInMs]
      const id = digest(cookie)
      known.set(id, { id, origin, ...read, expiresAtMs, proofHash: digest(proof) })
      return { cookie, proof, expiresAtMs }
    },
    find: (cookie, proof, origin) => {
      const kept = cookie === undefined ? undefined : known.get(digest(cookie))
      if (kept === undefined || kept.expiresAtMs <= now() || kept.origin !== origin) return undefined
      return isSame(digest(proof ?? ""), kept.proofHash) ? kept : undefined
    },
    leave: ({ id }) => void known.delete(id),
    readSigned: (signedIn, text) => {
      forget()
      const read = readChange(signedIn, text, now())
      if (read.type === "refused") return read
      if (nonces.has(read.nonce)) return { type: "refused", found: "it was sent before" }
      if (nonces.size >= maxNonces) return { type: "refused", found: "too many changes in a short time" }
      nonces.set(read.nonce, now() + 2 * changeMs)
      return { type: "genuine", change: read.change }
    },
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [first] = map.keys()
  if (map.size >= most && first !== undefined) map.delete(first)
}

/** Parse the public half of an Ed25519 key as WebCrypto exports it: SPKI, in base64. */
function readKey(text: string): Pick<SignIn, "key" | "fingerprint"> | undefined {
  if (!/^[A-Za-z0-9+/=]{20,200}$/.test(text)) return undefined
  try {
    const key = createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" })
    if (key.asymmetricKeyType !== "ed25519") return undefined
    const der = key.export({ type: "spki", format: "der" })
    return { key, fingerprint: createHash("sha256").update(der).digest("hex").slice(0, 32) }
  } catch {
    return undefined
  }
}

/** Prefix of signed bytes, so that no other text signed with the same key can pass as a change. */
const domain = "holdfast session change 1\n"
const shape = /^hc1\.([\w-]{1,200000})\.([\w-]{86})$/

type ParsedChange =
  | { readonly type: "read"; readonly change: Readonly<Record<string, unknown>>; readonly nonce: string }
  | { readonly type: "refused"; readonly found: string }

/** Parse `hc1.<payload>.<signature>`: who signed it, for which origin, and when. The signature is checked before anything else. */
function readChange({ key, origin }: SignIn, text: string, nowMs: number): ParsedChange {
  const [, payload = "", signature = ""] = shape.exec(text) ?? []
  if (payload === "") return { type: "refused", found: "it is not hc1.<payload>.<signature>" }
  const bytes = Buffer.from(`${domain}hc1.${payload}`, "utf8")
  if (!verify(null, bytes, key, Buffer.from(signature, "base64url")))
    return { type: "refused", found: "its signature is not that of the key that signed in" }
  const said = tryParse(Buffer.from(payload, "base64url").toString("utf8"))
  const { origin: of, issuedAtMs, nonce, change } = isObject(said) ? said : {}
  if (of !== origin) return { type: "refused", found: "it is for another origin" }
  if (typeof nonce !== "string" || !/^[\w-]{16,64}$/.test(nonce) || !isObject(change) || typeof issuedAtMs !== "number")
    return { type: "refused", found: "what was signed is no change" }
  if (!(Math.abs(nowMs - issuedAtMs) <= changeMs))
    return { type: "refused", found: "it was signed too long ago, or the clocks differ" }
  return { type: "read", change, nonce }
}
