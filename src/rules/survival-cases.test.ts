import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { type SurvivalVerdict, survival, survivalOf } from "./survival.ts"
import { candidateOf } from "./survival-candidates.ts"
import { indexText, sharing } from "./survival-index.ts"
import { readText } from "./survival-reading.ts"

/** A rule, a text and what the text makes of it, labelled before anything was changed for it; each set was new when it was first looked at. */
type Case = {
  readonly half: "first" | "second" | "third" | "fourth" | "fifth" | "held-out"
  readonly class: string
  readonly label: SurvivalVerdict
  readonly rule: string
  readonly text: string
}

const cases: readonly Case[] = readFileSync(
  new URL("../../test/fixtures/pin/survival-cases.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))

const isCertified = (verdict: SurvivalVerdict): boolean => verdict === "preserved" || verdict === "paraphrased"

describe.each(["first", "second", "third", "fourth", "fifth"] as const)("the %s set", (half) => {
  const own = cases.filter((given) => given.half === half)

  test("nothing that lost, softened or turned its rule is certified", () => {
    const wrong = own.filter(
      ({ label, rule, text }) => !isCertified(label) && isCertified(survival(rule, text).verdict),
    )
    expect(wrong).toEqual([])
  })

  test("a rule that stands word for word among harmless neighbours is preserved", () => {
    const kept = own.filter(({ label }) => label === "preserved")
    expect(kept.length).toBeGreaterThan(10)
    expect(kept.filter(({ rule, text }) => survival(rule, text).verdict !== "preserved")).toEqual([])
  })

  test("most true paraphrases are seen to be the same", () => {
    const same = own.filter(({ label }) => label === "paraphrased")
    const seen = same.filter(({ rule, text }) => isCertified(survival(rule, text).verdict))
    expect(seen.length / same.length).toBeGreaterThan(0.8)
  })
})

test("of the set for which nothing was changed, few are certified wrongly and nothing that turns a rule round", () => {
  const own = cases.filter(({ half, label }) => half === "held-out" && !isCertified(label))
  const wrong = own.filter(({ rule, text }) => isCertified(survival(rule, text).verdict))
  expect(wrong.length / own.length).toBeLessThan(0.1)
  expect(wrong.filter(({ label }) => label !== "weakened")).toEqual([])
})

const rules = [...new Set(cases.map(({ rule }) => rule))]
const texts = fc
  .array(fc.constantFrom(...cases.map(({ text }) => text)), { maxLength: 4 })
  .map((list) => list.join("\n\n"))

test("of many rules each gets the verdict that it gets alone", () => {
  const picked = fc.array(fc.constantFrom(...rules, "", "No.", "\ud800"), { maxLength: 8 })
  fc.assert(
    fc.property(picked, texts, (asked, text) => {
      expect(survivalOf(asked, text)).toEqual(asked.map((rule) => survival(rule, text)))
    }),
  )
})

test("a sentence that is passed over would have counted for nothing", () => {
  fc.assert(
    fc.property(fc.constantFrom(...rules), texts, (rule, text) => {
      const [asked] = readText(rule, "en").sentences
      if (asked === undefined) return
      const indexed = indexText(readText(text, asked.language))
      const shared = new Set(sharing(indexed, asked.meaning))
      indexed.sentences.forEach((sentence, at) => {
        const names = sentence.terms.some(({ concept }) => concept !== undefined && asked.meaning.says.has(concept))
        if (!names || shared.has(at)) return
        const over = new Set(sentence.under.flatMap((place) => [...(indexed.sentences[place]?.meaning.says ?? [])]))
        expect(candidateOf(sentence, asked.meaning, over).verdict).toBe("dropped")
      })
    }),
  )
})
