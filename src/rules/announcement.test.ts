import { describe, expect, test } from "vitest"
import { findRules } from "./find-rules.ts"

const rulesOf = (text: string): readonly string[] => findRules(text, { channel: "user" }).map((rule) => rule.text)
const says = (text: string, body: string): boolean => rulesOf(text).some((rule) => rule.includes(body))

/** Sentences that bind nothing by their own grammar; none of them is learnt from. */
const bodies = [
  "the apprentice writes the date first",
  "lunch is at half past twelve",
  "photos before drawings",
  "the smaller boat leaves first",
  "red pen for sums, blue pen for words",
]
const announcements = [
  "House rule, in force since my uncle's time",
  "The rule on this farm",
  "Convention in all of our repositories",
  "Standing order for the night shift",
  "A general principle of ours",
]
const others = ["Status", "What I found in the folder", "The plan for Tuesday", "Error message", "For example"]
const cases = announcements.flatMap((lead) => bodies.map((body): [lead: string, body: string] => [lead, body]))

describe("what stands before a sentence", () => {
  test.each(cases)("%s: %s", (lead, body) => {
    expect(says(`${lead}: ${body}.`, body)).toBe(true)
  })

  test.each(others.flatMap((lead) => bodies.map((body): [string, string] => [lead, body])))(
    "announces no rule: %s: %s",
    (lead, body) => {
      expect(rulesOf(`${lead}: ${body}.`)).toEqual([])
    },
  )

  test.each([
    "House rule: when did the post arrive?",
    "House rule or not, the printer broke again yesterday.",
    "One thing to remember: could you add a chart to the third slide?",
  ])("makes no rule of a question, a task or a fact: %s", (text) => {
    expect(rulesOf(text)).toEqual([])
  })

  test("a heading announces all items below it", () => {
    const text =
      "## House rules\n- metric\n- photos before drawings\n- the smaller boat leaves first\n\nWhat is the time in Oslo?"
    expect(rulesOf(text)).toHaveLength(3)
  })
})

test("an announcement of any length is read in linear time", () => {
  const start = performance.now()
  rulesOf(`${"規則 ".repeat(20_000)}: a`)
  rulesOf(`House rule${": a - b".repeat(20_000)}`)
  expect(performance.now() - start).toBeLessThan(2000)
})
