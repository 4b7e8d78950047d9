import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { PassThrough } from "node:stream"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js"
import { expect, test } from "vitest"
import { sampleSource } from "../../test/fixtures/mcp/sample-source.ts"
import { bundleProgram } from "../../test/support/programs.ts"
import type { McpSource } from "./source.ts"
import { serveStdio } from "./stdio.ts"

const entry = await bundleProgram(new URL("../../test/fixtures/mcp/serve-sample.ts", import.meta.url))

const request = (id: number, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`

const hello = request(0, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
})

const recall = (id: number, handle: string): string =>
  request(id, "tools/call", { name: "recall", arguments: { handle } })

/** Everything that a child says until it ends. */
async function talk(input: string | Uint8Array): Promise<{ code: number | null; lines: string[]; stderr: string }> {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [entry])
  const said = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => (said.stdout += chunk))
  child.stderr.on("data", (chunk) => (said.stderr += chunk))
  child.stdin.end(input)
  const code = await new Promise<number | null>((done) => child.on("close", done))
  expect(said.stdout.endsWith("\n")).toBe(true)
  return { code, lines: said.stdout.trimEnd().split("\n"), stderr: said.stderr }
}

/** Every line has to be a message of the protocol. */
const messages = (lines: readonly string[]) => lines.map((line) => JSONRPCMessageSchema.parse(JSON.parse(line)))

const idsOf = (lines: readonly string[]): unknown[] =>
  messages(lines).flatMap((message) => ("id" in message && message.id !== undefined ? [message.id] : []))

test("the official client lists, calls and reads in a child process, which ends with it", async () => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [entry], stderr: "pipe" })
  const client = new Client({ name: "test", version: "1" })
  let stderr = ""
  transport.stderr?.on("data", (chunk) => (stderr += chunk))
  await client.connect(transport)
  expect((await client.listTools()).tools).toHaveLength(3)
  expect((await client.listResources()).resources).toHaveLength(2)
  const answers = await Promise.all([
    client.callTool({ name: "recall", arguments: { handle: "h-short" } }),
    client.callTool({ name: "search_memory", arguments: { text: "ferry" } }),
    client.callTool({ name: "list_pins" }),
    client.callTool({ name: "recall", arguments: { handle: "h-none" } }),
    client.readResource({ uri: "holdfast://traces/t2" }),
  ])
  expect(answers.map(({ isError }) => isError === true)).toEqual([false, false, false, true, false])
  const gone = new Promise((done) => transport.stderr?.on("end", done))
  await client.close()
  await gone
  expect(stderr).toBe("ended\n")
})

test("stdout is protocol alone, and what was asked before the input ended is answered", async () => {
  const input = `${hello}${recall(1, "h-long")}${recall(2, "h-fault")}${recall(3, "h-none")}`
  const { code, lines, stderr } = await talk(input)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "ended\n" })
  expect(idsOf(lines).sort()).toEqual([0, 1, 2, 3])
})

test("garbage is answered as such, and the next request is served", async () => {
  const garbage = [
    "not json\n",
    "[]\n",
    "null\n",
    '{"jsonrpc":"1.0"}\n',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}\n',
    `${"[".repeat(100_000)}\n`,
    `"${"x".repeat(2_000_000)}"\n`,
    '{"jsonrpc":"2.0","method":"notifications/unknown"}\n',
    '{"jsonrpc":"2.0","id":99,"result":{}}\n',
    "\n\r\n",
  ]
  const { code, lines } = await talk(
    `${garbage.join("")}${hello}${request(1, "no/such/method")}${recall(2, "h-short")}`,
  )
  const said = messages(lines)
  expect(code).toBe(0)
  expect(said.filter((message) => "error" in message && message.id === undefined)).toHaveLength(7)
  expect(said.find((message) => "id" in message && message.id === 1)).toMatchObject({ error: { code: -32601 } })
  expect(said.find((message) => "id" in message && message.id === 2)).toMatchObject({ result: { content: [{}] } })
})

test("bytes that are no UTF-8 do not end it", async () => {
  const input = Buffer.concat([
    Buffer.from([0xff, 0xfe, 0x0a, 0x00, 0x0a]),
    Buffer.from(`${hello}${recall(1, "h-short")}`),
  ])
  expect(idsOf((await talk(input)).lines)).toEqual([0, 1])
})

test("a request that was called off is not waited for", async () => {
  const input = new PassThrough()
  const asked = Promise.withResolvers<void>()
  const source = {
    ...sampleSource,
    pins: () => {
      asked.resolve()
      return new Promise<never>(() => {})
    },
  }
  const served = serveStdio(source, { input, write: async () => {} })
  input.write(`${hello}${request(1, "tools/call", { name: "list_pins", arguments: {} })}`)
  await asked.promise
  input.end(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })}\n`)
  await served
})

/** A source that holds every question about pins until `count` have come. */
function holdUntil(count: number): McpSource {
  const go = Promise.withResolvers<void>()
  let asked = 0
  const pins = async () => {
    if (++asked === count) setImmediate(go.resolve)
    await go.promise
    return []
  }
  return { ...sampleSource, pins }
}

test.each([
  ["one that takes its time is answered although the input has ended", 1, 1],
  ["more than it works on at once wait for their turn and are not refused", 64, 150],
])("of the requests, %s", async (_why, held, sent) => {
  const input = new PassThrough()
  const lines: string[] = []
  const ids = Array.from({ length: sent }, (_, n) => n + 1)
  input.end(hello + ids.map((id) => request(id, "tools/call", { name: "list_pins", arguments: {} })).join(""))
  await serveStdio(holdUntil(held), { input, write: async (line) => void lines.push(line) })
  expect(idsOf(lines).sort((one, other) => Number(one) - Number(other))).toEqual([0, ...ids])
  expect(lines.filter((line) => line.includes('"isError":true'))).toEqual([])
})

test("it ends when it is told to, although its input stays open", async () => {
  const input = new PassThrough()
  const stop = new AbortController()
  const served = serveStdio(sampleSource, { input, write: async () => {}, stop: stop.signal })
  stop.abort()
  await served
  expect(input.destroyed).toBe(true)
})

test("an input that breaks ends it, and is told", async () => {
  const input = new PassThrough()
  const faults: unknown[] = []
  const served = serveStdio(sampleSource, { input, write: async () => {}, onFault: (error) => void faults.push(error) })
  input.destroy(new Error("pipe broke"))
  await served
  expect(faults).toEqual([new Error("pipe broke")])
})

test("a client that reads nothing more does not keep the server waiting", async () => {
  const input = new PassThrough()
  const served = serveStdio(sampleSource, { input, write: () => Promise.reject(new Error("closed pipe")) })
  input.end(`${hello}${recall(1, "h-short")}`)
  await served
})
