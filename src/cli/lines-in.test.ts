import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { linesOfStream } from "./sessions-files.ts"

async function read(chunks: readonly Uint8Array[]): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of linesOfStream(stream(chunks))) lines.push(line)
  return lines
}

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

const characters = fc.constantFrom("a", "\n", "é", "👋", "\u2028", "\r", " ")

test("for any text, however it is cut into chunks, its lines come out whole", async () => {
  const property = fc.asyncProperty(
    fc.string({ unit: characters, maxLength: 60 }),
    fc.array(fc.nat(60), { maxLength: 8 }),
    async (text, cuts) => {
      const bytes = new TextEncoder().encode(text)
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((one, other) => one - other),
        bytes.length,
      ]
      const chunks = places.slice(1).map((end, n) => bytes.subarray(places[n], end))
      const expected = text.split("\n")
      expect(await read(chunks)).toEqual(expected.at(-1) === "" ? expected.slice(0, -1) : expected)
    },
  )
  await fc.assert(property)
})

test("bytes that are no UTF-8 are named by their line", async () => {
  const broken = [new TextEncoder().encode("one\n"), new Uint8Array([0xc3, 0x28])]
  await expect(read(broken)).rejects.toMatchObject({ problem: { code: "file-invalid", line: 2 } })
})

test("one long line in many small chunks is read in one pass", async () => {
  const chunk = new Uint8Array(1000).fill(0x78)
  expect((await read(Array.from({ length: 20_000 }, () => chunk)))[0]).toHaveLength(20_000_000)
})
