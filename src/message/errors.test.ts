import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { describe as describeProblem } from "./errors.ts"
import words from "./problems.json" with { type: "json" }

const source = readFileSync(new URL("errors.ts", import.meta.url), "utf8")

/** The fields of a problem, as the union has them. */
const fieldsOf = (code: string): readonly string[] => {
  const [member = ""] = source.split(`readonly code: "${code}"`)[1]?.split(/\n {2}(?:\||\/\*\*)|\n\n/) ?? []
  return [...member.matchAll(/readonly (\w+)\??:/g)].map(([, name = ""]) => name)
}

test.each(Object.entries(words.problems))(
  "the words of %s name only fields that it has",
  (code, { sentence, next }) => {
    const named = [...`${sentence} ${next}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(fieldsOf(code)).toEqual(expect.arrayContaining(named))
  },
)

test("the values of a problem stand in its words as they are, lists with commas", () => {
  const problem = { code: "format-unknown", found: "the {known} body", known: ["a", "b"] } as const
  expect(describeProblem(problem)).toEqual({
    sentence: "the {known} body is in none of the formats that are read here.",
    next: "Use one of: a, b.",
  })
})
