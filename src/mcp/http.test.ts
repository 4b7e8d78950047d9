import { request as openRequest } from "node:http"
import { connect as openSocket } from "node:net"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { afterEach, describe, expect, test } from "vitest"
import { forgedText, sampleSource } from "../../test/fixtures/mcp/sample-source.ts"
import type { Listening } from "../gateway/http/listen.ts"
import { type HttpOptions, maxBodyBytes, serveHttp } from "./http.ts"
import type { McpSource } from "./source.ts"

const token = "0123456789abcdef-token"
const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function start(options: Partial<HttpOptions> = {}, source: McpSource = sampleSource): Promise<Listening> {
  const serving = await serveHttp(source, { port: 0, ...options })
  open.push(serving.close)
  return serving
}

async function connect({ port }: Listening, bearer?: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" })
  const headers: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers },
  })
  await client.connect(transport)
  open.push(() => client.close())
  return client
}

const usual = { "content-type": "application/json", accept: "application/json, text/event-stream" }
const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })

type Sent = { readonly method?: string; readonly path?: string; readonly body?: string }
type Got = { readonly status: number; readonly body: string; readonly headers: NodeJS.Dict<string | string[]> }

/** A request verbatim, the Host header included. */
function send({ port }: Listening, headers: Record<string, string>, { method, path, body }: Sent = {}): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const sent = openRequest(
    { host: "127.0.0.1", port, method: method ?? "POST", path: path ?? "/mcp", headers: { ...usual, ...headers } },
    (response) => {
      let text = ""
      response.on("data", (chunk) => (text += chunk))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }))
    },
  )
  sent.on("error", reject)
  sent.end(body ?? (method === undefined || method === "POST" ? ping : undefined))
  return promise
}

describe("the official client", () => {
  test("lists, calls and reads", async () => {
    const client = await connect(await start())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["recall", "search_memory", "list_pins"])
    expect((await client.listResources()).resources).toHaveLength(2)
    expect(await client.callTool({ name: "search_memory", arguments: { text: "ferry" } })).toMatchObject({
      structuredContent: { hits: { length: 3 } },
    })
    expect(await client.callTool({ name: "list_pins" })).toMatchObject({ structuredContent: { total: 2 } })
    expect(await client.callTool({ name: "recall", arguments: { handle: "h-none" } })).toMatchObject({ isError: true })
    const forged = JSON.stringify(await client.callTool({ name: "recall", arguments: { handle: "h-forged" } }))
    expect(forged).not.toContain(JSON.stringify(forgedText).slice(1, -1))
    expect(forged.match(/<\/stored-data>/g)).toHaveLength(1)
    expect(await client.readResource({ uri: "holdfast://traces/t2" })).toMatchObject({ contents: [{}] })
    await expect(client.readResource({ uri: "holdfast://traces/none" })).rejects.toThrow("no such trace")
  })

  test("several at once get each their own answers", async () => {
    const serving = await start()
    const clients = await Promise.all([connect(serving), connect(serving), connect(serving)])
    const handles = ["h-short", "h-empty", "h-forged"]
    const answers = await Promise.all(
      clients.flatMap((client) => handles.map((handle) => client.callTool({ name: "recall", arguments: { handle } }))),
    )
    expect(new Set(answers.slice(0, 3).map((answer) => JSON.stringify(answer))).size).toBe(3)
    expect(answers.slice(3, 6)).toEqual(answers.slice(0, 3))
    expect(answers.slice(6)).toEqual(answers.slice(0, 3))
  })

  test("goes on when the server was started anew", async () => {
    const serving = await start()
    const client = await connect(serving)
    await serving.close()
    await start({ port: serving.port })
    expect((await client.listTools()).tools).toHaveLength(3)
  })

  test("with the right token is served, with a wrong one or none is not", async () => {
    const serving = await start({ token })
    expect((await (await connect(serving, token)).listTools()).tools).toHaveLength(3)
    await expect(connect(serving, `${token}x`)).rejects.toThrow()
    await expect(connect(serving)).rejects.toThrow()
  })
})

describe("who is let in", () => {
  const cases: [why: string, options: Partial<HttpOptions>, headers: Record<string, string>, status: number][] = [
    ["this machine by address", {}, { host: "127.0.0.1:1" }, 200],
    ["this machine by name", {}, { host: "LocalHost:80" }, 200],
    ["this machine by IPv6", {}, { host: "[::1]:99" }, 200],
    ["a name that was rebound to this machine", {}, { host: "evil.example:4142" }, 403],
    ["a name that looks like an address", {}, { host: "127.0.0.1.evil.example" }, 403],
    ["an address of another network", {}, { host: "192.168.1.7" }, 403],
    ["an address in another spelling", {}, { host: "0x7f.1" }, 403],
    ["a Host that cannot be read", {}, { host: "a b" }, 403],
    ["a name that was allowed", { allowedHosts: ["Box.example"] }, { host: "box.example:8443" }, 200],
    ["a foreign page", {}, { origin: "https://evil.example" }, 403],
    ["a page of this machine that nobody allowed", {}, { origin: "http://localhost:3000" }, 403],
    ["a page without a name", {}, { origin: "null" }, 403],
    ["a page that was allowed", { allowedOrigins: ["https://app.example"] }, { origin: "https://app.example" }, 200],
    [
      "a page that only begins like it",
      { allowedOrigins: ["https://app.example"] },
      { origin: "https://app.example.evil" },
      403,
    ],
    ["nobody without token", { token }, {}, 401],
    ["nobody with a part of the token", { token }, { authorization: `Bearer ${token.slice(0, -1)}` }, 401],
    ["nobody with another scheme", { token }, { authorization: `Basic ${token}` }, 401],
    ["whoever has the token", { token }, { authorization: `bearer ${token}` }, 200],
  ]
  test.each(cases)("%s", async (_why, options, headers, status) => {
    expect((await send(await start(options), headers)).status).toBe(status)
  })

  test("a page that was allowed may ask first and may read the answer", async () => {
    const serving = await start({ token, allowedOrigins: ["https://app.example"] })
    const origin = "https://app.example"
    const asked = await send(serving, { origin }, { method: "OPTIONS" })
    expect(asked).toMatchObject({ status: 204, headers: { "access-control-allow-origin": origin } })
    const answer = await send(serving, { origin, authorization: `Bearer ${token}` })
    expect(answer).toMatchObject({ status: 200, headers: { "access-control-allow-origin": origin, vary: "origin" } })
  })

  test("beyond this machine it wants a token, answers to addresses, and to names only if they are known", async () => {
    await expect(start({ host: "0.0.0.0" })).rejects.toThrow("The option token is missing")
    const serving = await start({ host: "0.0.0.0", token, allowedHosts: ["box.example"] })
    const authorization = `Bearer ${token}`
    const statuses = ["192.168.1.7:80", "box.example", "evil.example"].map(
      async (host) => (await send(serving, { host, authorization })).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 403])
    expect((await send(serving, {})).status).toBe(401)
  })

  test.each([
    ["a token that could be guessed", { token: "short" }, "The option token"],
    ["a token with blanks", { token: "0123456789 abcdef" }, "The option token"],
    ["a port that is none", { port: 70_000 }, "The option port"],
    ["an address of another machine", { host: "203.0.113.9", token }, "The option host"],
  ])("%s is refused at the start, and no token is repeated", async (_why, options, words) => {
    const failure = await start(options).then(
      () => "",
      (error: unknown) => String(error),
    )
    expect(failure).toContain(words)
    expect(failure).not.toMatch(/short"|0123456789/)
  })

  test("a port that is taken is a Problem", async () => {
    const { port } = await start()
    await expect(start({ port })).rejects.toThrow(`${port}, which is in use`)
  })
})

test("an answer is kept by nobody on its way", async () => {
  expect((await send(await start(), {})).headers).toMatchObject({ "cache-control": "no-store" })
})

describe("what it makes of odd requests", () => {
  const large = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { pad: "x".repeat(maxBodyBytes) } })
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_pins","arguments":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}}`
  const batch = JSON.stringify(Array.from({ length: 101 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })))
  const calledOff = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
  const cases: [why: string, headers: Record<string, string>, sent: Sent, status: number][] = [
    ["another path", {}, { path: "/other" }, 404],
    ["a path behind ours", {}, { path: "/mcp/x" }, 404],
    ["a path that is none", {}, { path: "http://[" }, 400],
    ["an address as path", {}, { path: "//evil.example/mcp" }, 404],
    ["GET", {}, { method: "GET" }, 405],
    ["DELETE", {}, { method: "DELETE" }, 405],
    ["PUT", {}, { method: "PUT" }, 405],
    ["HEAD", {}, { method: "HEAD" }, 405],
    ["TRACE", {}, { method: "TRACE" }, 405],
    ["a body that is no JSON", {}, { body: "{" }, 400],
    ["an empty body", {}, { body: "" }, 400],
    ["a body that is no message", {}, { body: '{"hello":1}' }, 400],
    ["another type of body", { "content-type": "text/plain" }, {}, 415],
    ["a client that takes no JSON", { accept: "text/html" }, {}, 406],
    ["a version of the protocol that nobody knows", { "mcp-protocol-version": "1999-01-01" }, {}, 400],
    ["a body that is too large", {}, { body: large }, 413],
    ["one that does not say how large it is", { "transfer-encoding": "chunked" }, { body: large }, 413],
    ["arguments that nest deeply", {}, { body: deep }, 200],
    ["too many messages at once", {}, { body: batch }, 400],
    ["a message that wants no answer", {}, { body: calledOff }, 202],
  ]
  test.each(cases)("%s, and then serves the next", async (_why, headers, sent, status) => {
    const serving = await start()
    const got = await send(serving, headers, sent)
    expect(got.status).toBe(status)
    expect(got.body).not.toMatch(/\n\s+at |node_modules/)
    expect((await send(serving, {})).status).toBe(200)
  })

  test("bytes that are no HTTP", async () => {
    const serving = await start()
    const said = await new Promise<string>((resolve) => {
      const socket = openSocket(serving.port, "127.0.0.1", () => socket.write("\0\x01garbage\r\n\r\n"))
      let text = ""
      socket.on("data", (chunk) => (text += chunk))
      socket.on("close", () => resolve(text))
    })
    expect(said).toContain("400 Bad Request")
    expect((await send(serving, {})).status).toBe(200)
  })
})

describe("clients that leave and servers that close", () => {
  /** A source that holds every question about pins until it is let go. */
  function slowSource() {
    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const pins = async () => {
      asked.resolve()
      await go.promise
      return await sampleSource.pins()
    }
    return { source: { ...sampleSource, pins }, asked: asked.promise, go: go.resolve }
  }
  const listPins = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "list_pins", arguments: {} },
  })

  test("a client that goes away in the middle of a call leaves the server at work", async () => {
    const { source, asked, go } = slowSource()
    const faults: unknown[] = []
    const serving = await start({ onFault: (error) => void faults.push(error) }, source)
    const left = openRequest({ host: "127.0.0.1", port: serving.port, method: "POST", path: "/mcp", headers: usual })
    const gone = new Promise((done) => left.on("error", done))
    left.end(listPins)
    await asked
    left.destroy()
    await gone
    go()
    expect((await send(serving, {}, { body: listPins })).status).toBe(200)
    expect(faults).toEqual([])
  })

  test("a client that goes away in the middle of its body does so too", async () => {
    const serving = await start()
    await new Promise<void>((done) => {
      const socket = openSocket(serving.port, "127.0.0.1", () => {
        socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", () => socket.destroy())
      })
      socket.on("close", () => done())
    })
    expect((await send(serving, {})).status).toBe(200)
  })

  test("a request that is called off in its own batch is not waited for", async () => {
    const { source, asked, go } = slowSource()
    const serving = await start({}, source)
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }
    const left = openRequest({ host: "127.0.0.1", port: serving.port, method: "POST", path: "/mcp", headers: usual })
    const gone = new Promise((done) => left.on("error", done))
    left.end(JSON.stringify([JSON.parse(listPins), cancel]))
    await asked
    left.destroy()
    await gone
    go()
    expect((await send(serving, {})).status).toBe(200)
  })

  test("a call that is worked on gets its answer before the server closes, and none is taken after", async () => {
    const { source, asked, go } = slowSource()
    const serving = await serveHttp(source, { port: 0 })
    const answer = send(serving, { connection: "close" }, { body: listPins })
    await asked
    const closed = serving.close()
    go()
    expect((await answer).body).toContain("Never close quay 4")
    await closed
    await expect(send(serving, {})).rejects.toThrow("ECONNREFUSED")
  })
})
