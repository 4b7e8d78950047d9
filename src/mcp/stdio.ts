import { Readable } from "node:stream"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js"
import { withinMs } from "../model/within-ms.ts"
import { tryParse } from "../wire/json.ts"
import { createMcpServer, loadSdk, type McpServerOptions, type Sdk } from "./create-server.ts"
import { limitSource, type McpSource, maxAnswerMs, type OnFault } from "./source.ts"

type StdioOptions = McpServerOptions &
  StdioPipes & {
    /** Ends the server before its input ends. */
    readonly stop?: AbortSignal
  }

/** Serves MCP on two pipes until the input has ended and every request is answered. Only protocol messages are written. */
export async function serveStdio(source: McpSource, options: StdioOptions): Promise<void> {
  const { stop, onFault = () => {} } = options
  const { transport, ended } = createStdioTransport(await loadSdk(), options, onFault)
  const server = await createMcpServer(limitSource(source), options)
  await server.connect(transport)
  try {
    await (stop === undefined ? ended : Promise.race([ended, stopped(stop)]))
  } finally {
    await server.close()
  }
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })

/** A call has a few hundred bytes. */
const maxLineBytes = 1_000_000
/** Maximum number of requests in progress; further ones wait in the pipe. */
const maxOpen = 64
/** Every query to the source has ended by then. */
const maxWaitMs = maxAnswerMs + 5000

/** JSON-RPC error codes. */
const parseError = -32700
const invalidRequest = -32600

type StdioPipes = {
  readonly input: AsyncIterable<Uint8Array>
  /** Writes complete texts, one after the other. */
  readonly write: (text: string) => Promise<void>
}

/** Requests without an answer yet. */
function createOpenRequests() {
  const open = new Set<string | number>()
  let waiting: { readonly count: number; readonly go: () => void } | undefined
  return {
    add: (id: string | number): void => void open.add(id),
    remove: (id: string | number): void => {
      open.delete(id)
      if (waiting !== undefined && open.size < waiting.count) waiting.go()
    },
    /** Waits until fewer than `count` are open. */
    fewerThan: async (count: number): Promise<void> => {
      if (open.size < count) return
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting = { count, go: resolve }
      await promise
      waiting = undefined
    },
  }
}

/** MCP over two pipes, one message per line; any other line gets an error. `ended`: the input is over, every request answered. */
function createStdioTransport({ MessageSchema }: Sdk, { input, write }: StdioPipes, onFault: OnFault) {
  const open = createOpenRequests()
  let closed = false
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const complain = (code: number, message: string) =>
    write(`${JSON.stringify({ jsonrpc: "2.0", error: { code, message } })}\n`)

  const receive = async (line: string | undefined): Promise<void> => {
    if (line === undefined) return await complain(invalidRequest, `The message has more than ${maxLineBytes} bytes.`)
    const value = tryParse(line)
    if (value === undefined) return await complain(parseError, "The line is not JSON.")
    const { data: message } = MessageSchema.safeParse(value)
    if (message === undefined) return await complain(invalidRequest, "The line is no JSON-RPC message.")
    if ("method" in message && "id" in message) open.add(message.id)
    const cancelled = cancelledBy(message)
    transport.onmessage?.(message)
    // A cancelled request gets no answer.
    if (cancelled !== undefined) open.remove(cancelled)
  }
  const room = (count: number): Promise<void> =>
    withinMs(
      () => open.fewerThan(count),
      maxWaitMs,
      () => ({ code: "store-unavailable", store: "session", reason: `no answer within ${maxWaitMs} ms` }),
    )
  const readAll = async (): Promise<void> => {
    for await (const line of linesOf(input, maxLineBytes)) {
      await room(maxOpen)
      await receive(line)
    }
    await room(1)
  }
  const fail = (error: unknown): void => {
    if (!closed) onFault(error)
    end()
  }
  const transport: Transport = {
    start: async () => void readAll().then(end, fail),
    send: async (message) => {
      try {
        await write(`${JSON.stringify(message)}\n`)
      } finally {
        if (!("method" in message) && message.id !== undefined) open.remove(message.id)
      }
    },
    close: async () => {
      closed = true
      // An open pipe would keep the process alive.
      if (input instanceof Readable) input.destroy()
      transport.onclose?.()
    },
  }
  return { transport, ended }
}

function cancelledBy(message: JSONRPCMessage): string | number | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined
  const id: unknown = message.params?.requestId
  return typeof id === "string" || typeof id === "number" ? id : undefined
}

const lineBreak = 0x0a

/** Yields the non-blank lines of a byte stream. A line longer than `maxBytes` is `undefined` and is not kept in memory. */
export async function* linesOf(input: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string | undefined> {
  let pieces: Uint8Array[] = []
  let length = 0
  const add = (piece: Uint8Array): void => {
    length += piece.length
    if (length > maxBytes) pieces = []
    else pieces.push(piece)
  }
  const take = (): string | undefined => {
    const line = length > maxBytes ? undefined : Buffer.concat(pieces).toString("utf8").trim()
    pieces = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let start = 0
    for (let end = chunk.indexOf(lineBreak); end >= 0; end = chunk.indexOf(lineBreak, start)) {
      add(chunk.subarray(start, end))
      start = end + 1
      const line = take()
      if (line !== "") yield line
    }
    add(chunk.subarray(start))
  }
  const last = take()
  if (last !== "") yield last
}
