import { connect } from "node:net"
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { usualGatewayLimits } from "../../src/gateway/settings/gateway-options.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { readRaw, sendRaw, statusesIn } from "./raw-request.ts"

let model: ModelServer
let gateway: TestGateway

beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "Hello." }) })
  gateway = await startTestGateway(model.url, {
    limits: { ...usualGatewayLimits, graceMs: 500, headersMs: 300, bodyMs: 800 },
  })
})
afterAll(async () => {
  await gateway.close()
  await model.close()
})

const body = JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Hi" }] })
const path = "/v1/chat/completions"
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const measured = `content-length: ${body.length}`
const own = (): string => `host: 127.0.0.1:${gateway.port}`

type Asking = {
  readonly first?: string
  readonly lines?: readonly string[]
  readonly host?: readonly string[]
  readonly rest?: string
}

const asking = ({ first = `POST ${path} HTTP/1.1`, lines = [measured], host = [own()], rest = body }: Asking): string =>
  `${[first, ...host, ...lines].join("\r\n")}\r\n\r\n${rest}`

/** After each attack an ordinary request is answered, and no error outside of a request occurred. */
afterEach(async () => {
  const response = await fetch(`${gateway.url}${path}`, { method: "POST", body })
  expect(response.status).toBe(200)
  await response.text()
  expect(gateway.faults).toEqual([])
})

const smuggled = "GET /admin/status HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"

const refused: readonly (readonly [string, number, () => string])[] = [
  [
    "a length and chunks",
    400,
    () => asking({ lines: [measured, "transfer-encoding: chunked"], rest: `0\r\n\r\n${smuggled}` }),
  ],
  ["two lengths that differ", 400, () => asking({ lines: [measured, "content-length: 5"] })],
  ["two lengths that agree", 400, () => asking({ lines: [measured, measured] })],
  ["a length in a list", 400, () => asking({ lines: [`${measured}, ${body.length}`] })],
  ["a length with a sign", 400, () => asking({ lines: [`content-length: +${body.length}`] })],
  ["a length below nothing", 400, () => asking({ lines: ["content-length: -1"] })],
  ["a length in hexadecimal", 400, () => asking({ lines: ["content-length: 0x10"] })],
  ["a length beyond numbers", 400, () => asking({ lines: [`content-length: ${"9".repeat(30)}`] })],
  ["an encoding that is nearly chunked", 400, () => asking({ lines: ["transfer-encoding: xchunked"], rest: chunked })],
  ["chunked, but not last", 400, () => asking({ lines: ["transfer-encoding: chunked, identity"], rest: chunked })],
  [
    "chunked and something else",
    400,
    () => asking({ lines: ["transfer-encoding: chunked", "transfer-encoding: identity"], rest: chunked }),
  ],
  ["chunked behind a vertical tab", 400, () => asking({ lines: ["transfer-encoding: \x0bchunked"], rest: chunked })],
  ["a space before the colon", 400, () => asking({ lines: ["transfer-encoding : chunked"], rest: chunked })],
  [
    "a chunk whose size is none",
    400,
    () => asking({ lines: ["transfer-encoding: chunked"], rest: `zz\r\n${body}\r\n0\r\n\r\n` }),
  ],
  [
    "a chunk beyond numbers",
    400,
    () => asking({ lines: ["transfer-encoding: chunked"], rest: `${"f".repeat(20)}\r\n${body}` }),
  ],
  ["a folded line", 400, () => asking({ lines: ["x-a: one\r\n two", measured] })],
  ["lines that end in a line feed alone", 400, () => asking({}).replaceAll("\r\n", "\n")],
  ["one line that ends in a line feed alone", 400, () => asking({ lines: ["x-a: b\nx-c: d", measured] })],
  ["a carriage return within a line", 400, () => asking({ lines: ["x-a: b\rx-c: d", measured] })],
  ["a NUL in a value", 400, () => asking({ lines: ["x-a: b\0c", measured] })],
  ["a NUL in a name", 400, () => asking({ lines: ["x\0a: b", measured] })],
  ["a NUL in the path", 400, () => asking({ first: "POST /v1/\0 HTTP/1.1" })],
  ["a target with its own server", 400, () => asking({ first: `POST http://evil.example${path} HTTP/1.1` })],
  [
    "a target that names this server",
    400,
    () => asking({ first: `POST http://127.0.0.1:${gateway.port}${path} HTTP/1.1` }),
  ],
  ["a target that is a server alone", 400, () => asking({ first: "POST evil.example:443 HTTP/1.1" })],
  ["a target that is a star", 400, () => asking({ first: "OPTIONS * HTTP/1.1", lines: [], rest: "" })],
  ["a path with lines in it", 400, () => asking({ first: `POST ${path}%0d%0aX:%20y HTTP/1.1` })],
  ["a path with a space in it", 400, () => asking({ first: `POST ${path} HTTP/1.1 HTTP/1.1` })],
  ["a tunnel", 405, () => asking({ first: "CONNECT evil.example:443 HTTP/1.1", lines: [], rest: "" })],
  ["a trace", 405, () => asking({ first: "TRACE /v1/models HTTP/1.1", lines: [], rest: "" })],
  [
    "an upgrade to HTTP/2",
    426,
    () => asking({ first: "GET /v1/models HTTP/1.1", lines: ["connection: upgrade", "upgrade: h2c"], rest: "" }),
  ],
  ["HTTP/2 at once", 400, () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a version that is none", 400, () => asking({ first: "GET /v1/models HTTP/1.2", lines: [], rest: "" })],
  ["the beginning of TLS", 400, () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
  ["headers that are too long", 431, () => asking({ lines: [`x-a: ${"a".repeat(70_000)}`] })],
  ["headers that are too many", 431, () => asking({ lines: Array.from({ length: 9000 }, (_, n) => `x-${n}: b`) })],
  ["no host", 400, () => asking({ host: [] })],
  ["no host in HTTP/1.0", 403, () => asking({ first: `POST ${path} HTTP/1.0`, host: [] })],
  ["two hosts", 400, () => asking({ host: [own(), "host: evil.example"] })],
  ["another host", 403, () => asking({ host: ["host: evil.example"] })],
  ["a host with a name in front", 403, () => asking({ host: ["host: evil@127.0.0.1"] })],
  ["a host with a port that is none", 403, () => asking({ host: ["host: 127.0.0.1:99999999"] })],
  ["two keys", 400, () => asking({ lines: ["authorization: Bearer a", "authorization: Bearer b", measured] })],
  ["two keys of a name that Node joins", 400, () => asking({ lines: ["x-api-key: a", "X-API-Key: b", measured] })],
  ["two sessions", 400, () => asking({ lines: ["x-holdfast-session: a", "X-HOLDFAST-SESSION: b", measured] })],
  ["an expectation that nobody can meet", 417, () => asking({ lines: ["expect: a-pony", measured] })],
]

test.each(refused)("%s is refused with %i, and nothing of it goes upstream", async (_what, status, bytes) => {
  const before = model.requests.length
  const answer = await sendRaw(gateway.port, bytes())
  expect(statusesIn(answer)).toEqual([status])
  expect(model.requests.length).toBe(before)
})

const taken: readonly (readonly [string, readonly number[], () => string])[] = [
  ["chunks in capitals", [200], () => asking({ lines: ["transfer-encoding: CHUNKED"], rest: chunked })],
  [
    "chunks with extensions",
    [200],
    () => asking({ lines: ["transfer-encoding: chunked"], rest: chunked.replace("\r\n", ";a=b\r\n") }),
  ],
  [
    "a trailer that names a session",
    [200],
    () =>
      asking({
        lines: ["transfer-encoding: chunked", "trailer: x-holdfast-session"],
        rest: chunked.replace(/\r\n\r\n$/, "\r\nx-holdfast-session: evil\r\n\r\n"),
      }),
  ],
  ["HTTP/1.0", [200], () => asking({ first: `POST ${path} HTTP/1.0` })],
  ["a go-ahead that is asked for", [100, 200], () => asking({ lines: ["expect: 100-continue", measured] })],
  ["five at once on one connection", [200, 200, 200, 200, 200], () => asking({}).repeat(5)],
  [
    "a session that is named as the connection's",
    [200],
    () => asking({ lines: ["connection: x-holdfast-session, keep-alive", "x-holdfast-session: mine", measured] }),
  ],
  [
    "underscores in our own names",
    [200],
    () => asking({ lines: ["x_holdfast_session: mine", "X_Holdfast-Token: t", measured] }),
  ],
]

test.each(taken)("%s is taken as what it says, and goes upstream framed anew", async (_what, statuses, bytes) => {
  const before = model.requests.length
  const answer = await sendRaw(gateway.port, bytes())
  expect(statusesIn(answer)).toEqual(statuses)
  const sent = model.requests.slice(before)
  expect(sent.map((one) => Buffer.from(one.body).toString())).toEqual(
    statuses.filter((one) => one === 200).map(() => body),
  )
  const names = sent.flatMap(({ headers }) => Object.keys(headers))
  expect(names.filter((name) => /holdfast|transfer-encoding|trailer|expect/.test(name))).toEqual([])
  expect(answer.text).not.toContain("evil")
})

test("a client that never ends its headers is told so, and so is one that never ends its body", async () => {
  const slow = connect(gateway.port, "127.0.0.1")
  slow.write(`POST ${path} HTTP/1.1\r\n${own()}\r\nx-a: `)
  const drip = setInterval(() => slow.write("a"), 100)
  const slowBody = connect(gateway.port, "127.0.0.1")
  slowBody.write(`POST ${path} HTTP/1.1\r\n${own()}\r\ncontent-length: 10000\r\n\r\n{`)
  const dripBody = setInterval(() => slowBody.write(" "), 100)
  const answers = await Promise.all([readRaw(slow), readRaw(slowBody)])
  clearInterval(drip)
  clearInterval(dripBody)
  expect(answers.map(statusesIn)).toEqual([[408], [408]])
  expect(answers.map(({ isClosed }) => isClosed)).toEqual([true, true])
})
