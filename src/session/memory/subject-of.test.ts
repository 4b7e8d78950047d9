import { expect, test } from "vitest"
import type { MemoryKind } from "../../compact/state/flush.ts"
import { subjectOf } from "./row-of.ts"

type Case = readonly [why: string, kind: MemoryKind, trusted: boolean, text: string, subject: string | undefined]

const cases: readonly Case[] = [
  ["a value of a record", "fact", false, "status of W12: shipped", "status of W12"],
  [
    "letter case in the label only",
    "fact",
    true,
    "Delivery Address of order W12: 5 Elm",
    "delivery address of order W12",
  ],
  ["ids that differ in case are two", "fact", true, "status of w12: shipped", "status of w12"],
  ["what the user calls by a name", "fact", true, "budget: 500", "budget"],
  ["in another script", "fact", true, "адрес доставки: Москва", "адрес доставки"],
  ["a name with `of` in it", "fact", true, "date of birth of Anna: 2001-02-03", "date of birth of Anna"],
  ["a bare label of a tool may stand for many records", "fact", false, "price: 10", undefined],
  ["a label that only names the sort of value", "fact", true, "amount: $5", undefined],
  ["the same with a record", "fact", true, "number of W12: 5", undefined],
  ["a remark", "fact", true, "note: call back", undefined],
  ["a wish about a record", "wish", true, "Delivery address of order W12: 9 Oak", "delivery address of order W12"],
  ["a wish in prose", "wish", true, "Tone of the letter: friendly", undefined],
  ["a wish with a bare label", "wish", true, "budget: 500", undefined],
  ["a code of a record", "identifier", false, "tracking code of order 7: X1", "tracking code of order 7"],
  ["someone may have two addresses", "identifier", false, "email of user 7: a@b.example", undefined],
  ["an error", "error", false, "error of job 7: timeout", undefined],
  ["a command", "command", true, "tests of app 7: npm test", undefined],
  ["a request", "request", true, "title of page 7: Hello", undefined],
  ["a sentence before the colon", "fact", true, "I said it before, and again: 7", undefined],
  ["two colons", "fact", true, "time: start: 7", undefined],
  ["no value", "fact", true, "budget: ", undefined],
  ["no blank behind the colon", "fact", true, "https://x.example", undefined],
  ["a state before it", "fact", true, "[Done] budget: 500", undefined],
  ["nothing", "fact", true, "", undefined],
  ["more than a label", "fact", true, `${"a ".repeat(200)}: 5`, undefined],
]

test.each(cases)("%s", (_why, kind, trusted, text, subject) => {
  expect(subjectOf({ kind, text, trusted })).toBe(subject)
})
