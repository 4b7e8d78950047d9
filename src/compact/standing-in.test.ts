import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { message, text } from "../../test/support/transcripts.ts"
import { standingIn, standingInMessages } from "./standing-in.ts"

const pieces = [
  "a",
  "B-12",
  "x@y.example",
  " ",
  "\n",
  ",",
  "(",
  "=",
  ".",
  ":",
  "#",
  "-",
  "é",
  "中文",
  "\u3000",
  "\u00a0",
  "12",
]
const written = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((some) => some.join(""))

/** What the words of a text are, by cutting it up. */
const wordsOf = (said: string): readonly string[] =>
  said
    .split(/[\s"'`,;()<>{}[\]=|*]+/)
    .flatMap((word) => [word, word.replace(/^[.:!?#@-]+/, "").replace(/[.:!?-]+$/, "")])

test("a value of one word stands where a text has that word, with or without the signs that cling to it", () => {
  fc.assert(
    fc.property(fc.array(written, { maxLength: 3 }), written, (texts, asked) => {
      const words = new Set(texts.flatMap(wordsOf))
      for (const value of [asked, ...wordsOf(asked)]) {
        const isOneWord = !/[\s"'`,;()<>{}[\]=|*]/.test(value)
        if (isOneWord) expect(standingIn(texts)(value), JSON.stringify(value)).toBe(words.has(value))
      }
    }),
  )
})

test("a value of several words stands where they follow one another", () => {
  const stands = standingInMessages([message("a", "user", text("Send it to Ann Lee, please."))])
  expect(["Ann Lee", "Ann", "please", "Lee Ann", "nn"].map(stands)).toEqual([true, true, true, false, false])
})
