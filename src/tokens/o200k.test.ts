import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, test } from "vitest"
import { corpus, linesOf, withoutCorpus } from "../../test/support/corpus.ts"
import { codePoints, fc, isLongRun, runs } from "../../test/support/property.ts"
import { runSteps } from "../message/steps.ts"
import { countO200k, createCounter, o200k } from "./counter.ts"
import { mergePairs, singleBytes } from "./generated/o200k.ts"
import { readVocabulary } from "./vocabulary.ts"

const numRuns = 3 * runs
const settings = { seed: 20_261_115, numRuns }

/** The reference, told to take special tokens for plain text. */
const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }
const reference = (text: string): number => countTokens(text, plain)

/** The reference drops a byte order mark while it merges, so texts that have one are judged apart. */
const withoutMark = (text: string): string => text.replaceAll("\uFEFF", "")

const letters = [
  "a",
  "Z",
  "the",
  "The",
  "ABCdef",
  "é",
  "É",
  "ß",
  "ǅ",
  "ʰ",
  "ſ",
  "İ",
  "ﬁ",
  "𝒜",
  "𐐀",
  "𐐨",
  "Ω",
  "ж",
  "ء",
  "ไ",
  "한",
]
const marks = ["\u0301", "\u0300", "\u0345", "\uFE0F", "\u200D", "\u{E0100}", "ि"]
const contractions = ["'s", "'S", "'ll", "'LL", "'re", "'vE", "'d", "'m", "'t", "'", "''", "’s", "'l", "'x"]
const numbers = ["1", "12", "123", "1234567", "٣", "½", "Ⅷ", "ⅳ", "𝟙"]
const spaces = [" ", "  ", "     ", "\t", "\n", "\r\n", "\r", "\n\n  ", " \n", "\u00A0", "\u3000", "\u2028", "\u2009"]
const symbols = [
  "/",
  "//",
  "-",
  "--",
  "(",
  ").",
  "!!",
  "_",
  "{\n",
  "/*",
  "=>",
  "\u0000",
  "\u007F",
  "\u0085",
  "€",
  "⇒",
  "😀",
  "👩‍👩‍👧",
  "❤️",
  "🇫🇷",
]
const scripts = ["中文", "字符测试", "の", "日本語テキスト", "한국어", "ภาษาไทย", "हिन्दी", "עברית", "العربية"]
const broken = ["\uD800", "\uDC00", "\uDBFF\uD83D"]
const words = [
  "<|endoftext|>",
  "<|im_start|>",
  "function",
  " return",
  "const x = 1;",
  "https://example.com/a?b=c",
  "snake_case_name",
  "camelCaseName",
]

const mixed = fc
  .array(fc.constantFrom(...[letters, marks, contractions, numbers, spaces, symbols, scripts, broken, words].flat()), {
    maxLength: 24,
  })
  .map((parts) => parts.join(""))
const prose = fc
  .array(
    fc.tuple(fc.constantFrom("", " ", "  ", "\n", "\t"), fc.stringMatching(/^[A-Za-z]{1,12}('[a-z]{1,2})?[.,:;]?$/)),
    { maxLength: 30 },
  )
  .map((parts) => parts.flat().join(""))
const code = fc
  .array(
    fc.tuple(
      fc.constantFrom("\n", "\r\n", "\n    ", "\n\t\t"),
      fc.stringMatching(/^[a-zA-Z_.]{1,14}[(){}[\]=+\-*/<>!&|;:,"'`0-9 ]{0,8}$/),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.flat().join(""))

const kinds: readonly (readonly [string, fc.Arbitrary<string>])[] = [
  ["fragments of every kind, in any order", mixed],
  ["prose with contractions", prose],
  ["code", code],
  ["any code points", fc.string({ unit: codePoints, maxLength: 40 }).map(withoutMark)],
  ["any characters as people see them", fc.string({ unit: "grapheme", maxLength: 40 }).map(withoutMark)],
  [
    "any UTF-16 units, lone surrogates too",
    fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => withoutMark(String.fromCharCode(...units))),
  ],
  [
    "one character again and again",
    fc
      .tuple(fc.constantFrom("a", " ", "=", "中", "😀", "\n", "0", "é", "A", "\t"), fc.integer({ min: 1, max: 400 }))
      .map(([unit, times]) => unit.repeat(times)),
  ],
]

describe("counts what the reference counts", () => {
  test.each(kinds)("for %s", (_name, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(countO200k(text)).toBe(reference(text))
      }),
      settings,
    )
  })

  test("for every code point alone, before a letter and after one", () => {
    const strange: string[] = []
    for (let codePoint = 0; codePoint < 0x30000; codePoint += codePoint < 0x3000 ? 1 : isLongRun ? 13 : 53) {
      if (codePoint === 0xfeff) continue
      const text = `a${String.fromCodePoint(codePoint)}b ${String.fromCodePoint(codePoint)}`
      if (countO200k(text) !== reference(text)) strange.push(codePoint.toString(16))
    }
    expect(strange).toEqual([])
  })

  test("for a text that was counted before", () => {
    const text = "It's been said: 中文 and English, 12345 times.\n".repeat(5)
    expect([countO200k(text), countO200k(text)]).toEqual([reference(text), reference(text)])
  })
})

test.each([
  ["nothing", "", 0],
  ["a special token is plain text", "<|endoftext|>", 7],
  ["a lone surrogate is U+FFFD", "\uD800", countO200k("\uFFFD")],
  ["a byte order mark is one token", "\uFEFF", 1],
])("%s", (_why, text, count) => {
  expect(countO200k(text)).toBe(count)
})

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

test.skipIf(corpus === undefined)(
  `counts what the reference counts in texts of every real trace${withoutCorpus}`,
  () => {
    const texts = linesOf("traces").flatMap(({ line }) =>
      // Every eighth text in the everyday run, all of them in a long one.
      stringsIn(JSON.parse(line)).filter((_, n) => isLongRun || n % 8 === 0),
    )
    const wrong = texts.filter((text) => countO200k(text) !== reference(text))
    expect(texts.length).toBeGreaterThan(0)
    expect(wrong).toEqual([])
  },
)

const unbroken: readonly (readonly [string, string])[] = [
  ["one letter", "a"],
  ["spaces", " "],
  ["newlines", "\n"],
  ["dashes", "-"],
  ["Chinese", "中文字符测试数据处理"],
  ["emoji", "😀👍🏽❤️🚀"],
  ["letters without a pattern", "qjxkzvbwpyfmgc"],
]

test.each(unbroken)("the work for unbroken %s grows as its length does", (_name, unit) => {
  const steps = (bytes: number): number => {
    const before = o200k().steps()
    countO200k(unit.repeat(Math.ceil(bytes / unit.length)))
    return o200k().steps() - before
  }
  const [once, fourfold] = [steps(20_000), steps(80_000)]
  expect(once).toBeGreaterThan(0)
  expect(fourfold / once).toBeLessThan(4.5)
  expect(fourfold).toBeLessThan(80_000 * 3 * 6)
})

test.each(unbroken)("a long run of %s is counted as the reference counts it", (_name, unit) => {
  const text = unit.repeat(Math.ceil(1500 / unit.length))
  expect(countO200k(text)).toBe(reference(text))
})

test.each(unbroken)("a short pattern that repeats without a break is merged once: %s", (_name, unit) => {
  const before = o200k().steps()
  const bytes = 12_000_000
  countO200k(unit.repeat(Math.ceil(bytes / new TextEncoder().encode(unit).length)).slice(0, 4_000_000))
  expect(o200k().steps() - before).toBeLessThan(bytes / 4)
})

test("for any text of millions of characters the work is bounded, and the count is on the safe side of its parts", () => {
  const word = fc.string({ minLength: 1, maxLength: 40 })
  const letters = fc.string({
    unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz"),
    minLength: 5000,
    maxLength: 5000,
  })
  fc.assert(
    fc.property(fc.oneof(word, letters), fc.integer({ min: 4_000_001, max: 9_000_000 }), (unit, length) => {
      const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
      const before = o200k().steps()
      const count = countO200k(text)
      expect(o200k().steps() - before).toBeLessThan(8_000_000)
      const part = text.slice(0, 500_000)
      expect(count).toBeGreaterThan((countO200k(part) / part.length) * length * 0.98)
      expect(count).toBeLessThan((countO200k(part) / part.length) * length * 1.2)
    }),
    { numRuns: Math.ceil(runs / 10) },
  )
})

test("letters without a break or a pattern are merged up to a bound, and counted within two percent", () => {
  let state = 1
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return 97 + (Math.floor(state / 65536) % 26)
  }
  const text = String.fromCharCode(...Array.from({ length: 40_000 }, next)).concat(
    ...Array.from({ length: isLongRun ? 60 : 24 }, () => String.fromCharCode(...Array.from({ length: 50_000 }, next))),
  )
  const before = o200k().steps()
  const count = countO200k(text)
  expect(o200k().steps() - before).toBeLessThan(text.length)
  const parts = text.match(/[a-z]{1,50000}/g) ?? []
  const exact = parts.reduce((sum, part) => sum + countO200k(part), 0)
  expect(Math.abs(count / exact - 1)).toBeLessThan(0.02)
})

test("a piece of more than a megabyte is counted in stretches, off by a few tokens at most", () => {
  expect(Math.abs(countO200k("a".repeat(2_500_000)) - 2_500_000 / 8)).toBeLessThan(8)
})

const vocabulary = readVocabulary(singleBytes, mergePairs)
const fresh = () => createCounter(vocabulary)

test("a text counted some kilobytes at a time has the same count, and counting it again takes no more merging", () => {
  const words = fc.constantFrom(
    "the ",
    "naïve ",
    "部署之前必须运行测试。",
    "0x7fff ",
    "\n\n",
    "aB3_",
    "🚆",
    "ﬀ",
    "\t\t",
    "zzzzzzzzzzzz",
  )
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 1, maxLength: 20 }),
      fc.constantFrom(1, 9000, 70_000, 400_000),
      (some, units) => {
        const page = some.join("")
        const text = page.repeat(Math.ceil(units / page.length))
        const counter = fresh()
        const counted = runSteps(counter.countSteps(text))
        const steps = counter.steps()
        expect(counter.count(text)).toBe(counted)
        if (text.length > 90_000) expect(counter.steps()).toBe(steps)
        expect(fresh().count(text)).toBe(counted)
      },
    ),
    { numRuns: Math.min(runs, 12) },
  )
})

test("counting three megabytes in steps has no long step", () => {
  const random = (n: number): string => ((n * 2_654_435_761) >>> 0).toString(36)
  const text = Array.from({ length: 400_000 }, (_, n) => random(n)).join(" ")
  const steps = fresh().countSteps(text)
  let longestMs = 0
  for (let done = false; !done; ) {
    const before = process.threadCpuUsage()
    done = steps.next().done === true
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1000)
  }
  // All of it takes some hundred.
  expect(longestMs).toBeLessThan(80)
})
