import { expect, test } from "vitest"
import { row } from "../../test/contracts/store/example-rows.ts"
import { fc } from "../../test/support/property.ts"
import { hitLimits, isHit, phrasesOf, rankHits, searchTerms, TERMS_PER_ROW } from "./search-terms.ts"

const cases: [text: string, terms: string[]][] = [
  ["", []],
  ["... --- !!", []],
  ["Hello, World", ["hello", "world"]],
  ["src/store/a-b.test.ts", ["src", "store", "a", "b", "test", "ts"]],
  ["max_page_count", ["max", "page", "count"]],
  ["readEntries W2378156", ["readentries", "w2378156"]],
  ["Größe ÄNDERN naïve", ["grosse", "andern", "naive"]],
  ["東京へ行く", ["東", "京", "へ", "行", "く"]],
  ["iPhone手机15", ["iphone", "手", "机", "15"]],
  ["ガ と カ\u3099 と ｶﾞ", ["ガ", "と", "ガ", "と", "ガ"]],
  ["한국어", ["한", "국", "어"]],
  ["ﬁle ① ½", ["file", "1", "1", "2"]],
  ["x".repeat(100), ["x".repeat(64), "x".repeat(36)]],
]
test.each(cases)("the terms of %j", (text, terms) => {
  expect(searchTerms(text)).toEqual(terms)
})

const questions: [query: string, phrases: string[][]][] = [
  ["one two", [["one"], ["two"]]],
  ['"one two" three', [["one", "two"], ["three"]]],
  ["„one two“ three", [["one", "two"], ["three"]]],
  ["“one two” three", [["one", "two"], ["three"]]],
  ['one "two three', [["one"], ["two"], ["three"]]],
  ['a@b.c "', [["a", "b", "c"]]],
  ['"" "-" *', []],
]
test.each(questions)("the phrases of %j", (query, phrases) => {
  expect(phrasesOf(query)).toEqual(phrases)
})

test("for any text, terms are only letters, numbers and marks, and a text is found by itself and by each of its words", () => {
  const property = fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
    const terms = searchTerms(text)
    for (const term of terms) expect(term).toMatch(/^[\p{L}\p{N}\p{M}]+$/u)
    if (terms.length <= 64) expect(isHit(terms, phrasesOf(`"${text.replaceAll(/["“”„]/g, " ")}"`))).toBe(true)
    for (const piece of text.split(/\s+/)) expect(isHit(terms, phrasesOf(piece.replaceAll(/["“”„]/g, " ")))).toBe(true)
  })
  fc.assert(property)
})

test("text of any length is handled: endless marks, letters or words", () => {
  const longs = [
    "a\u0323\u0301".repeat(1_000_000),
    "x".repeat(5_000_000),
    "ab ".repeat(2_000_000),
    '"'.repeat(3_000_000),
  ]
  for (const long of longs) {
    expect(searchTerms(long).length).toBeLessThanOrEqual(TERMS_PER_ROW)
    expect(phrasesOf(long).flat().length).toBeLessThanOrEqual(64)
  }
})

test("few hits are ranked, many stay in order, and limits are respected", () => {
  const rows = Array.from({ length: 201 }, (_, at) => row(at, at === 150 ? "cap cap cap" : "the cap is here"))
  expect(rankHits(rows.slice(0, 200), [["cap"]], 2).map((hit) => hit.row.id)).toEqual(["m150", "m0"])
  expect(rankHits(rows, [["cap"]], 2).map((hit) => hit.row.id)).toEqual(["m0", "m1"])
  expect(hitLimits()).toEqual({ show: 20, fetch: 201 })
  expect(hitLimits(5000)).toEqual({ show: 1000, fetch: 1000 })
  expect(hitLimits(-1)).toEqual({ show: 0, fetch: 201 })
})
