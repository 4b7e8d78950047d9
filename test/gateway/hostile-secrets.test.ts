import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { usualGatewayLimits, usualTimes } from "../../src/gateway/settings/gateway-options.ts"
import { openSqliteStore } from "../../src/store/sqlite-store.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Fault } from "../model-server/script.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { sendRaw } from "./raw-request.ts"
import { startRawUpstream, wholeAnswer } from "./raw-upstream.ts"
import { wires } from "./wires.ts"

/** Each is in one place of a request or of the configuration, and must appear nowhere else. */
const secrets = {
  authorization: "zq-bearer-0a1b2c3d4e5f",
  apiKey: "zq-x-api-key-1b2c3d4e5f6a",
  googleKey: "zq-x-goog-2c3d4e5f6a7b",
  azureKey: "zq-api-key-3d4e5f6a7b8c",
  query: "zq-query-4e5f6a7b8c9d",
  cookie: "zq-cookie-5f6a7b8c9d0e",
  token: "zq-token-6a7b8c9d0e1f",
  admin: "zq-admin-7b8c9d0e1f2a",
  target: "zq-target-8c9d0e1f2a3b",
  upstream: "zq-upstream-9d0e1f2a3b4c",
}

const directory = mkdtempSync(join(tmpdir(), "holdfast-secrets-"))
let model: ModelServer
let gateway: TestGateway
let fault: Fault | undefined

beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "Hello.", ...(fault === undefined ? {} : { fault }) }) })
  gateway = await startTestGateway(model.url, {
    store: await openSqliteStore({ path: join(directory, "sessions.db") }),
    token: secrets.token,
    admin: { token: secrets.admin, origins: [] },
    limits: { ...usualGatewayLimits, graceMs: 500, bodyBytes: 100_000 },
  })
})
afterAll(async () => {
  await model.close()
  rmSync(directory, { recursive: true, force: true })
})

const keys: readonly Record<string, string>[] = [
  { authorization: `Bearer ${secrets.authorization}` },
  { authorization: `Basic ${secrets.authorization}` },
  { "x-api-key": secrets.apiKey },
  { "x-goog-api-key": secrets.googleKey },
  { "api-key": secrets.azureKey },
  { cookie: `session=${secrets.cookie}` },
]

async function drive(): Promise<void> {
  for (const [, path, body] of wires) {
    for (const key of keys) {
      const headers = { "x-holdfast-token": secrets.token, ...key }
      const post = async (to: string, given: string): Promise<void> => {
        const response = await fetch(`${gateway.url}${to}`, { method: "POST", headers, body: given })
        await response.text().catch(() => "")
      }
      await post(`${path}?key=${secrets.query}`, JSON.stringify(body)).catch(() => undefined)
      await post(path, `${secrets.authorization} is no JSON`).catch(() => undefined)
    }
  }
}

const faults: readonly (Fault | undefined)[] = [
  undefined,
  { type: "http-500" },
  { type: "cut-early" },
  { type: "in-stream-error" },
]

async function attack(): Promise<void> {
  const head = `host: 127.0.0.1\r\nx-holdfast-token: ${secrets.token}\r\nauthorization: Bearer ${secrets.authorization}\r\n`
  const raw = [
    `POST http://user:${secrets.target}@evil.example/v1/messages HTTP/1.1\r\n${head}\r\n`,
    `POST /v1/messages HTTP/1.1\r\n${head}x-a: b\0\r\n\r\n`,
    `POST /v1/messages HTTP/1.1\r\n${head}content-length: 999999\r\n\r\n`,
    `GET /v1/models?key=${secrets.query} HTTP/1.1\r\n${head}\r\n`,
    `GET /admin/status?token=${secrets.admin} HTTP/1.1\r\n${head}\r\n`,
    `GET /admin/status HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${secrets.admin}x\r\n\r\n`,
    `POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-holdfast-token: ${secrets.token}x\r\n\r\n`,
    `POST /v1/messages HTTP/1.1\r\n${head}x-holdfast-token: ${secrets.token}\r\ncontent-length: 0\r\n\r\n`,
    `POST /v1/messages HTTP/1.1\r\n${head}x-holdfast-bypass: ${secrets.authorization}\r\ncontent-length: 0\r\n\r\n`,
  ]
  for (const bytes of raw) await sendRaw(gateway.port, bytes)
}

/** Returns everything that the admin API reports. */
async function toldByAdmin(): Promise<string> {
  const headers = { authorization: `Bearer ${secrets.admin}` }
  const told = async (path: string): Promise<string> => {
    const response = await fetch(`${gateway.url}${path}`, { headers })
    expect(response.status).toBe(200)
    return response.text()
  }
  const paths = ["/admin", "/admin/status", "/admin/sessions?limit=100", "/admin/traces?limit=100", "/admin/upstreams"]
  const pages = await Promise.all(paths.map(told))
  const sessions = (await gateway.holdfast.sessions()).map(({ id }) => encodeURIComponent(id))
  const rest = sessions.flatMap((id) => [`/admin/sessions/${id}`, `/admin/sessions/${id}/history?full=1`])
  const metrics = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${secrets.token}` } })
  expect(metrics.status).toBe(200)
  return [...pages, ...(await Promise.all(rest.map(told))), await metrics.text()].join("\n")
}

test("no key and no token is in anything that the gateway says, notes, stores or throws", async () => {
  for (const one of faults) {
    fault = one
    await drive()
  }
  fault = undefined
  await attack()
  await gateway.holdfast.idle()
  const told = await toldByAdmin()
  await gateway.close()
  await gateway.store.close()
  const stored = readdirSync(directory).map((name) => readFileSync(join(directory, name)).toString("latin1"))
  const noted = inspect([gateway.records, gateway.faults], { depth: 20, maxArrayLength: null, maxStringLength: null })
  expect(gateway.records.length).toBeGreaterThan(100)
  expect(stored.join("").length).toBeGreaterThan(10_000)
  const places = { told, noted, stored: stored.join("") }
  const found = Object.entries(places).flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) => (text.includes(secret) ? [`${name} in ${place}`] : [])),
  )
  expect(found).toEqual([])
})

const question = JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Hi" }] })
const echoes: readonly (readonly [string, path: string, RequestInit])[] = [
  ["a model call", "/v1/chat/completions", { method: "POST", body: question }],
  ["whatever else is asked", "/v1/models", { method: "GET" }],
]

test.each(echoes)(
  "the upstream's own key does not reach the client by %s, even where the upstream quotes it",
  async (_what, path, asked) => {
    const quoting = await startRawUpstream((socket, request) => {
      const quoted = `{"error":{"message":"Wrong key in ${JSON.stringify(request).slice(1, -1)}"}}`
      const bytes = wholeAnswer(quoted, [`x-echo: ${secrets.upstream}`], "401 Unauthorized")
      const at = bytes.indexOf(secrets.upstream, bytes.indexOf("\r\n\r\n")) + 5
      socket.write(bytes.subarray(0, at))
      setTimeout(() => socket.write(bytes.subarray(at)), 20)
    })
    const upstream = { name: "own", families: ["openai"], baseUrl: quoting.url, ...usualTimes } as const
    const before = await startTestGateway(quoting.url, { upstreams: [{ ...upstream, apiKey: secrets.upstream }] })
    const response = await fetch(`${before.url}${path}`, asked)
    const text = await response.text()
    expect([response.status, quoting.heard()[0]?.includes(secrets.upstream)]).toEqual([401, true])
    expect(text).toContain("Wrong key")
    expect(`${text} ${JSON.stringify([...response.headers])}`).not.toContain(secrets.upstream)
    await before.close()
    await quoting.close()
    expect(inspect([before.records, before.faults], { depth: 20 })).not.toContain(secrets.upstream)
  },
)
