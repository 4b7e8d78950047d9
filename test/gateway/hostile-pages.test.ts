import { request } from "node:http"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { usualTimes } from "../../src/gateway/settings/gateway-options.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { adminToken, startTestGateway, type TestGateway } from "../support/gateway.ts"
import { isWireError, wires } from "./wires.ts"

let model: ModelServer
let gateway: TestGateway
/** Requires a token, and holds the upstream's key itself. */
let closed: TestGateway
/** Requires a token, and forwards the client's key. */
let passing: TestGateway

const token = "token-of-the-closed-gateway"

beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "Hello." }) })
  gateway = await startTestGateway(model.url)
  const upstream = {
    name: "model",
    families: ["anthropic", "openai", "gemini"],
    baseUrl: model.url,
    ...usualTimes,
  } as const
  closed = await startTestGateway(model.url, { token, upstreams: [{ ...upstream, apiKey: "key-of-the-upstream" }] })
  passing = await startTestGateway(model.url, { token })
})
afterAll(async () => {
  for (const one of [gateway, closed, passing]) await one.close()
  await model.close()
})

type Answer = { readonly status: number; readonly text: string; readonly headers: Readonly<Record<string, unknown>> }

/** Sends any headers, including those that `fetch` would not send. */
function ask(
  to: TestGateway,
  path: string,
  {
    method = "GET",
    headers = {},
    body = "",
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const asking = request({ port: to.port, host: "127.0.0.1", path, method, headers }, (response) => {
    let text = ""
    response.on("data", (data: Buffer) => {
      text += data.toString()
    })
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
  })
  asking.on("error", reject)
  asking.end(body)
  return promise
}

afterEach(async () => {
  const [, path, body] = wires[1] ?? wires[0] ?? []
  if (path === undefined) throw new Error("no wire")
  expect((await ask(gateway, path, { method: "POST", body: JSON.stringify(body) })).status).toBe(200)
  expect(gateway.faults).toEqual([])
})

const bearer = { authorization: `Bearer ${adminToken}` }

describe("the admin API", () => {
  const keys: readonly (readonly [string, Record<string, string>, number])[] = [
    ["no token", {}, 401],
    ["a wrong one", { authorization: "Bearer wrong" }, 401],
    ["one that is cut short", { authorization: `Bearer ${adminToken.slice(0, -1)}` }, 401],
    ["one with more behind it", { authorization: `Bearer ${adminToken}x` }, 401],
    ["another scheme", { authorization: `Basic ${adminToken}` }, 401],
    ["the token in a cookie", { cookie: `token=${adminToken}; authorization=Bearer ${adminToken}` }, 401],
    ["the token in another header", { "x-api-key": adminToken, "x-holdfast-token": adminToken }, 401],
    ["another method behind the method", { "x-http-method-override": "GET", "x-method-override": "GET" }, 401],
    ["a page", { ...bearer, origin: "https://evil.example" }, 403],
    ["a page that hides", { ...bearer, origin: "null" }, 403],
    ["a page of the same name and another port", { ...bearer, origin: "http://127.0.0.1:1" }, 403],
    ["a page that says nothing of itself", { ...bearer, "sec-fetch-site": "cross-site" }, 403],
    ["a page of the same site", { ...bearer, "sec-fetch-site": "same-site" }, 403],
    ["another name for the server", { ...bearer, host: "evil.example" }, 403],
    ["the token", bearer, 200],
  ]
  test.each(keys)("%s", async (_what, headers, status) => {
    const answer = await ask(gateway, "/admin/status", { headers })
    expect(answer.status).toBe(status)
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined()
    if (status !== 200) expect(answer.text).not.toContain("requestsInFlight")
  })

  test("a preflight of a page that is not listed allows nothing", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "GET" }
    const answer = await ask(gateway, "/admin/status", { method: "OPTIONS", headers })
    expect(answer.status).toBe(403)
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([])
  })

  const tricks = [
    "/admin/../v1/models",
    "/v1/../admin/status",
    "/v1/%2e%2e/admin/status",
    "/%61dmin/status",
    "/Admin/status",
    "//admin/status",
    "/./admin/status",
    "/admin%2fstatus",
    "/admin;x=y/status",
    "/v1/..%2fadmin/status",
    "/v1/..;/admin/status",
    "/\\admin/status",
    "/admin\\status",
    "/ADMIN/STATUS",
    "/adm%C4%B1n/status",
    "/%EF%BD%81dmin/status",
    "/admin%00/status",
    "/administrator",
    "/metrics/../admin/status",
    "/healthz/x",
  ]
  test.each(tricks)("%s is neither the admin API without its token nor a path of the upstream", async (path) => {
    const before = model.requests.length
    const answer = await ask(gateway, path)
    expect([400, 401, 404]).toContain(answer.status)
    expect(model.requests.length).toBe(before)
  })

  test("a path under it never goes upstream, even with the token, and a model's path is never its", async () => {
    const before = model.requests.length
    expect((await ask(gateway, "/admin/v1/models", { headers: bearer })).status).toBe(404)
    expect((await ask(gateway, "/admin/v1/chat/completions", { method: "POST", headers: bearer })).status).toBe(404)
    expect(model.requests.length).toBe(before)
    await ask(gateway, "/v1/admin/status", { headers: bearer })
    expect(model.requests.at(-1)?.path).toBe("/v1/admin/status")
  })
})

describe.each(wires)("%s", (format, path, body) => {
  const said = JSON.stringify(body)
  const pages: readonly (readonly [string, Record<string, string>])[] = [
    ["a page that posts plain text", { origin: "https://evil.example", "content-type": "text/plain" }],
    ["a page that hides", { origin: "null", "content-type": "text/plain" }],
    ["a page on this machine", { origin: "http://localhost:3000" }],
    ["a page that only its browser gives away", { "sec-fetch-site": "cross-site" }],
    ["a page under another name of this machine", { host: "rebound.example" }],
  ]
  test.each(pages)("%s is refused with 403 in the wire's shape", async (_what, headers) => {
    const before = model.requests.length
    const answer = await ask(gateway, path, { method: "POST", headers, body: said })
    expect([answer.status, isWireError(format, answer.text)]).toEqual([403, true])
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined()
    expect(model.requests.length).toBe(before)
  })

  test("without the token nobody comes in, and with it nobody upstream learns of it", async () => {
    const wrong = await ask(closed, path, { method: "POST", body: said, headers: { authorization: "Bearer x" } })
    expect([wrong.status, isWireError(format, wrong.text)]).toEqual([401, true])
    for (const headers of [{ authorization: `Bearer ${token}` }, { "x-holdfast-token": token }]) {
      expect((await ask(closed, path, { method: "POST", body: said, headers })).status).toBe(200)
      expect(JSON.stringify(model.requests.at(-1))).not.toContain(token)
    }
  })

  test("where the client's key goes on, the token is not taken in its place", async () => {
    const before = model.requests.length
    const answer = await ask(passing, path, {
      method: "POST",
      body: said,
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(401)
    expect(model.requests.length).toBe(before)
    const headers = { authorization: "Bearer sk-of-the-client", "x-holdfast-token": token }
    expect((await ask(passing, path, { method: "POST", body: said, headers })).status).toBe(200)
    expect(JSON.stringify(model.requests.at(-1)?.headers)).toContain("sk-of-the-client")
    expect(JSON.stringify(model.requests.at(-1))).not.toContain(token)
  })
})

/** Returns the headers that a refusal tells the client to send, with the token in them. */
const advisedHeaders = (text: string): readonly Record<string, string>[] =>
  [...text.matchAll(/`([A-Za-z-]+): ([^`]*TOKEN)`/g)].map(([, name = "", value = ""]) => ({
    [name.toLowerCase()]: value.replace("TOKEN", token),
  }))

describe.each([
  ["has the upstream's key", () => closed, ["authorization", "x-holdfast-token"]],
  ["passes the client's key on", () => passing, ["x-holdfast-token"]],
] as const)("a gateway with a token that %s", (_what, theGateway, modelHeaders) => {
  const asks = [
    ...wires.map(([format, path, body]) => ({
      name: format,
      path,
      method: "POST",
      body: JSON.stringify(body),
      expected: modelHeaders,
    })),
    { name: "metrics", path: "/metrics", method: "GET", body: "", expected: ["authorization", "x-holdfast-token"] },
  ]
  test.each(asks)("lets in whoever does what its refusal says: $name", async ({ path, method, body, expected }) => {
    const host = { host: "127.0.0.1" }
    const refused = await ask(theGateway(), path, { method, body, headers: host })
    expect(refused.status).toBe(401)
    const advised = advisedHeaders(refused.text)
    expect(advised.flatMap(Object.keys).sort()).toEqual(expected)
    for (const header of advised) {
      expect((await ask(theGateway(), path, { method, body, headers: { ...host, ...header } })).status).toBe(200)
    }
  })
})

test("numbers for machines are told without the token to nobody, and signs of life to everybody", async () => {
  expect((await ask(closed, "/metrics")).status).toBe(401)
  expect((await ask(closed, "/metrics", { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  expect((await ask(closed, "/healthz")).status).toBe(200)
  expect((await ask(closed, "/healthz", { headers: { host: "evil.example" } })).status).toBe(403)
})
