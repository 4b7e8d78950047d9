import { generateKeyPairSync, sign } from "node:crypto"
import { expect, test } from "vitest"
import { type AdminHouse, converse, openAdminHouse, token } from "../../../test/fixtures/gateway/admin-house.ts"
import { fc } from "../../../test/support/property.ts"
import { createSignIns, type SignIn, type SignIns } from "./sign-in.ts"

const origin = "http://127.0.0.1:4141"

const newKey = () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519")
  return { privateKey, publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64") }
}

type Clock = { nowMs: number }

function enter(signIns: SignIns, key = newKey()) {
  const entered = signIns.enter(signIns.newCode().code, key.publicKey, origin)
  if (typeof entered === "string") throw new Error(entered)
  const signedIn = signIns.find(entered.cookie, entered.proof, origin)
  if (signedIn === undefined) throw new Error("not signed in")
  const signed = (payload: object, domain = "holdfast session change 1\n"): string => {
    const before = `hc1.${Buffer.from(JSON.stringify(payload)).toString("base64url")}`
    return `${before}.${sign(null, Buffer.from(`${domain}${before}`), key.privateKey).toString("base64url")}`
  }
  return { entered, signedIn, signed }
}

const nonce = (n: number): string => `nonce-${String(n).padStart(16, "0")}`
const change = { type: "undo", session: "s", checkpoint: "e9" }

test("a code signs in once, within its lifetime, and only with a key that can sign", () => {
  const clock: Clock = { nowMs: 1000 }
  const signIns = createSignIns(() => clock.nowMs)
  const { code } = signIns.newCode()
  expect(signIns.enter(code, "bm8ga2V5IGF0IGFsbCwgcmVhbGx5", origin)).toBe("key-wrong")
  expect(signIns.enter(code, newKey().publicKey, origin)).toMatchObject({ cookie: expect.any(String) })
  expect(signIns.enter(code, newKey().publicKey, origin)).toBe("code-wrong")
  const late = signIns.newCode()
  clock.nowMs = late.expiresAtMs
  expect(signIns.enter(late.code, newKey().publicKey, origin)).toBe("code-wrong")
})

test("the cookie or the proof alone, another origin, or an expired sign-in is not accepted", () => {
  const clock: Clock = { nowMs: 1000 }
  const signIns = createSignIns(() => clock.nowMs)
  const { entered } = enter(signIns)
  const { cookie, proof, expiresAtMs } = entered
  expect(signIns.find(cookie, null, origin)).toBeUndefined()
  expect(signIns.find(undefined, proof, origin)).toBeUndefined()
  expect(signIns.find(proof, cookie, origin)).toBeUndefined()
  expect(signIns.find(cookie, proof, "http://127.0.0.1:4142")).toBeUndefined()
  clock.nowMs = expiresAtMs
  expect(signIns.find(cookie, proof, origin)).toBeUndefined()
})

test("a change is accepted once, in time, from the key that signed in, and for this origin", () => {
  const clock: Clock = { nowMs: 1_000_000 }
  const signIns = createSignIns(() => clock.nowMs)
  const { signedIn, signed } = enter(signIns)
  const payload = { origin, issuedAtMs: clock.nowMs, nonce: nonce(1), change }
  expect(signIns.readSigned(signedIn, signed(payload))).toEqual(change)
  expect(signIns.readSigned(signedIn, signed(payload))).toBe("it was sent before")
  const refused: readonly (readonly [SignIn, string])[] = [
    [signedIn, signed({ ...payload, nonce: nonce(2), origin: "http://127.0.0.1:1" })],
    [signedIn, signed({ ...payload, nonce: nonce(3), issuedAtMs: clock.nowMs - 121_000 })],
    [signedIn, signed({ ...payload, nonce: nonce(4) }, "holdfast operator command 1\n")],
    [signedIn, enter(signIns).signed({ ...payload, nonce: nonce(5) })],
    [signedIn, signed({ ...payload, nonce: "short" })],
  ]
  for (const [who, text] of refused) expect(typeof signIns.readSigned(who, text)).toBe("string")
})

test("for any text, only signed content is accepted", () => {
  const signIns = createSignIns(() => 1_000_000)
  const { signedIn, signed } = enter(signIns)
  const text = signed({ origin, issuedAtMs: 1_000_000, nonce: nonce(1), change })
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom("A", "b", "-", ".", "0"), (at, letter) => {
      const changed = `${text.slice(0, at)}${letter}${text.slice(at + 1)}`
      // The last character of a signature has unused bits.
      if (changed === text || at === text.length - 1) return
      expect(typeof signIns.readSigned(signedIn, changed)).toBe("string")
    }),
  )
})

const json = { "content-type": "application/json" }

/** A page that signed in, and signs what it wants changed. */
async function openPage({ ask }: Pick<AdminHouse, "ask">) {
  const key = newKey()
  const { code } = JSON.parse(await (await ask("/admin/sign-in-codes", { method: "POST" })).text())
  const body = JSON.stringify({ code, publicKey: key.publicKey })
  const foreign = await ask("/admin/sign-in", {
    method: "POST",
    headers: { ...json, origin: "http://evil.example" },
    body,
  })
  expect(foreign.status).toBe(403)
  const answer = await ask("/admin/sign-in", { method: "POST", headers: { ...json, origin }, body })
  const { proof } = JSON.parse(await answer.text())
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? ""
  expect(answer.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict; Path=\/admin/)
  const page = { cookie, "x-holdfast-proof": proof, origin, "sec-fetch-site": "same-origin" }
  const { nowMs } = JSON.parse(await (await ask("/admin/status", { headers: page })).text())
  let sent = 0
  const signed = (wanted: object): string => {
    const payload = { origin, issuedAtMs: nowMs, nonce: nonce(++sent), change: wanted }
    const text = `hc1.${Buffer.from(JSON.stringify(payload)).toString("base64url")}`
    return `${text}.${sign(null, Buffer.from(`holdfast session change 1\n${text}`), key.privateKey).toString("base64url")}`
  }
  const submit = (text: string, headers: Readonly<Record<string, string>> = page) =>
    ask("/admin/changes", {
      method: "POST",
      headers: { ...json, ...headers },
      body: JSON.stringify({ change: text }),
    })
  return { page, cookie, signed, submit, change: (wanted: object) => submit(signed(wanted)) }
}

test("a page signs in with a code from the token, and then changes a session with signed changes", async () => {
  const house = await openAdminHouse()
  const { ask, holdfast } = house
  await holdfast.session("s").append([{ role: "user", content: "Good morning." }])
  const { page, cookie, signed, submit, change } = await openPage(house)
  expect((await ask("/admin/status", { headers: page })).status).toBe(200)
  expect((await ask("/admin/status", { headers: { cookie, origin } })).status).toBe(401)
  // A page cannot issue codes.
  expect((await ask("/admin/sign-in-codes", { method: "POST", headers: page })).status).toBe(403)
  const text = signed({ type: "pin", session: "s", text: "Never sell." })
  expect((await submit(text, { authorization: `Bearer ${token}` })).status).toBe(403)
  expect((await submit(text)).status).toBe(200)
  expect((await submit(text)).status).toBe(409)
  expect((await holdfast.session("s").pins()).map(({ text: rule }) => rule)).toEqual(["Never sell."])
  expect((await change({ type: "pin", session: "s", text: "No tabs.", scope: "project" })).status).toBe(200)
  expect((await change({ type: "pin", session: "s", text: "No tabs.", scope: "planet" })).status).toBe(400)
  expect((await holdfast.session("other").pins()).map(({ text: rule }) => rule)).toEqual(["No tabs."])
})

test("rules are demoted and taken back, and the compaction in force is undone, each by one signed change", async () => {
  const house = await openAdminHouse()
  const { holdfast, read } = house
  await converse(holdfast, "s")
  const session = holdfast.session("s")
  const { change: send } = await openPage(house)
  const [pinned] = await session.pins()
  expect(pinned).toMatchObject({ text: "Ask before you sell a boat.", channel: "user" })
  expect((await send({ type: "demote", session: "s", rule: pinned?.id })).status).toBe(200)
  const [demoted, ...others] = await session.pins()
  expect(others).toEqual([])
  expect(demoted).toMatchObject({ text: "Ask before you sell a boat.", channel: "memory" })
  // The log keeps both: what it was stands among all rules, and only what it is now among those in force.
  expect(await read("/admin/sessions/s/pins")).toMatchObject({ total: 1, pins: [{ id: demoted?.id }] })
  // The one that it was is gone by its name.
  expect((await send({ type: "demote", session: "s", rule: pinned?.id })).status).toBe(404)
  expect((await send({ type: "unpin", session: "s", rule: demoted?.id })).status).toBe(200)
  expect(await session.pins()).toEqual([])
  const [made] = (await session.overview()).checkpoints
  expect((await send({ type: "undo", session: "s", checkpoint: "e1" })).status).toBe(409)
  expect((await send({ type: "undo", session: "s", checkpoint: made?.id })).status).toBe(200)
  expect((await session.overview()).checkpoints.map(({ undone }) => undone)).toEqual([true])
  for (const wanted of [{ type: "demote", session: "s" }, { type: "sell", session: "s" }, { type: "undo" }])
    expect((await send(wanted)).status, JSON.stringify(wanted)).toBeGreaterThanOrEqual(400)
  expect((await send({ type: "pin", session: "nobody", text: "Never." })).status).toBe(404)
})
