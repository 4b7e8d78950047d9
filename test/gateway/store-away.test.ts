import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import type { Store } from "../../src/store/store.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { createFailingStore, type Fault, type FaultCode } from "../support/failing-store.ts"
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { startTalk } from "./talk.ts"
import { isWireError, wires } from "./wires.ts"

/** What happens to requests whose session cannot be read. */

let model: ModelServer
beforeAll(async () => {
  model = await startModelServer({ script: ({ index }) => ({ text: `Answer number ${index} is ready now.` }) })
})
afterAll(() => model.close())

const rule = "Never write to the production database."
const codes: readonly FaultCode[] = ["store-unavailable", "store-corrupt", "store-locked"]
const unreadable = (code: FaultCode): Fault => ({ at: 1, code, when: "before", lasting: true })

const lastSent = (): string => Buffer.from(model.requests.at(-1)?.body ?? []).toString()

/** A store for two gateways, one after the other or side by side. */
function shareStore(isShared: boolean) {
  const failing = createFailingStore({ ...createMemoryStore(), isShared })
  const serve = (options: TestGatewayOptions = {}) =>
    startTestGateway(model.url, { store: failing.store, windowTokens: 8000, ...options })
  return { ...failing, serve }
}

async function sessionsIn(store: Store): Promise<readonly string[]> {
  return (await store.sessions()).map(({ id }) => id)
}

const names: readonly (readonly [string, { readonly session?: string }])[] = [
  ["that says its name", { session: "mine" }],
  ["that says no name", {}],
]

describe.each(names)("a conversation %s, whose client trims its history", (_how, given) => {
  test.each(codes)(
    "is refused for now by a gateway that cannot read it (%s), and is known again afterwards",
    async (code) => {
      const { store, set, serve } = shareStore(false)
      let gateway = await serve()
      const talk = startTalk(() => gateway.url, { ...given, keeps: 4, retries: 1 })
      const first = await talk.say(`Hello. ${rule}`)
      for (const text of ["One.", "Two.", "Three."]) await talk.say(text)
      await gateway.close()
      gateway = await serve()
      set(unreadable(code))
      const heard = model.requests.length
      const refused = await talk.say("Four.")
      expect([refused.status, refused.refusals]).toEqual([503, [{ status: 503, retryAfter: "1" }]])
      expect(model.requests).toHaveLength(heard)
      set(undefined)
      const answered = await talk.say("Four.")
      expect([answered.status, answered.session]).toEqual([200, first.session])
      expect(lastSent()).toContain(rule)
      await gateway.close()
      expect(await sessionsIn(store)).toEqual([first.session])
    },
  )

  test("goes on in a gateway that knows it, with its rule", async () => {
    const { store, set, serve } = shareStore(false)
    const gateway = await serve()
    const talk = startTalk(() => gateway.url, { ...given, keeps: 4 })
    const told = [await talk.say(`Hello. ${rule}`), await talk.say("One."), await talk.say("Two.")]
    set(unreadable("store-unavailable"))
    for (const text of ["Three.", "Four.", "Five."]) {
      told.push(await talk.say(text))
      expect(lastSent()).toContain(rule)
    }
    set(undefined)
    told.push(await talk.say("Six."))
    expect(new Set(told.map(({ status, session }) => `${status} ${session}`)).size).toBe(1)
    await gateway.close()
    expect(await sessionsIn(store)).toEqual([told[0]?.session])
  })

  test("is passed on without its rule only where that was asked for", async () => {
    const { set, serve } = shareStore(false)
    let gateway = await serve({ whenStoreIsAway: "pass" })
    const talk = startTalk(() => gateway.url, { ...given, keeps: 4 })
    for (const text of [`Hello. ${rule}`, "One.", "Two.", "Three."]) await talk.say(text)
    await gateway.close()
    gateway = await serve({ whenStoreIsAway: "pass" })
    set(unreadable("store-unavailable"))
    expect((await talk.say("Four.")).status).toBe(200)
    set(undefined)
    await gateway.close()
  })

  test("that went on elsewhere is refused by a gateway that knows its beginning, for it cannot know the rest", async () => {
    const { store, set, serve } = shareStore(true)
    const [one, other] = [await serve(), await serve()]
    let gateway = one
    const talk = startTalk(() => gateway.url, { ...given, keeps: 4 })
    const first = await talk.say("Hello.")
    await talk.say("One.")
    gateway = other
    await talk.say(`Two. ${rule}`)
    for (const text of ["Three.", "Four."]) await talk.say(text)
    set(unreadable("store-unavailable"))
    const heard = model.requests.length
    gateway = one
    expect((await talk.say("Five.")).status).toBe(503)
    expect(model.requests).toHaveLength(heard)
    set(undefined)
    const back = await talk.say("Five.")
    expect([back.status, back.session]).toEqual([200, first.session])
    expect(lastSent()).toContain(rule)
    await one.close()
    await other.close()
    expect(await sessionsIn(store)).toEqual([first.session])
  })
})

test("on a store that other gateways use too, a named conversation goes on where it was last, and waits for the store with a new rule", async () => {
  const { store, set, serve } = shareStore(true)
  const gateway = await serve()
  const talk = startTalk(() => gateway.url, { session: "mine" })
  const first = await talk.say(`Hello. ${rule}`)
  set(unreadable("store-unavailable"))
  const told = [await talk.say("One."), await talk.say("Two.")]
  const heard = model.requests.length
  const newRule = "Never delete a backup without asking me."
  told.push(await talk.say(newRule), await talk.say(newRule))
  expect(told.map(({ status }) => status)).toEqual([200, 200, 503, 503])
  expect(model.requests).toHaveLength(heard)
  set(undefined)
  const back = await talk.say(newRule)
  expect([back.status, back.session]).toEqual([200, first.session])
  await gateway.close()
  expect(await sessionsIn(store)).toEqual([first.session])
  const pins = await createHoldfast({ store }).session(first.session).pins()
  expect(pins.map(({ text }) => text)).toEqual([rule, newRule])
})

test("on a store that other gateways use too, one without a name waits for the store, by which alone the others know it", async () => {
  const { store, set, serve } = shareStore(true)
  const [one, other] = [await serve(), await serve()]
  let gateway = one
  const talk = startTalk(() => gateway.url, { keeps: 4 })
  const first = await talk.say(`Hello. ${rule}`)
  for (const text of ["One.", "Two."]) await talk.say(text)
  set(unreadable("store-unavailable"))
  const heard = model.requests.length
  expect((await talk.say("Three.")).status).toBe(503)
  expect(model.requests).toHaveLength(heard)
  set(undefined)
  gateway = other
  const back = await talk.say("Three.")
  expect([back.status, back.session]).toEqual([200, first.session])
  expect(lastSent()).toContain(rule)
  await one.close()
  await other.close()
  expect(await sessionsIn(store)).toEqual([first.session])
})

test.each(wires)(
  "on the wire %s it is the provider's own error, which says to try again",
  async (format, path, body) => {
    const { set, serve } = shareStore(false)
    const gateway = await serve()
    set(unreadable("store-unavailable"))
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": "k",
        authorization: "Bearer k",
        "x-goog-api-key": "k",
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    expect([response.status, response.headers.get("retry-after"), isWireError(format, text)]).toEqual([503, "1", true])
    set(undefined)
    await gateway.close()
  },
)
