import type { IncomingMessage } from "node:http"
import { type ByteList, createByteList } from "./byte-list.ts"

/** A body that is there whole, or why it is not: it is too large, there is no room for it now, or the client went away while it sent it. */
export type ReadBody = Buffer | "too-large" | "no-room" | "cut"

/** Bodies that are being read. All of them together take a bounded amount of memory: the largest gives way to the others. */
export type Bodies = { readonly read: (incoming: IncomingMessage, maxBytes: number) => Promise<ReadBody> }

type Reading = { readonly pieces: ByteList; length: number; readonly end: (read: ReadBody) => void }

export function createBodies(roomBytes: number): Bodies {
  const readings = new Set<Reading>()
  let held = 0
  const letGo = (reading: Reading): void => {
    if (!readings.delete(reading)) return
    held -= reading.length
    reading.pieces.clear()
  }
  const makeRoom = (): void => {
    while (held > roomBytes) {
      const [first, ...others] = readings
      if (first === undefined) return
      const largest = others.reduce((most, one) => (one.length > most.length ? one : most), first)
      largest.end("no-room")
    }
  }
  const add = (reading: Reading, piece: Buffer, maxBytes: number): void => {
    if (!readings.has(reading)) return
    reading.length += piece.length
    held += piece.length
    reading.pieces.add(piece)
    if (reading.length > maxBytes) reading.end("too-large")
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
      const reading: Reading = {
        pieces: createByteList(),
        length: 0,
        end: (read) => {
          letGo(reading)
          resolve(read)
        },
      }
      readings.add(reading)
      incoming.on("data", (piece: Buffer) => add(reading, piece, maxBytes))
      incoming.on("end", () => reading.end(reading.pieces.all()))
      incoming.on("error", () => reading.end("cut"))
      incoming.on("close", () => reading.end("cut"))
      return promise
    },
  }
}
