import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { unpack } from "./read-body.ts"

const packers: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes),
  "x-gzip": (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  zstd: (bytes) => zstdCompressSync(bytes),
  "gzip, br": (bytes) => brotliCompressSync(gzipSync(bytes)),
  " GZIP ,identity": (bytes) => gzipSync(bytes),
}
const names = Object.keys(packers)
const pack = (name: string, bytes: Buffer): Buffer => packers[name]?.(bytes) ?? bytes

test.each(names)("%s is decompressed", async (name) => {
  const bytes = Buffer.from('{"model":"m","text":"größer"}')
  expect(await unpack(pack(name, bytes), name, 1000)).toEqual(bytes)
})

test("deflate without its header is decompressed, and a body without an encoding is unchanged", async () => {
  const bytes = Buffer.from("text ".repeat(50))
  expect(await unpack(deflateRawSync(bytes), "deflate", 1000)).toEqual(bytes)
  expect(await unpack(bytes, undefined, 1000)).toBe(bytes)
  expect(await unpack(bytes, "", 1000)).toBe(bytes)
  expect(await unpack(Buffer.alloc(0), "gzip", 1000)).toEqual(Buffer.alloc(0))
})

test.each<[encoding: string, bytes: Buffer, expected: RegExp]>([
  ["gzip", Buffer.from("plain"), /cannot be decompressed/],
  ["gzip", gzipSync("text").subarray(0, 15), /cannot be decompressed/],
  ["br", Buffer.from([255, 255, 255]), /cannot be decompressed/],
  ["zstd", Buffer.from("plain"), /cannot be decompressed/],
  ["deflate", Buffer.from([1]), /cannot be decompressed/],
  ["rot13", Buffer.from("x"), /one of gzip/],
  ["__proto__", Buffer.from("x"), /one of gzip/],
  ["gzip, gzip, gzip", Buffer.from("x"), /at most 2 encodings/],
  [",".repeat(2000), Buffer.alloc(2000), /at most 1000 are read/],
])("a body that is not %j is refused", async (encoding, bytes, expected) => {
  await expect(unpack(bytes, encoding, 1000)).rejects.toThrow(expected)
})

test.each(names)("%s that decompresses to one byte above the limit is refused", async (name) => {
  const bytes = Buffer.alloc(1001, "x")
  await expect(unpack(pack(name, bytes), name, 1000)).rejects.toMatchObject({
    problem: { code: "body-too-large", limit: 1000 },
  })
  expect(await unpack(pack(name, bytes.subarray(1)), name, 1000)).toHaveLength(1000)
})

/** Small bodies that decompress to a gigabyte, or to a tenth of one if compressing that much takes too long. */
const bombs: readonly (readonly [encoding: string, make: () => Buffer])[] = [
  ["gzip", () => Buffer.concat(Array<Buffer>(1000).fill(gzipSync(Buffer.alloc(1_000_000))))],
  ["gzip, gzip", () => gzipSync(gzipSync(Buffer.alloc(100_000_000)))],
  ["deflate", () => deflateSync(Buffer.alloc(100_000_000), { level: 1 })],
  ["br", () => brotliCompressSync(Buffer.alloc(100_000_000), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ["zstd", () => zstdCompressSync(Buffer.alloc(100_000_000))],
]

test.each(bombs)("a decompression bomb in %s is refused before it is decompressed", async (encoding, make) => {
  const bomb = make()
  const before = process.memoryUsage().rss
  await expect(unpack(bomb, encoding, 1_000_000)).rejects.toThrow(/at most 1000000 are read/)
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000)
})

test("any compressed bytes are restored; other bytes are refused or read as bytes", async () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom(...names), async (body, name) => {
      expect(await unpack(pack(name, body), name, 1000)).toEqual(body)
      const read = await unpack(body, name, 1000).catch((error: unknown) => error)
      expect(read instanceof Buffer || read instanceof HoldfastError).toBe(true)
    }),
    { numRuns: 200 },
  )
})
