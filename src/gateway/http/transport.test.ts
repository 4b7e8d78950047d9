import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createTcpServer, type Server as TcpServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { afterEach, expect, test } from "vitest"
import { longestPieceShare } from "../../../test/support/longest-piece.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Upstream } from "../settings/upstream.ts"
import { chunksOf, createTransport, readWhole, type UpstreamRequest } from "./transport.ts"

const transport = createTransport()
const servers: (Server | TcpServer)[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    if ("closeAllConnections" in server) server.closeAllConnections()
    server.close()
  }
})

async function originOf(server: Server | TcpServer): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
}

const serving = (handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> =>
  originOf(createServer(handle))

const limits = { connectMs: 1000, answerMs: 5000, idleMs: 5000, retries: 2 }

function sendingTo(origin: string, other: Partial<UpstreamRequest & Upstream> = {}): UpstreamRequest {
  const upstream: Upstream = { name: origin, families: ["openai"], baseUrl: origin, ...limits, ...other }
  const body = Buffer.from('{"a":1}')
  const signal = new AbortController().signal
  return { upstream, origin, path: "/v1/x?y=1", method: "POST", headers: ["X-One", "1"], body, signal, ...other }
}

const problemOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "nothing went wrong",
    (error: unknown) => (error instanceof HoldfastError ? error.problem : error),
  )

test("a request arrives unchanged, and its response with status, headers and bytes", async () => {
  const seen: unknown[] = []
  const origin = await serving(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    seen.push([request.method, request.url, request.headers["x-one"], Buffer.concat(pieces).toString()])
    response.writeHead(418, ["X-Twice", "a", "X-Twice", "b"]).end("short and stout")
  })
  const answer = await transport.send(sendingTo(origin))
  expect(seen).toEqual([["POST", "/v1/x?y=1", "1", '{"a":1}']])
  expect(answer.status).toBe(418)
  expect(answer.rawHeaders.map(String).filter((_, n, all) => all[n - 1] === "X-Twice")).toEqual(["a", "b"])
  expect((await readWhole(answer, 1000))?.toString()).toBe("short and stout")
})

test("a connection that breaks before the first byte is retried, and attempts are counted", async () => {
  let requests = 0
  const origin = await serving((request, response) => {
    if (++requests < 3) request.socket.destroy()
    else response.end("there")
  })
  const answer = await transport.send(sendingTo(origin))
  expect((await readWhole(answer, 100))?.toString()).toBe("there")
  expect(answer.attempts).toBe(3)
})

test("after the last attempt it is a Problem that names only the host", async () => {
  const origin = await serving((request) => request.socket.destroy())
  expect(await problemOf(transport.send(sendingTo(origin, { retries: 1 })))).toMatchObject({
    code: "upstream-unreachable",
    host: origin.slice(7),
  })
})

test("an unreachable server is a Problem", async () => {
  expect(await problemOf(transport.send(sendingTo("http://127.0.0.1:1", { retries: 0 })))).toMatchObject({
    code: "upstream-unreachable",
    reason: "ECONNREFUSED",
  })
})

test("a server that does not respond times out, and is not retried", async () => {
  let requests = 0
  const origin = await serving(() => {
    requests++
  })
  const sending = sendingTo(origin, { answerMs: 300 })
  expect(await problemOf(transport.send(sending))).toMatchObject({ code: "upstream-timeout", limitMs: 300 })
  expect(requests).toBe(1)
})

test("a response that breaks off gives its bytes, then the Problem", async () => {
  const origin = await serving((_request, response) => {
    response.writeHead(200).write("half")
    setTimeout(() => response.socket?.destroy(), 30)
  })
  const answer = await transport.send(sendingTo(origin))
  const got: string[] = []
  const reading = (async () => {
    for await (const chunk of chunksOf(answer)) got.push(chunk.toString())
  })()
  expect(await problemOf(reading)).toMatchObject({ code: "upstream-unreachable" })
  expect(got).toEqual(["half"])
})

test("aborting ends the request at the upstream", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<string>()
  const origin = await serving((request, response) => {
    response.writeHead(200).write("first")
    request.socket.on("close", () => resolve("closed"))
  })
  const stop = new AbortController()
  const answer = await transport.send(sendingTo(origin, { signal: stop.signal }))
  const reading = (async () => {
    for await (const _chunk of chunksOf(answer)) stop.abort()
  })()
  expect(await problemOf(reading)).toMatchObject({ code: "upstream-stopped" })
  expect(await closed).toBe("closed")
})

test("a slow reader slows the upstream down instead of filling memory", async () => {
  const chunk = Buffer.alloc(64 * 1024, 120)
  let written = 0
  const origin = await serving((_request, response) => {
    const more = (): void => {
      if (written++ === 400) response.end()
      else if (response.write(chunk)) more()
      else response.once("drain", more)
    }
    more()
  })
  const answer = await transport.send(sendingTo(origin))
  let length = 0
  let early = 0
  for await (const piece of chunksOf(answer)) {
    length += piece.length
    if (early === 0) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      early = written
    }
  }
  expect(length).toBe(400 * chunk.length)
  expect(early).toBeLessThan(200)
})

test("bytes that are not HTTP are a Problem", async () => {
  const origin = await originOf(createTcpServer((socket) => void socket.end("SSH-2.0-nothing here\r\n")))
  expect(await problemOf(transport.send(sendingTo(origin, { retries: 0 })))).toMatchObject({
    code: "upstream-unreachable",
  })
})

test("a response without a body ends, whenever it is read", async () => {
  const origin = await serving((_request, response) => void response.writeHead(204).end())
  const answer = await transport.send(sendingTo(origin, { method: "HEAD", body: undefined }))
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(await readWhole(answer, 10)).toEqual(Buffer.alloc(0))
})

/** A server in a thread of its own, which goes on writing while this one reads. */
const drippingServer = `
const { parentPort } = require("node:worker_threads")
const chunks = Buffer.from("1\\r\\na\\r\\n".repeat(1_000_000))
const server = require("node:net").createServer((socket) => socket.on("error", () => {}).once("data", () => {
  socket.write("HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n")
  socket.write(chunks)
  socket.end("0\\r\\n\\r\\n")
}))
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))
`

test("a response in a chunk for each byte arrives whole, and others are served meanwhile", async () => {
  const worker = new Worker(drippingServer, { eval: true })
  const [port] = await once(worker, "message")
  const shares: number[] = []
  for (let run = 0; run < 3; run++) {
    const answer = await transport.send(sendingTo(`http://127.0.0.1:${port}`))
    await sleep(100)
    let read: Buffer | undefined
    const reading = async (): Promise<void> => {
      read = await readWhole(answer, 1_000_000)
    }
    shares.push(await longestPieceShare(reading))
    expect(read?.equals(Buffer.alloc(1_000_000, "a"))).toBe(true)
  }
  await worker.terminate()
  expect(Math.max(...shares)).toBeLessThan(0.15)
})
