import { expect, test } from "vitest"
import { limitReports } from "./open-telemetry.ts"

test("the first fault is reported at once, and the next one after a minute", () => {
  const told: unknown[] = []
  let nowMs = 0
  const tell = limitReports(
    (error) => told.push(error),
    () => nowMs,
  )
  for (const atMs of [0, 1, 59_999, 60_000, 60_001, 120_000]) {
    nowMs = atMs
    tell(atMs)
  }
  expect(told).toEqual([0, 60_000, 120_000])
})

test("a clock that was set back does not suppress reports forever", () => {
  const told: unknown[] = []
  let nowMs = 10_000_000
  const tell = limitReports(
    (error) => told.push(error),
    () => nowMs,
  )
  tell("before")
  nowMs = 0
  tell("after")
  expect(told).toEqual(["before", "after"])
})
