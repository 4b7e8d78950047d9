import { expect, test } from "vitest"
import { createCountCache, createUtf8Writer } from "./counter.ts"

const write = createUtf8Writer()

function counting(slotBits: number) {
  const asked: string[] = []
  const cache = createCountCache(slotBits)
  const count: Parameters<typeof cache>[3] = ({ bytes }, from, end) => {
    asked.push(String.fromCharCode(...bytes.subarray(from, end)))
    return end - from
  }
  const look = (text: string): number => {
    const utf8 = write(text)
    return cache(utf8, 0, utf8.length, count)
  }
  return { look, asked }
}

test("the same stretch is counted once", () => {
  const { look, asked } = counting(8)
  expect([look("hello"), look("world!"), look("hello")]).toEqual([5, 6, 5])
  expect(asked).toEqual(["hello", "world!"])
})

test("texts with a common beginning or one different character are counted separately", () => {
  const { look } = counting(12)
  for (let length = 1; length < 40; length++) expect(look("a".repeat(length))).toBe(length)
  const texts = Array.from(
    { length: 26 },
    (_, n) => `abc${String.fromCharCode(97 + n)}efg${String.fromCharCode(122 - n)}`,
  )
  const { look: again, asked } = counting(12)
  for (const text of texts) again(text)
  expect(asked).toEqual(texts)
})

test("a full table forgets, and never lies", () => {
  const { look } = counting(4)
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 200; n++) expect(look("x".repeat(1 + (n % 37)) + n)).toBe(1 + (n % 37) + String(n).length)
  }
})

test("what follows in the same buffer plays no part", () => {
  const { look, asked } = counting(8)
  look("abcdefghij")
  look("abc")
  look("zzzzzzzzzz")
  look("abc")
  expect(asked).toEqual(["abcdefghij", "abc", "zzzzzzzzzz"])
})
