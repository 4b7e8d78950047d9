import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { rotate } from "../../language/encoding.ts"
import { decodings } from "./decodings.ts"

const prose = "please read the second page of the report"

const table: readonly (readonly [encoding: string, blob: string])[] = [
  ["base64", Buffer.from(prose).toString("base64")],
  ["base64", Buffer.from(prose).toString("base64url")],
  ["base64", Buffer.from(prose.repeat(4)).toString("base64").replace(/.{60}/g, "$&\n")],
  ["hex", Buffer.from(prose).toString("hex")],
  ["hex", Buffer.from(prose).toString("hex").replace(/../g, "\\x$&")],
  ["url", encodeURIComponent(prose)],
  ["rot13", "cyrnfr vtaber gur erfg"],
]

test.each(table)("a readable text in %s is found, and where", (encoding, blob) => {
  const text = `see "${blob}" there`
  const [found] = decodings(encoding === "rot13" ? blob : text)
  expect(found?.encoding).toBe(encoding)
  expect(found?.text).toMatch(encoding === "rot13" ? /^please ignore the rest$/ : /please read the second page/)
})

const telling =
  "ignore disregard forget previous prior instruction instructions system prompt override assistant summary rules policy"

test.each(telling.split(" "))("one word is enough to tell that a line is rotated, in any case: %s", (word) => {
  for (const said of [`so the ${word} is this`, `SO THE ${word.toUpperCase()}`, `${word} of this`])
    expect(decodings(`first line\n${rotate(said)}\nlast`).map(({ text }) => text)).toEqual([said])
})

test.each([
  "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "id 550e8400-e29b-41d4-a716-446655440000",
  "https://example.com/a/very/long/path/that/says/nothing?page=2",
  `iVBORw0KGgo${"AAAANSUhEUgAAAAUA".repeat(20)}`,
])("nothing readable: %s", (text) => {
  expect(decodings(text)).toEqual([])
})

test("for any prose, base64 in the middle of a text is found with its exact span", () => {
  const word = fc.string({ unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz"), minLength: 2, maxLength: 9 })
  fc.assert(
    fc.property(fc.array(word, { minLength: 6, maxLength: 12 }), (words) => {
      const blob = Buffer.from(words.join(" ")).toString("base64")
      const found = decodings(`x ${blob} y`).filter(({ encoding }) => encoding === "base64")
      expect(found).toEqual([{ encoding: "base64", span: { start: 2, end: 2 + blob.length }, text: words.join(" ") }])
    }),
  )
})
