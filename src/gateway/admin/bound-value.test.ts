import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { boundValue } from "./bound-value.ts"

const wide = { text: 1e6, items: 1e6, total: 1e9 }
const narrow = { text: 10, items: 3, total: 200 }

test("a value within its bounds is copied unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
      expect(boundValue(value, wide)).toEqual({ value, cut: false })
    }),
  )
})

test("for any value, the copy is small, is JSON, and is marked if it is shortened", () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withMap: true, withSet: true, withNullPrototype: true }), (value) => {
      const { value: told } = boundValue(value, narrow)
      expect((JSON.stringify(told) ?? "").length).toBeLessThan(5000)
    }),
  )
})

test.each([
  ["a long text", "x".repeat(11)],
  ["a long list", [1, 2, 3, 4]],
  ["an object of many members", { a: 1, b: 2, c: 3, d: 4 }],
  ["too much together", Array.from({ length: 3 }, () => Array.from({ length: 3 }, () => ["0123456789", "0123456789"]))],
])("%s is shortened and marked", (_what, value) => {
  expect(boundValue(value, narrow).cut).toBe(true)
})

test("a cycle ends, and no surrogate pair is split", () => {
  const circle: { own?: unknown } = {}
  circle.own = circle
  expect(boundValue(circle, wide).cut).toBe(true)
  expect(boundValue("123456789😀", narrow).value).toBe("123456789 … (1 more characters)")
})

test("a member named like the prototype stays a member", () => {
  const { value } = boundValue(JSON.parse('{"__proto__": {"admin": true}}'), wide)
  expect(JSON.stringify(value)).toBe('{"__proto__":{"admin":true}}')
  expect(Object(value).admin).toBeUndefined()
})
