import { hash as hashOf, randomBytes, timingSafeEqual } from "node:crypto"
import type { Context, Hono } from "hono"
import { getCookie } from "hono/cookie"
import { readPublicKey } from "../../guard/operator/command.ts"
import { HoldfastError, unlessProblem } from "../../message/errors.ts"
import { setNewest } from "../../message/recall.ts"
import { pinScopes } from "../../rules/pin.ts"
import type { Session } from "../../session/session.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { addRoute, isJson, readCommand } from "./admin-deps.ts"
import { refusalResponse, refusals } from "./refusal.ts"
import type { Find } from "./session-routes.ts"

export type SignIn = ReturnType<typeof readPublicKey> & {
  readonly id: string
  readonly origin: string
  readonly expiresAtMs: number
}

type Fields = Readonly<Record<string, unknown>>

const minuteMs = 60_000
/** Lifetime of a code: long enough for a browser to start. */
const codeMs = 5 * minuteMs
/** Lifetime of a sign-in: a working day. */
const signedInMs = 8 * 60 * minuteMs
/** Maximum age of a signed text: it is sent at once, but clocks may differ a little. */
const changeMs = 2 * minuteMs
const maxCodes = 100
const maxSignedIn = 200
/** Limit on nonces, which are kept for as long as their text could be replayed. */
const maxNonces = 10_000

const secret = (): string => randomBytes(24).toString("base64url")
const digest = (text: string): string => hashOf("sha256", text, "hex")
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)))

export type SignIns = ReturnType<typeof createSignIns>

/**
 * Browser sign-ins. `holdfast open` requests a code with the admin token; the page sends it back once, with the public half of a key that
 * never leaves the browser, and is signed in for some hours. A sign-in is a cookie that no script can read, and a proof that only pages of
 * the same origin can read: browsers send cookies to every port of a host, but never the proof.
 */
export function createSignIns(now: () => number) {
  const codes = new Map<string, number>()
  const known = new Map<string, SignIn & { readonly proofHash: string }>()
  const nonces = new Map<string, number>()
  const forget = (): void => {
    for (const [hash, untilMs] of codes) if (untilMs <= now()) codes.delete(hash)
    for (const [id, { expiresAtMs }] of known) if (expiresAtMs <= now()) known.delete(id)
    for (const [nonce, untilMs] of nonces) if (untilMs <= now()) nonces.delete(nonce)
  }
  return {
    newCode: () => {
      forget()
      const code = secret()
      const expiresAtMs = now() + codeMs
      setNewest(codes, digest(code), expiresAtMs, maxCodes)
      return { code, expiresAtMs }
    },
    /** Uses up a code and signs in; `code-wrong` if it is unknown, used or too old. */
    enter: (code: string, publicKey: string, origin: string) => {
      forget()
      const hash = digest(code)
      if (!codes.has(hash)) return "code-wrong" as const
      const read = readKey(publicKey)
      if (read === undefined) return "key-wrong" as const
      codes.delete(hash)
      const [cookie, proof, expiresAtMs] = [secret(), secret(), now() + signedInMs]
      const id = digest(cookie)
      setNewest(known, id, { id, origin, ...read, expiresAtMs, proofHash: digest(proof) }, maxSignedIn)
      return { cookie, proof, expiresAtMs }
    },
    find: (cookie: string | undefined, proof: string | null, origin: string): SignIn | undefined => {
      const kept = cookie === undefined ? undefined : known.get(digest(cookie))
      if (kept === undefined || kept.expiresAtMs <= now() || kept.origin !== origin) return undefined
      return isSame(digest(proof ?? ""), kept.proofHash) ? kept : undefined
    },
    leave: ({ id }: SignIn): void => void known.delete(id),
    /** The change in a text that the browser signed, or why it is refused; each text is accepted once. */
    readSigned: (signedIn: SignIn, text: string): Fields | string => {
      forget()
      const read = readChange(signedIn, text, now())
      if (typeof read === "string") return read
      if (nonces.has(read.nonce)) return "it was sent before"
      if (nonces.size >= maxNonces) return "too many changes in a short time"
      nonces.set(read.nonce, now() + 2 * changeMs)
      return read.change
    },
  }
}

/** Parses the public half of an Ed25519 key as WebCrypto exports it: SPKI, in base64. */
const readKey = (text: string): ReturnType<typeof readPublicKey> | undefined =>
  /^[A-Za-z0-9+/=]{20,200}$/.test(text) ? unlessProblem(() => readPublicKey(text, "the key of the page")) : undefined

/** Prefix of signed bytes, so that no other text signed with the same key can pass as a change. */
const domain = "holdfast session change 1\n"
const shape = /^hc1\.([\w-]{1,200000})\.([\w-]{86})$/

/**
 * Parses `hc1.<payload>.<signature>` and returns the signed change, or why it is refused: signature, origin and time are checked, the
 * signature first.
 */
function readChange({ verifies, origin }: SignIn, text: string, nowMs: number) {
  const [, payload = "", signature = ""] = shape.exec(text) ?? []
  if (payload === "") return "it is not hc1.<payload>.<signature>"
  const bytes = Buffer.from(`${domain}hc1.${payload}`, "utf8")
  if (!verifies(bytes, Buffer.from(signature, "base64url")))
    return "its signature is not that of the key that signed in"
  const said = tryParse(Buffer.from(payload, "base64url").toString("utf8"))
  const { origin: of, issuedAtMs, nonce, change } = isObject(said) ? said : {}
  if (of !== origin) return "it is for another origin"
  if (typeof nonce !== "string" || !/^[\w-]{16,64}$/.test(nonce) || !isObject(change) || typeof issuedAtMs !== "number")
    return "what was signed is no change"
  const isRecent = Math.abs(nowMs - issuedAtMs) <= changeMs
  return isRecent ? { change, nonce } : "it was signed too long ago, or the clocks differ"
}

/** The cookie of a signed-in page. Cookies are shared by all ports of a host, so its name contains the port. */
const cookieName = (url: string): string => `holdfast-${new URL(url).port || "0"}`

/** The header with the proof that a page got when it signed in, besides the cookie. */
export const proofHeader = "x-holdfast-proof"

export const cookieIn = (c: Context): string | undefined => getCookie(c, cookieName(c.req.url))

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

async function bodyOf(c: Context): Promise<Fields> {
  const text = isJson(c) ? await readCommand(c) : undefined
  const body = text === undefined ? undefined : tryParse(text)
  return isObject(body) ? body : {}
}

/** Signs a page in. This is the only request without token or cookie: it has the code. Pages of other origins were refused before. */
async function signIn(c: Context, signIns: SignIns): Promise<object> {
  const { code, publicKey } = await bodyOf(c)
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
  const { change: text } = await bodyOf(c)
  const read = signIns.readSigned(signedIn, typeof text === "string" ? text : "")
  if (typeof read === "string")
    return refusalResponse({ ...refusals.change, sentence: `The change was refused: ${read}.` })
  const { type, session: id, ...rest } = read
  if (typeof id !== "string" || typeof type !== "string") return refusalResponse(refusals.change)
  const { session } = await find(id)
  return { done: await perform(session, type, rest) }
}

/** Performs a person's change in a session: undoes the compaction in force, or adds, withdraws or demotes a rule. */
async function perform(session: Session, type: string, rest: Fields): Promise<object> {
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
