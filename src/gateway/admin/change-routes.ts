import type { Context, Hono } from "hono"
import { HoldfastError } from "../../message/errors.ts"
import { readLimited } from "../../model/call-model.ts"
import { pinScopes } from "../../rules/pin.ts"
import type { Session } from "../../session/session.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { addRoute } from "./admin-deps.ts"
import { maxCommandBytes, refusalResponse, refusals } from "./refusal.ts"
import type { Find } from "./session-routes.ts"
import type { SignIn, SignIns } from "./sign-in.ts"

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
    signedInOf(c) === undefined ? c.json(signIns.newCode()) : refusalResponse(refusals.code),
  )
  addRoute(app, "POST", "/admin/sign-in", (c) => signIn(c, signIns))
  addRoute(app, "POST", "/admin/sign-out", (c) => {
    const signedIn = signedInOf(c)
    if (signedIn !== undefined) signIns.leave(signedIn)
    c.header("set-cookie", `${cookieName(c.req.url)}=; HttpOnly; SameSite=Strict; Path=/admin; Max-Age=0`)
    return c.json({ signedOut: true })
  })
  addRoute(app, "GET", "/admin/who", (c) => {
    const signedIn = signedInOf(c)
    return c.json(
      signedIn === undefined
        ? { by: "token" }
        : { by: "page", key: signedIn.fingerprint, expiresAtMs: signedIn.expiresAtMs },
    )
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
async function signIn(c: Context, signIns: SignIns): Promise<Response> {
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
  return c.json({ proof, expiresAtMs })
}

async function takeChange(c: Context, { signIns, find, signedInOf }: Deps): Promise<Response> {
  const signedIn = signedInOf(c)
  if (signedIn === undefined) return refusalResponse(refusals.unsigned)
  const { change: text } = (await bodyOf(c)) ?? {}
  const read = signIns.readSigned(signedIn, typeof text === "string" ? text : "")
  if (read.type === "refused")
    return refusalResponse({ ...refusals.change, sentence: `The change was refused: ${read.found}.` })
  const { type, session: id, ...rest } = read.change
  if (typeof id !== "string" || typeof type !== "string") return refusalResponse(refusals.change)
  const { session } = await find(id)
  return c.json({ done: await perform(session, type, rest) })
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
