import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { plainSha256, sha256Hex, sha256HexInSteps } from "./sha256.ts"
import { runSteps } from "./steps.ts"

test("any text has one sha256, whoever computes it", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: codePoints }), fc.string({ maxLength: 300 })), (text) => {
      const expected = createHash("sha256").update(text, "utf8").digest("hex")
      expect(sha256Hex(text)).toBe(expected)
      expect(plainSha256(text)).toBe(expected)
    }),
  )
})

test("a text hashed in steps of any length has the same sha256", () => {
  const text = fc.oneof(
    fc.string({ unit: codePoints }),
    fc.string({ unit: fc.constantFrom("a", "é", "語", "😀", "\ud83d") }),
  )
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (said, atOnce) => {
      expect(runSteps(sha256HexInSteps(said, atOnce))).toBe(sha256Hex(said))
    }),
  )
})

test("half a character is the sign for one that cannot be read", () => {
  expect(sha256Hex("a\ud800b")).toBe(sha256Hex("a\ufffdb"))
  expect(plainSha256("a\ud800b")).toBe(plainSha256("a\ufffdb"))
})
