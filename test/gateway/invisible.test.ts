import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import type { ModelServer } from "../model-server/model-server.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { byRound, type Fault, type Output, type Script } from "../model-server/script.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"

/** The model's next output; set by a test. */
let output: Output = { text: "Hello." }
const script: Script = (turn) => byRound([output])(turn)

let model: ModelServer
let gateway: TestGateway

beforeAll(async () => {
  model = await startModelServer({ script })
  gateway = await startTestGateway(model.url)
})
afterAll(async () => {
  await gateway.close()
  await model.close()
})

const wires = [
  [
    "anthropic-messages",
    "/v1/messages?beta=true",
    { model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
  ],
  ["openai-chat", "/v1/chat/completions", { model: "gpt-5", messages: [{ role: "user", content: "Hi" }] }],
  ["openai-responses", "/v1/responses", { model: "gpt-5", input: [{ role: "user", content: "Hi" }] }],
  [
    "gemini",
    "/v1beta/models/gemini-2.5-pro:generateContent",
    { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  ],
] as const

const streamed = (path: string): string =>
  path.includes("generateContent") ? path.replace("generateContent", "streamGenerateContent?alt=sse") : path

type Sent = { readonly stream?: boolean; readonly headers?: Readonly<Record<string, string>>; readonly to?: string }

function send(
  path: string,
  body: object,
  { stream = false, headers = {}, to = gateway.url }: Sent = {},
): Promise<Response> {
  const whole = stream && !path.includes("enerateContent") ? { ...body, stream: true } : body
  return fetch(`${to}${stream ? streamed(path) : path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-test-key", ...headers },
    body: JSON.stringify(whole),
  })
}

/** Matches ids in which the scripted server counts its requests, and the time. */
const counted =
  /(?:msg_|resp_|chatcmpl-|rs_|toolu_|call_|fc_|req_|"(?:created|created_at|completed_at)":)[\w-]*|"(?:responseId|sequence_number|createTime|thoughtSignature|signature|encrypted_content|obfuscation)": ?"?[^",}]*/g
const plain = (text: string): string => text.replace(counted, "ID")

/** Returns the status, the headers that clients read, and the body, as received. A whole answer that breaks off counts as none. */
async function seen(asked: Promise<Response>, stream: boolean): Promise<unknown> {
  const response = await asked.catch(() => undefined)
  if (response === undefined) return "broken off"
  const names = ["content-type", "retry-after", "x-should-retry", "request-id"]
  const headers = names.map((name) => (name === "request-id" ? response.headers.has(name) : response.headers.get(name)))
  const text = await response.text().catch(() => undefined)
  if (text === undefined && !stream) return "broken off"
  return [response.status, headers, plain(text ?? "broken off")]
}

const faults: readonly Fault[] = [
  { type: "http-429", retryAfterSeconds: 7 },
  { type: "http-500" },
  { type: "http-529" },
  { type: "context-length", tokens: 300_000, limit: 200_000 },
  { type: "cut-early" },
  { type: "cut-mid" },
  { type: "in-stream-error" },
  { type: "in-stream-error", kind: "context-length" },
  { type: "stall", ms: 50 },
  { type: "ping" },
  { type: "comment" },
]

describe.each(wires)("%s", (_format, path, body) => {
  describe.each([false, true])("streamed: %s", (stream) => {
    test.each(faults.map((fault) => [JSON.stringify(fault), fault] as const))(
      "%s looks the same as without the gateway",
      async (_name, fault) => {
        output = { text: "Let me see.", calls: [{ tool: "look", input: { at: "it" } }], fault }
        const direct = await seen(send(path, body, { stream, to: model.url }), stream)
        const through = await seen(send(path, body, { stream }), stream)
        expect(through).toEqual(direct)
      },
    )
  })

  test("an upstream that stays silent in a stream is bridged by comments, which no reader sees", async () => {
    output = { text: "Slowly.", fault: { type: "stall", ms: 450 } }
    const soon = await startTestGateway(model.url, { keepAliveMs: 200 })
    onTestFinished(() => soon.close())
    const through = await (await send(path, body, { stream: true, to: soon.url })).text()
    const direct = await (await send(path, body, { stream: true, to: model.url })).text()
    expect(through).toContain(": keep-alive\n\n")
    expect(plain(through.replaceAll(": keep-alive\n\n", ""))).toBe(plain(direct))
  })

  test("what is said to the gateway stays with it, and it says which session and trace it was", async () => {
    output = { text: "Hello." }
    const headers = { "x-holdfast-session": "mine", "X-Holdfast-Agent": "one", "x-holdfast-focus": "invoices" }
    const response = await send(path, body, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get("x-holdfast-session")).toContain("mine")
    expect(response.headers.get("x-holdfast-trace")).toMatch(/^hx-/)
    expect(response.headers.get("x-holdfast-receipt")).toContain("changed=0")
    const { headers: got } = model.requests.at(-1) ?? { headers: {} }
    expect(Object.keys(got).filter((name) => name.startsWith("x-holdfast"))).toEqual([])
    expect(JSON.stringify(got)).not.toContain("mine")
  })

  test("a request that is no JSON goes on as it is, for the upstream to say so", async () => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: "Bearer k" },
      body: "{not json",
    })
    await response.text()
    expect(Buffer.from(model.requests.at(-1)?.body ?? []).toString()).toBe("{not json")
  })
})

test("a client that leaves ends the request at the upstream, and what it got is on record", async () => {
  output = { text: "One two three four five six seven.", fault: { type: "stall", ms: 20_000 } }
  const stop = new AbortController()
  const [, path, body] = wires[0]
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "x-holdfast-session": "leaver" },
    body: JSON.stringify({ ...body, stream: true }),
    signal: stop.signal,
  })
  const reader = response.body?.getReader()
  await reader?.read()
  stop.abort()
  await expect.poll(() => gateway.records.at(-1)?.ending).toBe("client-left")
  const { session = "" } = gateway.records.at(-1) ?? {}
  await expect.poll(async () => (await gateway.holdfast.session(session).history()).length).toBeGreaterThan(1)
})

test("a WebSocket upgrade is answered 426 at once", async () => {
  const socket = connect(gateway.port, "127.0.0.1")
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`,
  )
  const answer = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())))
  expect(answer).toMatch(/^HTTP\/1\.1 426 /)
  socket.destroy()
})

test("counts, lists and whatever else is there pass through, methods and queries included", async () => {
  const body = JSON.stringify({ model: "claude-sonnet-4-5", messages: [{ role: "user", content: "Hi" }] })
  const count = await fetch(`${gateway.url}/v1/messages/count_tokens?beta=true`, {
    method: "POST",
    body,
    headers: { "x-api-key": "k" },
  })
  expect(await count.json()).toHaveProperty("input_tokens")
  const models = await fetch(`${gateway.url}/v1/models?limit=5`, { headers: { "x-api-key": "k" } })
  expect(models.status).toBe(404)
  expect(model.requests.at(-1)).toMatchObject({ method: "GET", path: "/v1/models?limit=5" })
  const hello = await fetch(`${gateway.url}/api/hello`, { method: "HEAD" })
  expect(hello.status).toBe(404)
  expect(model.requests.at(-1)).toMatchObject({ method: "HEAD", path: "/api/hello" })
})

test("nothing went wrong that was nobody's request", () => {
  expect(gateway.faults).toEqual([])
})
