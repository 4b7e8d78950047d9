import { createHash, createPublicKey, type KeyObject, randomBytes, timingSafeEqual, verify } from "node:crypto"
import type { Context, Hono } from "hono"
import { HoldfastError } from "../../message/errors.ts"
import { readLimited } from "../../model/call-model.ts"
import { pinScopes } from "../../rules/pin.ts"
import type { Session } from "../../session/session.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { addRoute } from "./admin-deps.ts"
import { maxCommandBytes, refusalResponse, refusals } from "./refusal.ts"
import type { Find } from "./session-routes.ts"

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

/** The cookie of a signed-in page. Cookies are shared by all ports of a host, so its name contains the port. */
const cookieName = (url: string): string => `holdfast-${new URL(url).port || "0"}`

/** The header with the proof that a page got when it signed in, besides the cookie. */
export const proofHeader = "x-holdfast-proof"

export function cookieIn(c: Context): string | undefined {
  const name = cookieName(c.req.url)
  for (const pair of (c.req.header("cookie") ?? "").split(/;\s*/)) {
    const at = pair.indexOf("=")
    if (pair.slice(0, at) === name) return pair.slice(at + 1)
  }
  return undefined
}

type Deps = {
  readonly signIns: SignIns
  readonly find: Find
  /** The sign-in of a page's request; undefined for a program with the token. */
  readonly signedInOf: (c: Context) => SignIn | undefined
}

/** Routes for signing in, and for changes to a session by a signed-in person. */
export function addChangeRoutes(app: Hono, { signIns, find, signedInOf }: Deps): void {
  addRoute(app, "POST", "/admin/sign-in-codes", (c) =>
    signedInOf(c) === undefined ? signIns.newCode() : refusalResponse(refusals.code),
  )
  addRoute(app, "POST", "/admin/sign-in", (c) => signIn(c, signIns))
  addRoute(app, "POST", "/admin/sign-out", (c) => {
    const signedIn = signedInOf(c)
    if (signedIn !== undefined) signIns.leave(signedIn)
    c.header("set-cookie", `${cookieName(c.req.url)}=; HttpOnly; SameSite=Strict; Path=/admin; Max-Age=0`)
    return { signedOut: true }
  })
  addRoute(app, "GET", "/admin/who", (c) => {
    const signedIn = signedInOf(c)
    return signedIn === undefined
      ? { by: "token" }
      : { by: "page", key: signedIn.fingerprint, expiresAtMs: signedIn.expiresAtMs }
  })
  addRoute(app, "POST", "/admin/changes", (c) => takeChange(c, { signIns, find, signedInOf }))
}

async function bodyOf(c: Context): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!/^application\/json[ \t]*(?:;|$)/i.test(c.req.header("content-type") ?? "")) return undefined
  const text = await readLimited(new Response(c.req.raw.body), maxCommandBytes)
  const body = text === undefined ? undefined : tryParse(text)
  return isObject(body) ? body : undefined
}

/** Sign in. This is the only request without token or cookie: it brings the code. Pages of other origins were refused before. */
async function signIn(c: Context, signIns: SignIns): Promise<object> {
  const { code, publicKey } = (await bodyOf(c)) ?? {}
  const { origin } = new URL(c.req.url)
  if (c.req.header("origin") !== origin) return refusalResponse(refusals.page)
  if (typeof code !== "string" || typeof publicKey !== "string") return refusalResponse(refusals.signIn)
  const entered = signIns.enter(code, publicKey, origin)
  if (typeof entered === "string") return refusalResponse(entered === "key-wrong" ? refusals.key : refusals.signIn)
  const { cookie, proof, expiresAtMs } = entered
  const seconds = 8 * 3600
  const secure = origin.startsWith("https:") ? "; Secure" : ""
  c.header(
    "set-cookie",
    `${cookieName(c.req.url)}=${cookie}; HttpOnly; SameSite=Strict; Path=/admin; Max-Age=${seconds}${secure}`,
  )
  return { proof, expiresAtMs }
}

async function takeChange(c: Context, { signIns, find, signedInOf }: Deps): Promise<object> {
  const signedIn = signedInOf(c)
  if (signedIn === undefined) return refusalResponse(refusals.unsigned)
  const { change: text } = (await bodyOf(c)) ?? {}
  const read = signIns.readSigned(signedIn, typeof text === "string" ? text : "")
  if (read.type === "refused")
    return refusalResponse({ ...refusals.change, sentence: `The change was refused: ${read.found}.` })
  const { type, session: id, ...rest } = read.change
  if (typeof id !== "string" || typeof type !== "string") return refusalResponse(refusals.change)
  const { session } = await find(id)
  return { done: await perform(session, type, rest) }
}

/** Perform a person's change in a session: undo the compaction in force, or add, withdraw or demote a rule. */
async function perform(session: Session, type: string, rest: Readonly<Record<string, unknown>>): Promise<object> {
  const { checkpoint, text, rule, scope = "session" } = rest
  if (type === "undo" && typeof checkpoint === "string") {
    const { checkpoints } = await session.overview()
    const inForce = checkpoints.find((one) => one.inForce)?.id
    if (inForce !== checkpoint) throw new HoldfastError({ code: "nothing-to-undo", session: session.id })
    return session.undo()
  }
  const named = pinScopes.find((one) => one === scope)
  if (type === "pin" && typeof text === "string" && named !== undefined)
    return { rule: await session.pin(text, { scope: named }) }
  if (type === "unpin" && typeof rule === "string") {
    await session.unpin(rule)
    return { rule }
  }
  if (type === "demote" && typeof rule === "string") return { rule: await session.demote(rule) }
  throw new HoldfastError({
    code: "request-invalid",
    path: "the change",
    expected: "undo, pin, unpin or demote, with what it is about",
    found: JSON.stringify(type.slice(0, 40)),
  })
}
