import { expect, test } from "vitest"
import { asciiKinds, kinds } from "./character.ts"

const patterns: readonly (readonly [kind: number, pattern: RegExp])[] = [
  [kinds.newline, /[\r\n]/u],
  [kinds.space, /\s/u],
  [kinds.number, /\p{N}/u],
  [kinds.upper, /[\p{Lu}\p{Lt}]/u],
  [kinds.lower, /\p{Ll}/u],
  [kinds.letter, /[\p{Lm}\p{Lo}]/u],
  [kinds.mark, /\p{M}/u],
]

test("each sign of ASCII is of the kind that the classes of Unicode say, and a byte of a longer character of none", () => {
  const kindOf = (sign: string): number => patterns.find(([, pattern]) => pattern.test(sign))?.[0] ?? kinds.other
  const expected = Array.from({ length: 256 }, (_, code) => (code < 128 ? kindOf(String.fromCharCode(code)) : 0))
  expect([...asciiKinds]).toEqual(expected)
})
