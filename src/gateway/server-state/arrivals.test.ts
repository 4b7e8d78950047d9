import { expect, test } from "vitest"
import { createArrivals } from "./held.ts"

test("a request that continues a response waits until it is recorded", async () => {
  const arrivals = createArrivals()
  const done = arrivals.begin("one")
  const seen: string[] = []
  const waiting = arrivals.wait("one", "resp_1").then(() => seen.push("went on"))
  await Promise.resolve()
  seen.push("written down")
  done("resp_1")
  await waiting
  expect(seen).toEqual(["written down", "went on"])
})

/** Did it resolve without waiting? */
const isAtOnce = (waiting: Promise<void>): Promise<boolean> =>
  Promise.race([waiting.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))])

test("there is no wait for a recorded response, without pending responses, or for another tenant's", async () => {
  const arrivals = createArrivals()
  expect(await isAtOnce(arrivals.wait("one", "resp_0"))).toBe(true)
  const done = arrivals.begin("one")
  arrivals.begin("one")("resp_1")
  expect(await isAtOnce(arrivals.wait("one", "resp_1"))).toBe(true)
  expect(await isAtOnce(arrivals.wait("two", "resp_2"))).toBe(true)
  const waiting = arrivals.wait("one", "resp_2")
  expect(await isAtOnce(waiting)).toBe(false)
  done(undefined)
  expect(await isAtOnce(waiting)).toBe(true)
  done(undefined)
  expect(await isAtOnce(arrivals.wait("one", "resp_2"))).toBe(true)
})
