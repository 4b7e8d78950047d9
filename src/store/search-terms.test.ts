import { expect, test } from "vitest"
import { row } from "../../test/contracts/store/example-rows.ts"
import { codePoints, fc } from "../../test/support/property.ts"
import { isHit, readQuery, searchRows, searchTerms, TERMS_PER_ROW } from "./search-terms.ts"

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

const questions: [query: string, quoted: string[][], words: string[][]][] = [
  ["one two", [], [["one"], ["two"]]],
  ['"one two" three', [["one", "two"]], [["three"]]],
  ["„one two“ three", [["one", "two"]], [["three"]]],
  ["“one two” three", [["one", "two"]], [["three"]]],
  ['one "two three', [], [["one"], ["two"], ["three"]]],
  ['a@b.c "', [], [["a", "b", "c"]]],
  ['"" "-" *', [], []],
  ["What did we decide about the refund?", [], [["decide"], ["refund"]]],
  ["what about the", [], [["what"], ["about"], ["the"]]],
  ["refund refund Refund", [], [["refund"]]],
  [
    "会议什么时候开始",
    [],
    [
      ["会", "议"],
      ["什", "么", "时", "候"],
      ["开", "始"],
    ],
  ],
]
test.each(questions)("the words of %j", (query, quoted, words) => {
  const read = readQuery(query)
  expect(read.quoted.map(({ terms }) => terms)).toEqual(quoted)
  expect(read.words.map(({ terms }) => terms)).toEqual(words)
})

test("for any text, terms are only letters, numbers and marks, and a text is found by itself and by each of its words", () => {
  const property = fc.property(fc.string({ unit: codePoints, maxLength: 60 }), (text) => {
    const terms = searchTerms(text)
    for (const term of terms) expect(term).toMatch(/^[\p{L}\p{N}\p{M}]+$/u)
    if (terms.length <= 64) expect(isHit(terms, readQuery(`"${text.replaceAll(/["“”„]/g, " ")}"`))).toBe(true)
    for (const piece of text.split(/\s+/)) expect(isHit(terms, readQuery(piece.replaceAll(/["“”„]/g, " ")))).toBe(true)
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
    const { quoted, words } = readQuery(long)
    expect([...quoted, ...words].flatMap(({ terms }) => terms).length).toBeLessThanOrEqual(64)
  }
})

test("few hits are ranked, many stay in order, and limits are respected", async () => {
  const rows = Array.from({ length: 201 }, (_, at) => row(201 - at, at === 150 ? "cap cap cap" : "the cap is here"))
  const ids = async (found: typeof rows, limit?: number) =>
    (await searchRows("cap", limit, async (_words, most) => found.slice(0, most))).map((hit) => hit.row.id)
  expect(await ids(rows.slice(0, 200), 2)).toEqual(["m51", "m201"])
  expect(await ids(rows, 2)).toEqual(["m201", "m200"])
  expect(await ids(rows)).toHaveLength(20)
  expect(await ids(rows, 5000)).toHaveLength(201)
  expect(await ids(rows, -1)).toEqual([])
})
