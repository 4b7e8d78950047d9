import * as zlib from "node:zlib"
import { HoldfastError } from "../../message/errors.ts"

/** No client packs a body more than twice; each layer more would multiply what a small body can come to. */
const maxLayers = 2

/** Frames that need more memory than this are not for HTTP: https://www.rfc-editor.org/rfc/rfc9659 */
const zstdWindowLog = 23

type Done = (error: Error | null, result: Buffer) => void
type Unpack = (bytes: Buffer, maxOutputLength: number, done: Done) => void

const gunzip: Unpack = (bytes, maxOutputLength, done) => zlib.gunzip(bytes, { maxOutputLength }, done)
const inflate: Unpack = (bytes, maxOutputLength, done) => zlib.inflate(bytes, { maxOutputLength }, done)
const inflateRaw: Unpack = (bytes, maxOutputLength, done) => zlib.inflateRaw(bytes, { maxOutputLength }, done)
const brotli: Unpack = (bytes, maxOutputLength, done) => zlib.brotliDecompress(bytes, { maxOutputLength }, done)
const zstd: Unpack = (bytes, maxOutputLength, done) =>
  zlib.zstdDecompress(bytes, { maxOutputLength, params: { [zlib.constants.ZSTD_d_windowLogMax]: zstdWindowLog } }, done)

/** Some senders of `deflate` leave out the header that it has to have: https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.2 */
const deflate: Unpack = (bytes, maxOutputLength, done) => {
  const head = bytes.length < 2 ? 0 : bytes.readUInt16BE(0)
  return (((head >> 8) & 15) === 8 && head % 31 === 0 ? inflate : inflateRaw)(bytes, maxOutputLength, done)
}

/** Node has had zstd since 22.15. */
const unpackers: ReadonlyMap<string, Unpack> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", deflate],
  ["br", brotli],
  ...(typeof zlib.zstdDecompress === "function" ? [["zstd", zstd] as const] : []),
])

/** A body as it was before it was packed; never is more unpacked than `maxBytes`, whatever the body claims. */
export async function unpack(bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const layers = layersIn(encoding)
  let unpacked = bytes
  for (const layer of layers.reverse()) {
    // Nothing packed is nothing: clients send the header with empty bodies.
    if (unpacked.length > 0) unpacked = await unpackOne(unpacked, layer, maxBytes)
  }
  if (unpacked.length > maxBytes) throw tooLarge(maxBytes)
  return unpacked
}

function layersIn(encoding: string | undefined): Unpack[] {
  const names = (encoding ?? "").slice(0, 1000).split(",")
  const said = names.map((name) => name.trim().toLowerCase()).filter((name) => name !== "" && name !== "identity")
  if (said.length > maxLayers) throw invalid(`at most ${maxLayers} encodings`, `${said.length}`)
  return said.map((name) => {
    const unpacker = unpackers.get(name)
    if (unpacker !== undefined) return unpacker
    throw invalid(`one of ${[...unpackers.keys()].join(", ")}`, JSON.stringify(name.slice(0, 40)))
  })
}

function unpackOne(bytes: Buffer, layer: Unpack, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    layer(bytes, Math.max(1, maxBytes), (error, result) => {
      if (error === null) return resolve(result)
      const isLarge = "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      reject(isLarge ? tooLarge(maxBytes) : invalid("a body packed as it says", "one that does not unpack"))
    })
  })
}

const tooLarge = (maxBytes: number): HoldfastError =>
  new HoldfastError({ code: "body-too-large", length: maxBytes + 1, limit: maxBytes })

const invalid = (expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "request-invalid", path: "content-encoding", expected, found })
