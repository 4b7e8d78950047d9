import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { Channel } from "../message/message.ts"
import { present } from "../message/present.ts"
import { findRules } from "./find-rules.ts"
import type { FoundRule, RuleKind } from "./pin.ts"

/** A text, and what each rule in it must hold; `development` was written before the finder knew these forms, `looked-at` after. */
type Framed = {
  readonly half: "development" | "looked-at"
  readonly class: "lead-in" | "counterpart" | "indicative" | "specification" | "none"
  readonly channel: Channel
  readonly source?: string
  readonly language: string
  readonly text: string
  readonly rules: readonly string[]
  readonly kind?: RuleKind
}

const framed: readonly Framed[] = readFileSync(
  new URL("../../test/fixtures/pin/framed-rules.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))

const foundIn = ({ text, channel, source }: Framed): readonly FoundRule[] =>
  findRules(text, { channel, ...present({ source }) })

describe("rules behind a lead, beside their counterpart, told as they are, or in a specification", () => {
  test.each(framed)("$channel, $language, $class: $text", (given) => {
    const found = foundIn(given)
    expect(found).toHaveLength(given.rules.length)
    for (const [n, rule] of given.rules.entries()) expect(found[n]?.text).toContain(rule)
    if (given.kind !== undefined) for (const { kind } of found) expect(kind).toBe(given.kind)
  })

  test("there are enough of each class, and texts without a rule", () => {
    expect(framed.filter(({ rules }) => rules.length > 0).length).toBeGreaterThanOrEqual(60)
    expect(framed.filter(({ rules }) => rules.length === 0).length).toBeGreaterThanOrEqual(30)
  })
})

describe("what stands over a rule", () => {
  test("a line of a specification needs what it specifies, and has it as its context", () => {
    const text =
      "Layout for each menu of this project:\n- List the soups first.\n- The price must stand on the right.\n"
    const rules = findRules(text, { channel: "user" })
    expect(rules.map((rule) => [rule.text, rule.needsContext, rule.context])).toEqual([
      ["List the soups first.", true, "Layout for each menu of this project:"],
      ["The price must stand on the right.", true, "Layout for each menu of this project:"],
    ])
  })

  test("a list behind a lead that only says for how long reads right without it", () => {
    const rules = findRules("For everything we do from now on:\n- Name the branch after the ticket.\n", {
      channel: "user",
    })
    expect(rules.map((rule) => [rule.text, rule.needsContext])).toEqual([["Name the branch after the ticket.", false]])
  })

  test("a lead in the sentence of its rule stays in it, as what it says may end", () => {
    const text = "Until further notice, for the whole project: keep the ferry tables closed."
    expect(findRules(text, { channel: "user" }).map((rule) => rule.text)).toEqual([text])
  })

  test("work that follows the rules is none of them", () => {
    const text = "This holds for the rest of the session:\nWrite dates as day and month.\nNow fix the login page.\n"
    expect(findRules(text, { channel: "user" }).map((rule) => rule.text)).toEqual(["Write dates as day and month."])
  })

  test("how records are laid out is told in a page and makes no rules of its lines", () => {
    const page = "Format of each record:\n- the name comes first\n- four bytes of length\n- the checksum closes it\n"
    expect(findRules(page, { channel: "tool" })).toEqual([])
  })
})
