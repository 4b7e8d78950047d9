import { expect, test } from "vitest"
import { oursInRounds } from "./rounds.ts"
import { makeRoundsSession } from "./rounds-session.ts"

test("ten compactions in a row keep every rule and every current value, and nothing that was replaced stands unmarked", async () => {
  const { rounds } = await oursInRounds(makeRoundsSession())
  expect(rounds).toHaveLength(10)
  expect(rounds.map(({ rules }) => rules)).toEqual(rounds.map(() => 1))
  expect(Math.min(...rounds.map(({ current }) => current))).toBeGreaterThanOrEqual(0.95)
  expect(rounds.map(({ stale }) => stale)).toEqual(rounds.map(() => 0))
  // Most planted facts do not matter for the work: a handoff of two pages keeps those that it has room for.
  expect(rounds.at(-1)?.facts).toBeGreaterThanOrEqual(0.4)
})
