import { expect, test } from "vitest"
import { messageId } from "../../message/message.ts"
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

test.each(["limit", "offset", "page_size", "view_range", "timeout"])(
  "how much a call asked to see under %s is less likely needed than another number that it passed on",
  (label) => {
    const passed: Fact = { ...fact, kind: "number", value: "120", labelFrom: "key", usedInCalls: 1 }
    expect(score({ ...passed, label }, 20)).toBeLessThan(score({ ...passed, label: "seats" }, 20))
  },
)

test("a plain word that a call passed on is less likely needed than a name", () => {
  const passed: Fact = { ...fact, kind: "argument", labelFrom: "key", usedInCalls: 1 }
  expect(score({ ...passed, value: "down" }, 20)).toBeLessThan(score({ ...passed, value: "Harbor View" }, 20))
})

test("a time under a key that says when something will be counts as a date, one that a log printed does not", () => {
  const stamp: Fact = { ...fact, kind: "date", value: "2025-06-11T09:30:00", labelFrom: "key" }
  const [due, logged] = ["startsAt", "updated_at"].map((label) => score({ ...stamp, label }, 20))
  expect(due).toBeGreaterThan(logged ?? Number.POSITIVE_INFINITY)
})
