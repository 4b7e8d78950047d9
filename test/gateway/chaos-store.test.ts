import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { openSqliteStore } from "../../src/store/sqlite-store.ts"
import type { Store } from "../../src/store/store.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { createFailingStore, type Fault } from "../support/failing-store.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { isLongRun } from "../support/property.ts"
import { type SayResult, startTalk } from "./talk.ts"

let model: ModelServer

beforeAll(async () => {
  model = await startModelServer({ script: ({ index }) => ({ text: `Answer ${index}.` }) })
})
afterAll(() => model.close())

const turns = 8
/** Checks that the store's log contains everything that was said, in order, and that the log verifies. */
async function checkLog(store: Store, id: string, said: readonly string[]): Promise<void> {
  const session = createHoldfast({ store }).session(id)
  expect((await session.verify()).seq).toBeGreaterThan(0)
  const log = JSON.stringify(await session.history())
  let at = 0
  for (const text of said) {
    at = log.indexOf(JSON.stringify(text).slice(1, -1), at)
    expect(at, text).toBeGreaterThanOrEqual(0)
  }
}

async function converse(
  store: Store,
  { fault, heal, retries = 0 }: { readonly fault: () => void; readonly heal: () => void; readonly retries?: number },
): Promise<readonly SayResult[]> {
  const gateway = await startTestGateway(model.url, { store })
  const talk = startTalk(() => gateway.url, { session: "mine", retries })
  const told: SayResult[] = []
  fault()
  for (let turn = 0; turn < turns; turn++) told.push(await talk.say(`Question ${turn}: never delete file ${turn}.txt.`))
  heal()
  told.push(await talk.say("Is all well?"))
  await settled(gateway)
  const named = told.at(-1)?.session ?? ""
  await gateway.close()
  await checkLog(store, named, talk.said())
  return told
}

async function settled({ holdfast, records }: TestGateway): Promise<void> {
  await expect.poll(() => records.length).toBeGreaterThanOrEqual(turns + 1)
  await holdfast.idle()
}

const calls = Array.from({ length: 40 }, (_, n) => n + 1)

const faults: readonly Pick<Fault, "code" | "when">[] = [
  { code: "store-unavailable", when: "before" },
  { code: "store-full", when: "after" },
]

describe.each(faults)("a store with $code, $when", ({ code, when }) => {
  test("whichever one call fails, every turn is answered at once or when it is sent again, and all of it is in the log", async () => {
    // In the everyday run every other call fails before it takes effect, and the others after.
    for (const at of calls.filter((at) => isLongRun || (at % 2 === 0) === (when === "before"))) {
      const failing = createFailingStore(createMemoryStore())
      const fault = () => failing.set({ at, code, when })
      const told = await converse(failing.store, { fault, heal: () => failing.set(undefined), retries: 2 })
      expect(told.map(({ status }) => status)).toEqual(told.map(() => 200))
    }
  })

  test("while every store call from any one on fails, a turn is answered or refused with 503, and all answered turns are in the log once it works again", async () => {
    for (const at of [1, 2, 3, 5, 8, 13, 21, 34]) {
      const failing = createFailingStore(createMemoryStore())
      const fault = () => failing.set({ at, code, when, lasting: true })
      const told = await converse(failing.store, { fault, heal: () => failing.set(undefined) })
      expect(told.filter(({ status }) => status !== 200 && status !== 503)).toEqual([])
      expect(told.at(-1)?.status).toBe(200)
    }
  })
})

test.each([1, 12])(
  "a store that hangs from its %i. call on keeps no turn waiting for long, and has all that was answered in the end",
  async (at) => {
    const failing = createFailingStore(createMemoryStore())
    const gateway = await startTestGateway(model.url, { store: failing.store })
    const talk = startTalk(() => gateway.url, { session: "mine" })
    failing.set({ at, code: "store-unavailable", when: "hang", lasting: true })
    const told: SayResult[] = []
    for (let turn = 0; turn < turns; turn++) told.push(await talk.say(`Question ${turn}.`))
    expect(told.map(({ status }) => status)).toEqual(told.map(() => (at === 1 ? 503 : 200)))
    failing.set(undefined)
    await sleep(1500)
    told.push(await talk.say("And now?"))
    await gateway.close()
    await checkLog(failing.store, told.at(-1)?.session ?? "", talk.said())
  },
  30_000,
)

test("requests are still answered after the store was closed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-closed-"))
  const store = await openSqliteStore({ path: join(directory, "sessions.db") })
  const gateway = await startTestGateway(model.url, { store })
  const talk = startTalk(() => gateway.url, { session: "mine" })
  const told = [await talk.say("One.")]
  await vi.waitFor(async () => expect((await store.head(told[0]?.session ?? "")).seq).toBeGreaterThan(2))
  await store.close()
  for (const text of ["Two.", "Three.", "Four."]) told.push(await talk.say(text))
  expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  await gateway.close().catch(() => undefined)
  const again = await openSqliteStore({ path: join(directory, "sessions.db") })
  await checkLog(again, told[0]?.session ?? "", talk.said().slice(0, 1))
  await again.close()
  rmSync(directory, { recursive: true, force: true })
})

test("a client that says no name and goes on at once stays in one session", async () => {
  const gateway = await startTestGateway(model.url)
  const talk = startTalk(() => gateway.url)
  const sessions = new Set<string>()
  for (let turn = 0; turn < turns; turn++) sessions.add((await talk.say(`Question ${turn}.`)).session)
  await gateway.close()
  expect([...sessions]).toHaveLength(1)
  await checkLog(gateway.store, [...sessions][0] ?? "", talk.said())
})
