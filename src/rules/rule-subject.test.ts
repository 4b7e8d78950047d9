import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { findRules } from "./find-rules.ts"
import type { FoundRule } from "./pin.ts"
import { conflicts, ruleKey, sameSubject } from "./pin-ledger.ts"

function ruleIn(text: string): FoundRule {
  const [rule] = findRules(text, { channel: "system" })
  if (rule === undefined) throw new Error(`no rule in: ${text}`)
  return rule
}

describe("a later rule takes the place of one about the same thing", () => {
  test.each([
    ["the cap", "Never spend more than $100 without approval.", "The spend cap must now stay at $800."],
    ["the channel", "All reports go to #ops.", "From now on, send reports to #eng-status."],
    ["the language", "Always reply in English.", "From now on reply in Spanish."],
    ["a quantity", "Keep functions under 50 lines.", "Keep functions under 70 lines."],
    [
      "a number that names a thing, where it says so",
      "Use port 8080 for the API.",
      "Use port 9090 for the API from now on.",
    ],
    ["the region", "Deploy only to us-west-2.", "Deploy only to eu-central-1."],
    ["the address", "Send all invoices to ann@example.org.", "Send all invoices to bob@example.org."],
    ["what was forbidden is allowed", "Never email contractors.", "You may now email contractors."],
    ["in Chinese", "花费不得超过100元。", "花费上限必须改为800元。"],
    ["in Spanish", "No gastes más de 100 dólares.", "Ahora no gastes más de 800 dólares."],
    ["the very same words", "Use tabs.", "Use tabs."],
  ])("%s", (_name, earlier, later) => {
    expect(sameSubject(ruleIn(earlier), ruleIn(later))).toBe(true)
  })

  test.each([
    ["another place", "Never delete tables in production.", "Never delete tables in staging."],
    ["one more condition", "Never email external recipients.", "Never email external recipients without encryption."],
    ["another thing", "All reports go to #ops.", "All invoices go to #finance."],
    ["another act", "Use tabs for indentation.", "Run the tests before committing."],
    ["another number that names a thing", "Never touch issue 12.", "Never touch issue 13."],
    ["other numbers of other things", "Keep out of room 4 of house 7.", "Keep out of room 5 of house 8."],
    ["another limit", "Spend at most $100 per order.", "Wait at most 30 seconds per request."],
  ])("and leaves one that differs in %s", (_name, earlier, later) => {
    expect(sameSubject(ruleIn(earlier), ruleIn(later))).toBe(false)
  })
})

describe("two rules that cannot both be kept", () => {
  test.each([
    ["forbidden and allowed", "Never email contractors.", "You may email contractors.", true],
    ["two channels", "All reports go to #ops.", "All reports go to #eng-status.", true],
    ["two limits", "Spend at most $100 per order.", "Spend at most $800 per order.", true],
    ["two things", "Never push to main.", "Always run the tests.", false],
    ["the same rule", "Use tabs.", "Use tabs.", false],
    ["two places", "Never delete tables in production.", "Never delete tables in staging.", false],
  ])("%s", (_name, one, two, expected) => {
    expect(conflicts(ruleIn(one), ruleIn(two))).toBe(expected)
    expect(conflicts(ruleIn(two), ruleIn(one))).toBe(expected)
  })
})

test("the key leaves values out and keeps what the rule is about", () => {
  expect(ruleKey(ruleIn("Spend at most $100 per order."))).toBe(ruleKey(ruleIn("Spend at most $800 per order.")))
  expect(ruleKey(ruleIn("Never delete tables in production."))).not.toBe(
    ruleKey(ruleIn("Never delete tables in staging.")),
  )
})

test("any two texts compare the same every time, and a rule is about what it is about", () => {
  const kinds = fc.constantFrom<FoundRule["kind"]>(
    "prohibition",
    "obligation",
    "permission-limit",
    "permission",
    "preference",
  )
  const rule = fc.record({ text: fc.string({ unit: "binary", maxLength: 120 }), kind: kinds })
  fc.assert(
    fc.property(rule, rule, (one, two) => {
      expect(sameSubject(one, one)).toBe(true)
      expect(conflicts(one, one)).toBe(false)
      expect(conflicts(one, two)).toBe(conflicts(two, one))
      expect(ruleKey(one)).toBe(ruleKey({ ...one }))
    }),
  )
})
