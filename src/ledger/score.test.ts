import { expect, test } from "vitest"
import { messageId } from "../message/ids.ts"
import type { Fact } from "./fact.ts"
import { score } from "./score.ts"

const fact: Fact = {
  kind: "id",
  value: "W-1042",
  label: "order",
  labelFrom: "words",
  source: { messageId: messageId("m1") },
  channel: "tool",
  first: 10,
  last: 10,
  uses: 1,
  usedInCalls: 0,
  givenByUser: false,
  state: "current",
}

const better: readonly (readonly [why: string, changes: Partial<Fact>])[] = [
  ["passed to a tool", { usedInCalls: 1 }],
  ["given by the user", { givenByUser: true }],
  ["mentioned again and again", { uses: 4 }],
  ["mentioned later", { last: 20 }],
  ["under a key", { labelFrom: "key" }],
  ["still failing", { state: "failed" }],
]
test.each(better)("a value is likelier needed if it was %s", (_why, changes) => {
  expect(score({ ...fact, ...changes }, 20)).toBeGreaterThan(score(fact, 20))
})

const worse: readonly (readonly [why: string, changes: Partial<Fact>])[] = [
  ["superseded", { state: "superseded" }],
  ["a mere number", { kind: "number" }],
  ["met long ago", { last: 1 }],
]
test.each(worse)("a value is less likely needed if it is %s", (_why, changes) => {
  expect(score({ ...fact, ...changes }, 20)).toBeLessThan(score(fact, 20))
})

test("what the user gave and no call has used yet counts as work ahead", () => {
  const given = { ...fact, givenByUser: true }
  expect(score(given, 20) - score(fact, 20)).toBeGreaterThan(
    score({ ...given, usedInCalls: 1 }, 20) - score({ ...fact, usedInCalls: 1 }, 20),
  )
})
