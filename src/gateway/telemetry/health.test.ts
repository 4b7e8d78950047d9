import { describe, expect, test } from "vitest"
import { HoldfastError, type Problem } from "../../errors.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import type { Store } from "../../store/store.ts"
import { createHealth, type HealthDeps } from "./health.ts"

const whole: HealthDeps = { store: createMemoryStore(), closing: () => false, version: "1.2.3" }
const away = new HoldfastError({ code: "store-unavailable", store: "postgres", reason: "db.internal said no" })
const failing = (error: unknown): Pick<Store, "head"> => ({ head: () => Promise.reject(error) })
const throwing: Pick<Store, "head"> = {
  head: () => {
    throw away
  },
}
const policy: Problem = { code: "policy-invalid", policy: "/etc/secret/rule.md", expected: "a", found: "b" }

const answerOf = async (deps: Partial<HealthDeps>): Promise<readonly [number, unknown]> => {
  const { status, body } = await createHealth({ ...whole, ...deps }).ready()
  return [status, JSON.parse(body)]
}

test("a process that can answer is alive, whatever else is wrong", () => {
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
  ["the store hangs", { store: { head: () => new Promise(() => {}) }, readLimitMs: 1 }, "store", "store-late"],
  ["the operator's files are faulty", { operator: { problem: () => policy } }, "operator", "policy-invalid"],
]
test.each(unready)(
  "it is not ready when %s, and says so without a name or an address",
  async (_why, deps, part, code) => {
    expect(await answerOf(deps)).toEqual([503, { status: "unavailable", version: "1.2.3", reasons: [{ part, code }] }])
  },
)

describe("probes are no load", () => {
  test("an answer of the store holds for a second, good or bad, and is told each time that it was asked for", async () => {
    let [nowMs, reads] = [0, 0]
    let store: Pick<Store, "head"> = failing(away)
    const told: boolean[] = []
    const head = (session: string) => {
      reads += 1
      return store.head(session)
    }
    const health = createHealth({ ...whole, store: { head }, now: () => nowMs, onStore: (up) => void told.push(up) })
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

  test("a read that hangs is not joined by others, and when it comes back the store is asked again", async () => {
    let [nowMs, reads] = [0, 0]
    const late = Promise.withResolvers<{ seq: number; hash: string }>()
    const head = () => {
      reads += 1
      return reads === 1 ? late.promise : Promise.resolve({ seq: 0, hash: "" })
    }
    const health = createHealth({ ...whole, store: { head }, now: () => nowMs, readLimitMs: 1 })
    for (const atMs of [0, 2000, 4000]) {
      nowMs = atMs
      expect(await health.ready()).toMatchObject({ status: 503 })
    }
    expect(reads).toBe(1)
    late.resolve({ seq: 0, hash: "" })
    await late.promise
    nowMs = 6000
    expect(await health.ready()).toMatchObject({ status: 200 })
    expect(reads).toBe(2)
  })

  test("closing is seen at once, whatever is known of the store", async () => {
    let closing = false
    const health = createHealth({ ...whole, closing: () => closing, now: () => 0 })
    expect(await health.ready()).toMatchObject({ status: 200 })
    closing = true
    expect(await health.ready()).toMatchObject({ status: 503 })
  })
})
