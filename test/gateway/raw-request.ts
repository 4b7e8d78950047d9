import { connect, type Socket } from "node:net"

/** What was received over a connection, and whether the other side closed it. */
export type RawAnswer = { readonly text: string; readonly isClosed: boolean }

/** An answer counts as complete when nothing arrived for this time. */
const quietMs = 150
const longestMs = 5000

/** Writes bytes to a port as they are, and reads until there is silence after an answer, or the end. */
export function sendRaw(port: number, pieces: string | Buffer | readonly (string | Buffer)[]): Promise<RawAnswer> {
  const socket = connect(port, "127.0.0.1")
  for (const piece of Array.isArray(pieces) ? pieces : [pieces]) socket.write(latin(piece))
  return readRaw(socket)
}

const latin = (piece: string | Buffer): Buffer => (typeof piece === "string" ? Buffer.from(piece, "latin1") : piece)

export function readRaw(socket: Socket): Promise<RawAnswer> {
  const { promise, resolve } = Promise.withResolvers<RawAnswer>()
  let text = ""
  let quiet = setTimeout(() => end(false), longestMs)
  const end = (isClosed: boolean): void => {
    clearTimeout(quiet)
    socket.destroy()
    resolve({ text, isClosed })
  }
  socket.on("data", (data: Buffer) => {
    text += data.toString("latin1")
    clearTimeout(quiet)
    quiet = setTimeout(() => end(false), quietMs)
  })
  socket.on("error", () => end(true))
  socket.on("close", () => end(true))
  return promise
}

/** Returns the status of every answer received. */
export const statusesIn = ({ text }: RawAnswer): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
