import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { linesOf } from "./stdio.ts"

async function read(
  bytes: Uint8Array,
  maxBytes: number,
  cuts: readonly number[] = [],
): Promise<(string | undefined)[]> {
  const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((one, other) => one - other), bytes.length]
  const chunks = async function* () {
    for (const [n, place] of places.entries()) yield bytes.subarray(place, places[n + 1] ?? bytes.length)
  }
  const lines: (string | undefined)[] = []
  for await (const line of linesOf(chunks(), maxBytes)) lines.push(line)
  return lines
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test("lines end with a line break or with the input; blank ones are nothing", async () => {
  expect(await read(bytes("one\r\n\n  \ntwo\nthree"), 10)).toEqual(["one", "two", "three"])
})

test("a line that is too long is passed over, and the next is read", async () => {
  expect(await read(bytes(`ok\n${"x".repeat(11)}\nfine\n${"y".repeat(12)}`), 10)).toEqual([
    "ok",
    undefined,
    "fine",
    undefined,
  ])
})

test("however the bytes arrive, the lines are the same", async () => {
  const text = fc.array(fc.constantFrom("a", "é", "😀", "\n", "long word"), { maxLength: 20 })
  const property = fc.asyncProperty(text, fc.array(fc.nat(60), { maxLength: 6 }), async (words, cuts) => {
    const whole = bytes(words.join(""))
    expect(await read(whole, 12, cuts)).toEqual(await read(whole, 12))
  })
  await fc.assert(property)
})
