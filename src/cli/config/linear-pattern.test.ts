import { expect, test } from "vitest"
import { slowPattern } from "./config-field.ts"

const fast = [
  "sk-[A-Za-z0-9_-]{16,100}",
  "sk-\\w+",
  "\\b\\d{3}-\\d{2}-\\d{4}\\b",
  "\\d{4}[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{4}",
  "[\\w.+-]{1,64}@[\\w.-]{1,200}\\.[a-z]{2,24}",
  "(?:AKIA|ASIA)[A-Z0-9]{16}",
  "password\\s{0,5}[:=]\\s{0,5}\\S{1,200}",
  "foo.*|bar.+",
  "[*+?(]{2}",
  "\\(\\+\\*",
  "(?<year>\\d{4})-\\d\\d",
  "\\p{Lu}{2,5}\\u{1F600}",
]
test.each(fast)("%s is taken", (source) => {
  expect(slowPattern(source)).toBeUndefined()
  expect(() => new RegExp(source, "u")).not.toThrow()
})

const slow: [why: string, source: string, words: string][] = [
  ["a repetition in a repetition", "(?:a+)+", "without a limit"],
  ["a choice that repeats without end", "x(?:a|a)*", "several ways"],
  ["an optional part that repeats without end", "(?:a?b?)*", "several ways"],
  ["a long run in front of something", "BEGIN.*END", "without a limit in front"],
  ["a lazy one too", "BEGIN[^]*?END", "without a limit in front"],
  ["no upper bound in front of something", "\\d{3,}x", "without a limit in front"],
  ["bounded, and still too many ways", "(?:a{0,50}b){1,10}", "too many ways"],
  ["two runs side by side", ".{0,400}.{0,400}x", "side by side"],
  ["a repetition in a bounded repetition", "(?:\\w{1,9}){1,9}x", "too many ways"],
  ["a reference back", "(a)\\1", "refers back"],
  ["a look ahead", "a(?=b)", "looks ahead"],
  ["a look behind", "(?<!a)b", "looks ahead or behind"],
  ["a program", "a".repeat(1001), "longer than"],
]
test.each(slow)("%s is refused with the reason", (_why, source, words) => {
  expect(slowPattern(source)).toContain(words)
})
