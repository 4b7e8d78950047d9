import type { IncomingMessage } from "node:http"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import { HoldfastError, systemCode } from "../../message/errors.ts"

/** A complete body, or why there is none: it is too large, there is no memory for it now, or the client disconnected. */
export type ReadBody = Buffer | "too-large" | "no-room" | "cut"

/** Reads request bodies within a shared memory limit: if it is exceeded, the largest body is refused. */
export type Bodies = { readonly read: (incoming: IncomingMessage, maxBytes: number) => Promise<ReadBody> }

type PendingBody = {
  readonly pieces: ReturnType<typeof createByteList>
  length: number
  readonly end: (read: ReadBody) => void
}

export function createBodies(roomBytes: number): Bodies {
  const pendingBodies = new Set<PendingBody>()
  let held = 0
  const release = (pending: PendingBody): void => {
    if (!pendingBodies.delete(pending)) return
    held -= pending.length
    pending.pieces.clear()
  }
  const makeRoom = (): void => {
    while (held > roomBytes) {
      const [first, ...others] = pendingBodies
      if (first === undefined) return
      const largest = others.reduce((most, one) => (one.length > most.length ? one : most), first)
      largest.end("no-room")
    }
  }
  const add = (pending: PendingBody, piece: Buffer, maxBytes: number): void => {
    if (!pendingBodies.has(pending)) return
    pending.length += piece.length
    held += piece.length
    pending.pieces.add(piece)
    if (pending.length > maxBytes) pending.end("too-large")
    else makeRoom()
  }
  return {
    read: (incoming, maxBytes) => {
      const { promise, resolve } = Promise.withResolvers<ReadBody>()
      if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) {
        incoming.resume()
        resolve("too-large")
        return promise
      }
      const pending: PendingBody = {
        pieces: createByteList(),
        length: 0,
        end: (read) => {
          release(pending)
          resolve(read)
        },
      }
      pendingBodies.add(pending)
      incoming.on("data", (piece: Buffer) => add(pending, piece, maxBytes))
      incoming.on("end", () => pending.end(pending.pieces.all()))
      incoming.on("error", () => pending.end("cut"))
      incoming.on("close", () => pending.end("cut"))
      return promise
    },
  }
}

/** Size below which chunks are copied into blocks, because a separate object costs about a hundred extra bytes; and the block sizes. */
const smallBytes = 4096
const blockBytes = 65_536
const firstBlockBytes = 8192

/** A list of bytes that uses little more memory than the bytes themselves. */
export function createByteList() {
  let chunks: Uint8Array[] = []
  /** The block that small chunks are copied to, and its used length. */
  let block = Buffer.alloc(0)
  let used = 0
  const closeBlock = (): void => {
    if (used > 0) chunks.push(block.subarray(0, used))
    block = Buffer.alloc(0)
    used = 0
  }
  return {
    add: (chunk: Uint8Array): void => {
      if (chunk.length >= smallBytes || used + chunk.length > block.length) closeBlock()
      if (chunk.length >= smallBytes) return void chunks.push(chunk)
      if (block.length === 0) block = Buffer.allocUnsafeSlow(chunks.length === 0 ? firstBlockBytes : blockBytes)
      block.set(chunk, used)
      used += chunk.length
    },
    clear: (): void => {
      chunks = []
      block = Buffer.alloc(0)
      used = 0
    },
    all: (): Buffer => {
      closeBlock()
      const [first] = chunks
      if (chunks.length !== 1 || first === undefined) return Buffer.concat(chunks)
      return Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    },
  }
}

/** Limit on compression layers: no client compresses a body more than twice, and each layer multiplies the possible size. */
const maxLayers = 2

type Unpack = (bytes: Buffer, limit: { readonly maxOutputLength: number }) => Promise<Buffer>

const gunzip = promisify(zlib.gunzip)
const inflate = promisify(zlib.inflate)
const inflateRaw = promisify(zlib.inflateRaw)

/** Some senders of `deflate` omit the required zlib header: https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.2 */
const deflate: Unpack = (bytes, limit) => {
  const head = bytes.length < 2 ? 0 : bytes.readUInt16BE(0)
  return (((head >> 8) & 15) === 8 && head % 31 === 0 ? inflate : inflateRaw)(bytes, limit)
}

/** Larger zstd windows are not allowed in HTTP: https://www.rfc-editor.org/rfc/rfc9659 */
const zstdParams = { [zlib.constants.ZSTD_d_windowLogMax]: 23 }
const zstd: Unpack = (bytes, limit) => promisify(zlib.zstdDecompress)(bytes, { ...limit, params: zstdParams })

/** Node supports zstd since 22.15. */
const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", deflate],
  ["br", promisify(zlib.brotliDecompress)],
  ...(typeof zlib.zstdDecompress === "function" ? [["zstd", zstd] as const] : []),
])

/** Decompresses a body; never to more than `maxBytes`, whatever the body claims. */
export async function unpack(bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const layers = layersIn(encoding)
  let unpacked = bytes
  for (const layer of layers.reverse()) {
    // An empty body stays empty: clients send the header with empty bodies.
    if (unpacked.length > 0) unpacked = await unpackOne(unpacked, layer, maxBytes)
  }
  if (unpacked.length > maxBytes) throw tooLarge(maxBytes)
  return unpacked
}

function layersIn(encoding: string | undefined): Unpack[] {
  const names = (encoding ?? "").slice(0, 1000).split(",")
  const encodings = names.map((name) => name.trim().toLowerCase()).filter((name) => name !== "" && name !== "identity")
  if (encodings.length > maxLayers) throw invalid(`at most ${maxLayers} encodings`, `${encodings.length}`)
  return encodings.map((name) => {
    const unpacker = unpackers.get(name)
    if (unpacker !== undefined) return unpacker
    throw invalid(`one of ${[...unpackers.keys()].join(", ")}`, JSON.stringify(name.slice(0, 40)))
  })
}

async function unpackOne(bytes: Buffer, layer: Unpack, maxBytes: number): Promise<Buffer> {
  try {
    return await layer(bytes, { maxOutputLength: Math.max(1, maxBytes) })
  } catch (error) {
    if (systemCode(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes)
    throw invalid("a body in the stated encoding", "a body that cannot be decompressed")
  }
}

const tooLarge = (maxBytes: number): HoldfastError =>
  new HoldfastError({ code: "body-too-large", length: maxBytes + 1, limit: maxBytes })

const invalid = (expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "request-invalid", path: "content-encoding", expected, found })
