import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Label, type RuleCase, variantsOf } from "../../test/fixtures/pin/survival-variants.ts"
import { survival } from "./survival.ts"

const isCase = (value: unknown): value is RuleCase =>
  typeof value === "object" && value !== null && "rule" in value && "lang" in value

function isTrap(value: unknown): value is { readonly rule: string; readonly text: string } {
  return typeof value === "object" && value !== null && "rule" in value && "text" in value
}

const cases: readonly RuleCase[] = readFileSync(
  join(import.meta.dirname, "../../test/fixtures/pin/survival-rules.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line): unknown => JSON.parse(line))
  .filter(isCase)

/** Parted by rule before anything was tuned; single cases were looked at in the first half alone. */
const halves = {
  development: cases.filter((_, at) => at % 2 === 0),
  "held-out": cases.filter((_, at) => at % 2 === 1),
}

const certified = (verdict: Label): boolean => verdict === "preserved" || verdict === "paraphrased"

type Row = { readonly label: Label; readonly verdict: Label; readonly rule: string; readonly text: string }

const rowsOf = (rules: readonly RuleCase[]): readonly Row[] =>
  rules.flatMap((given) =>
    variantsOf(given, rules).map(({ label, text }) => ({
      label,
      text,
      rule: given.rule,
      verdict: survival(given.rule, text).verdict,
    })),
  )

const share = (rows: readonly Row[], label: Label, ...verdicts: readonly Label[]): number => {
  const labelled = rows.filter((row) => row.label === label)
  return labelled.filter(({ verdict }) => verdicts.includes(verdict)).length / labelled.length
}

describe.each(Object.entries(halves))("%s rules", (_name, rules) => {
  const rows = rowsOf(rules)

  test("no rule that was dropped or contradicted is ever certified", () => {
    const wrong = rows.filter(
      ({ label, verdict }) => (label === "dropped" || label === "contradicted") && certified(verdict),
    )
    expect(wrong).toEqual([])
  })

  test("no weakened rule is certified as it stood", () => {
    expect(rows.filter(({ label, verdict }) => label === "weakened" && certified(verdict))).toEqual([])
  })

  test("a rule that is there word for word is nearly always found so, and most paraphrases are seen to be the same", () => {
    expect(share(rows, "preserved", "preserved")).toBeGreaterThan(0.99)
    expect(share(rows, "paraphrased", "paraphrased")).toBeGreaterThan(0.75)
    expect(share(rows, "contradicted", "contradicted")).toBeGreaterThan(0.97)
    expect(share(rows, "dropped", "dropped")).toBeGreaterThan(0.95)
  })
})

/** Statements with a rule's words that are not the rule: who does what to whom, in which order, when, how many, and whether at all. */
const traps: readonly RuleCase[] = readFileSync(
  join(import.meta.dirname, "../../test/fixtures/pin/survival-traps.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line): unknown => JSON.parse(line))
  .filter(isTrap)
  .map(({ rule, text }) => ({ lang: "en", rule, against: [text] }))

test("no statement that only has a rule's words is taken for the rule", () => {
  expect(traps.length).toBeGreaterThan(200)
  expect(traps.filter(({ rule, against = [] }) => certified(survival(rule, against[0] ?? "").verdict))).toEqual([])
})

test("there are rules enough in three languages, and both halves have all of them", () => {
  expect(cases.length).toBeGreaterThanOrEqual(60)
  expect(cases.filter(({ same = [] }) => same.length > 0).length).toBeGreaterThanOrEqual(30)
  for (const half of Object.values(halves))
    expect(new Set(half.map(({ lang }) => lang))).toEqual(new Set(["en", "es", "zh"]))
})
