import { createServer, type Socket } from "node:net"

/** An upstream that writes whatever bytes a test needs. */
export type RawUpstream = {
  readonly url: string
  /** Number of connections accepted, and every request as received. */
  readonly connections: () => number
  readonly heard: () => readonly string[]
  readonly close: () => Promise<void>
}

/** Called once for every request whose head has arrived; `count` numbers the requests of the connection. */
export type Answering = (socket: Socket, request: string, count: number) => void

export async function startRawUpstream(
  answer: Answering,
  onConnection: (socket: Socket) => void = () => {},
): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  const heard: string[] = []
  let connections = 0
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => {})
    onConnection(socket)
    let count = 0
    let text = ""
    socket.on("data", (data) => {
      text += data.toString("latin1")
      for (let whole = wholeIn(text); whole !== undefined; whole = wholeIn(text)) {
        text = text.slice(whole.length)
        heard.push(whole)
        count++
        answer(socket, whole, count)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    heard: () => heard,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Returns the first request in the text, if it is complete. */
function wholeIn(text: string): string | undefined {
  const head = text.indexOf("\r\n\r\n")
  if (head < 0) return undefined
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1] ?? 0)
  return text.length < head + 4 + length ? undefined : text.slice(0, head + 4 + length)
}

/** Returns a whole answer as bytes. */
export const wholeAnswer = (body: string | Buffer, lines: readonly string[] = [], status = "200 OK"): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`),
    Buffer.from(["content-type: application/json", ...lines].map((line) => `${line}\r\n`).join("")),
    Buffer.from("\r\n"),
    Buffer.from(body),
  ])

export const chunkOf = (text: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n`), Buffer.from(text), Buffer.from("\r\n")])

export const streamHead = (lines: readonly string[] = []): string =>
  `HTTP/1.1 200 OK\r\n${["content-type: text/event-stream", "transfer-encoding: chunked", ...lines].join("\r\n")}\r\n\r\n`
