import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { embeddedTree, readTree } from "./json-tree.ts"

const pieces = ["{", "[", "(", '{"a":', "[{", '{"', "{'a':[", "}", "]", ",", ":", '"', "1", "null", " ", "\n"]

test.each(pieces)("%j a hundred thousand times is read without an error", (piece) => {
  const text = piece.repeat(100_000)
  for (const whole of [text, `{${text}`, `{"a": ${text}`, `Result: ${text}`, `{"a": 1, ${text}`]) {
    expect(() => readTree(whole)).not.toThrow()
    expect(() => embeddedTree(whole)).not.toThrow()
  }
})

test("any JSON is read, and what is no JSON is refused without an error", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.array(fc.constantFrom(...pieces)), (json, noise) => {
      if (/^\s*[[{]\s*["'[{\]}\d-]/.test(json)) expect(readTree(json)).toBeDefined()
      readTree(noise.join(""))
      embeddedTree(`Result: ${noise.join("")}`)
    }),
  )
})
