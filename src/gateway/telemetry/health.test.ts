import { describe, expect, test } from "vitest"
import { HoldfastError, type Problem } from "../../message/errors.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import type { Store } from "../../store/store.ts"
import { createHealth, type HealthDeps } from "./health.ts"

const whole: HealthDeps = { store: createMemoryStore(), closing: () => false, version: "1.2.3" }
const away = new HoldfastError({ code: "store-unavailable", store: "postgres", reason: "db.internal said no" })
type Probed = Pick<Store, "head" | "putAliases">
const reading = (head: Probed["head"]): Probed => ({ head, putAliases: async () => {} })
const failing = (error: unknown): Probed => reading(() => Promise.reject(error))
const throwing = reading(() => {
  throw away
})
const unwritable: Probed = {
  head: async () => ({ seq: 0, hash: "" }),
  putAliases: () => Promise.reject(new HoldfastError({ code: "store-full", store: "sqlite" })),
}
const policy: Problem = { code: "policy-invalid", policy: "/etc/secret/rule.md", expected: "a", found: "b" }

const answerOf = async (deps: Partial<HealthDeps>): Promise<readonly [number, unknown]> => {
  const { status, body } = await createHealth({ ...whole, ...deps }).ready()
  return [status, JSON.parse(body)]
}

test("a running process is alive, whatever else is wrong", () => {
  const health = createHealth({ ...whole, store: failing(away), closing: () => true })
  expect(health.live()).toEqual({ status: 200, body: '{"status":"ok","version":"1.2.3"}' })
})

test("it is ready when the store can be read and nothing is wrong", async () => {
  const operator = { problem: () => undefined }
  expect(await answerOf({ operator })).toEqual([200, { status: "ok", version: "1.2.3" }])
})

const unready: readonly (readonly [why: string, deps: Partial<HealthDeps>, part: string, code: string])[] = [
  ["the gateway is closing", { closing: () => true }, "gateway", "closing"],
  ["the store is away", { store: failing(away) }, "store", "store-unavailable"],
  ["the store fails of something else", { store: failing(new Error("secret")) }, "store", "store-failed"],
  ["the store throws at once", { store: throwing }, "store", "store-unavailable"],
  ["the store can be read but not written", { store: unwritable }, "store", "store-full"],
  ["the store hangs", { store: reading(() => new Promise(() => {})), probeLimitMs: 1 }, "store", "store-late"],
  ["the operator's files are faulty", { operator: { problem: () => policy } }, "operator", "policy-invalid"],
]
test.each(unready)(
  "it is not ready when %s, and says so without names or addresses",
  async (_why, deps, part, code) => {
    expect(await answerOf(deps)).toEqual([503, { status: "unavailable", version: "1.2.3", reasons: [{ part, code }] }])
  },
)

describe("probes do not load the store", () => {
  test("a probe result is reused for a second, and onStore is called for each probe", async () => {
    let [nowMs, reads] = [0, 0]
    let store: Probed = failing(away)
    const told: boolean[] = []
    const head = (session: string) => {
      reads += 1
      return store.head(session)
    }
    const health = createHealth({
      ...whole,
      store: reading(head),
      now: () => nowMs,
      onStore: (up) => void told.push(up),
    })
    await Promise.all([health.ready(), health.ready(), health.ready()])
    store = createMemoryStore()
    nowMs = 999
    expect(await health.ready()).toMatchObject({ status: 503 })
    expect(reads).toBe(1)
    nowMs = 1000
    expect(await health.ready()).toMatchObject({ status: 200 })
    expect(await health.ready()).toMatchObject({ status: 200 })
    expect(reads).toBe(2)
    expect(told).toEqual([false, true])
  })

  test("no second probe joins one that hangs, and the next one asks the store again", async () => {
    let [nowMs, reads] = [0, 0]
    const late = Promise.withResolvers<{ seq: number; hash: string }>()
    const head = () => {
      reads += 1
      return reads === 1 ? late.promise : Promise.resolve({ seq: 0, hash: "" })
    }
    const health = createHealth({ ...whole, store: reading(head), now: () => nowMs, probeLimitMs: 1 })
    for (const atMs of [0, 2000, 4000]) {
      nowMs = atMs
      expect(await health.ready()).toMatchObject({ status: 503 })
    }
    expect(reads).toBe(1)
    late.resolve({ seq: 0, hash: "" })
    await new Promise(setImmediate)
    nowMs = 6000
    expect(await health.ready()).toMatchObject({ status: 200 })
    expect(reads).toBe(2)
  })

  test("the store is written to at most every five seconds, and again right after a failure", async () => {
    let [nowMs, writes, isAway] = [0, 0, false]
    const store: Probed = {
      head: () => (isAway ? Promise.reject(away) : Promise.resolve({ seq: 0, hash: "" })),
      putAliases: async () => void writes++,
    }
    const health = createHealth({ ...whole, store, now: () => nowMs })
    for (; nowMs < 5000; nowMs += 100) expect(await health.ready()).toMatchObject({ status: 200 })
    expect(writes).toBe(1)
    expect(await health.ready()).toMatchObject({ status: 200 })
    expect(writes).toBe(2)
    isAway = true
    nowMs += 1000
    expect(await health.ready()).toMatchObject({ status: 503 })
    isAway = false
    nowMs += 1000
    expect(await health.ready()).toMatchObject({ status: 200 })
    expect(writes).toBe(3)
  })

  test("damage found by a request counts for five minutes", async () => {
    let nowMs = 0
    const health = createHealth({ ...whole, now: () => nowMs })
    expect(await health.ready()).toMatchObject({ status: 200 })
    health.noteDamage()
    expect(await health.ready()).toMatchObject({ status: 503, body: expect.stringContaining("store-corrupt") })
    nowMs = 299_999
    expect(await health.ready()).toMatchObject({ status: 503 })
    nowMs = 301_000
    expect(await health.ready()).toMatchObject({ status: 200 })
  })

  test("closing is reported at once, whatever the state of the store", async () => {
    let closing = false
    const health = createHealth({ ...whole, closing: () => closing, now: () => 0 })
    expect(await health.ready()).toMatchObject({ status: 200 })
    closing = true
    expect(await health.ready()).toMatchObject({ status: 503 })
  })
})
