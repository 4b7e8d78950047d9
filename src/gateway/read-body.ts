import type { IncomingMessage } from "node:http"

/** A body that is there whole, or why it is not: it is too large, or the client went away while it sent it. */
export type ReadBody = Buffer | "too-large" | "cut"

/** Read a body up to a limit. Of one that is larger no more is kept than the limit. */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  const { promise, resolve } = Promise.withResolvers<ReadBody>()
  if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) {
    incoming.resume()
    resolve("too-large")
    return promise
  }
  let pieces: Buffer[] = []
  let length = 0
  incoming.on("data", (piece: Buffer) => {
    length += piece.length
    if (length <= maxBytes) return void pieces.push(piece)
    pieces = []
    resolve("too-large")
  })
  incoming.on("end", () => resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)))
  incoming.on("error", () => resolve("cut"))
  incoming.on("close", () => resolve("cut"))
  return promise
}
