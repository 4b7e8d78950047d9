import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { commonPrefix } from "./fast-path.ts"

const slowly = (one: Buffer, other: Buffer): number => {
  let at = 0
  while (at < one.length && at < other.length && one[at] === other[at]) at++
  return at
}

const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array))

test("for any two texts, the result equals a byte-by-byte comparison", () => {
  fc.assert(
    fc.property(bytes, bytes, bytes, (shared, one, other) => {
      const [left, right] = [Buffer.concat([shared, one]), Buffer.concat([shared, other])]
      expect(commonPrefix(left, right)).toBe(slowly(left, right))
      expect(commonPrefix(right, left)).toBe(slowly(left, right))
    }),
  )
})

test("a single differing byte is found in two megabytes", () => {
  const one = Buffer.alloc(1_000_000, "abc")
  for (const at of [0, 1, 63, 64, 65, 499_999, 999_998, 999_999]) {
    const other = Buffer.from(one)
    other[at] = 0
    expect(commonPrefix(one, other)).toBe(at)
  }
})
