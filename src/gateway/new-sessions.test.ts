import { expect, test } from "vitest"
import { createNewSessions } from "./locate.ts"

const clock = { ms: 0 }
const hourMs = 3_600_000

test("the limit on new sessions per hour is per tenant, and begun sessions continue", () => {
  clock.ms = 0
  const { admit } = createNewSessions(2, () => clock.ms)
  expect(["a", "b", "c"].map((session) => admit("one", session, true))).toEqual([true, true, false])
  expect(admit("one", "a", false)).toBe(true)
  expect(admit("two", "d", true)).toBe(true)
  clock.ms = hourMs
  expect(admit("one", "e", true)).toBe(true)
})

test("a refused session does not count as begun, and begins when there is room", () => {
  clock.ms = 0
  const { admit } = createNewSessions(1, () => clock.ms)
  expect([admit("one", "a", true), admit("one", "b", true), admit("one", "b", false)]).toEqual([true, false, false])
  clock.ms = hourMs
  expect([admit("one", "b", false), admit("one", "b", false)]).toEqual([true, true])
  expect(admit("one", "c", true)).toBe(false)
})

test("the number of remembered tenants and sessions is limited", () => {
  clock.ms = 0
  const { admit } = createNewSessions(1, () => clock.ms)
  for (let n = 0; n < 30_000; n++) admit(`tenant-${n}`, `session-${n}`, true)
  expect(admit("tenant-0", "again", true)).toBe(true)
  expect(admit("tenant-29999", "again", true)).toBe(false)
})
