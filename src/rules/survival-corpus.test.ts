import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { type Label, type RuleCase, variantsOf } from "../../test/fixtures/pin/survival-variants.ts"
import { type SurvivalVerdict, survival } from "./survival.ts"

/** A rule, a text, and what a person says the text makes of the rule. */
type Labelled = { readonly rule: string; readonly text: string; readonly label: Label }

const read = <Row>(name: string): readonly Row[] =>
  readFileSync(new URL(`../../test/fixtures/pin/${name}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line): Row => JSON.parse(line))

const cases = read<Labelled>("survival-cases")
const traps = read<Omit<Labelled, "label">>("survival-traps")
const rules = read<RuleCase>("survival-rules")
const variants = rules.flatMap((given) =>
  variantsOf(given, rules).map(({ label, text }): Labelled => ({ rule: given.rule, label, text })),
)

const verdictOf = ({ rule, text }: Omit<Labelled, "label">): SurvivalVerdict => survival(rule, text).verdict
const labelled = (all: readonly Labelled[], ...labels: readonly Label[]): readonly Labelled[] =>
  all.filter(({ label }) => labels.includes(label))
const share = (all: readonly Labelled[], ...verdicts: readonly SurvivalVerdict[]): number =>
  all.filter((given) => verdicts.includes(verdictOf(given))).length / all.length

const words = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ")

test("of made variants none that lost, softened or contradicted its rule is verbatim, and every kept one is", () => {
  const wrong = labelled(variants, "paraphrased", "weakened", "contradicted", "dropped").filter(
    (given) => verdictOf(given) === "verbatim",
  )
  expect(wrong).toEqual([])
  expect(labelled(variants, "preserved").filter((given) => verdictOf(given) !== "verbatim")).toEqual([])
})

test("no statement that only has a rule's words is verbatim", () => {
  expect(traps.length).toBeGreaterThan(200)
  expect(traps.filter((given) => verdictOf(given) === "verbatim")).toEqual([])
})

test("no text without the rule's words in their order is verbatim", () => {
  const without = cases.filter(({ rule, text }) => !words(text).includes(words(rule)))
  expect(without.length).toBeGreaterThan(350)
  expect(without.filter((given) => verdictOf(given) === "verbatim")).toEqual([])
})

test("where only another sentence or a label takes a rule back, it is seen nine times in ten", () => {
  const around = labelled(cases, "weakened", "contradicted").filter(({ rule, text }) =>
    words(text).includes(words(rule)),
  )
  expect(around.length).toBeGreaterThan(200)
  expect(share(around, "verbatim")).toBeLessThan(0.1)
})

test("a rule that stands word for word is mostly verbatim, what was made of it changed, and without it it is gone", () => {
  expect(share(labelled(cases, "preserved"), "verbatim")).toBeGreaterThan(0.9)
  expect(share(labelled(cases, "paraphrased", "weakened", "contradicted"), "gone")).toBeLessThan(0.02)
  expect(share(labelled(variants, "paraphrased"), "changed")).toBeGreaterThan(0.9)
  expect(share(labelled(variants, "dropped"), "gone")).toBeGreaterThan(0.99)
})
