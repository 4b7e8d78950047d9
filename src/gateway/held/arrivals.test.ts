import { expect, test } from "vitest"
import { createArrivals } from "./arrivals.ts"

test("who goes on from an answer waits until it is written down", async () => {
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

test("nobody waits for an answer that is there, or where none is on its way, or for another's", async () => {
  const arrivals = createArrivals()
  await arrivals.wait("one", "resp_0")
  const done = arrivals.begin("one")
  arrivals.begin("one")("resp_1")
  await arrivals.wait("one", "resp_1")
  await arrivals.wait("two", "resp_2")
  done(undefined)
  done(undefined)
  await arrivals.wait("one", "resp_2")
  expect(true).toBe(true)
})
