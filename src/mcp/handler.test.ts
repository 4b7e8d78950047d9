import { expect, test } from "vitest"
import { sampleSource } from "../../test/fixtures/mcp/sample-source.ts"
import { createMcpHandler } from "./http.ts"

const admission = { loopback: true, hosts: [], origins: [] }

const listPins = (signal?: AbortSignal): Request =>
  new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: { host: "127.0.0.1", "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_pins","arguments":{}}}',
    ...(signal === undefined ? {} : { signal }),
  })

test("more requests than it works on at once are put off, and there is room again when one is over", async () => {
  const asked = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const pins = async () => {
    asked.resolve()
    await go.promise
    return []
  }
  const handle = await createMcpHandler({ ...sampleSource, pins }, { admission, maxRequests: 1 })
  const first = handle(listPins())
  await asked.promise
  const second = await handle(listPins())
  expect({ status: second.status, after: second.headers.get("retry-after") }).toEqual({ status: 503, after: "1" })
  go.resolve()
  expect((await first).status).toBe(200)
  expect((await handle(listPins())).status).toBe(200)
})

test("a client that has gone makes room, although the source never answers", async () => {
  const asked = Promise.withResolvers<void>()
  const pins = () => {
    asked.resolve()
    return new Promise<never>(() => {})
  }
  const handle = await createMcpHandler({ ...sampleSource, pins }, { admission, maxRequests: 1 })
  const client = new AbortController()
  const first = handle(listPins(client.signal))
  await asked.promise
  client.abort()
  expect((await first).status).toBe(499)
  expect((await handle(listPins(AbortSignal.abort()))).status).toBe(499)
})

test("an answer that does not come in time is given up, and makes room", async () => {
  const source = { ...sampleSource, pins: () => new Promise<never>(() => {}) }
  const handle = await createMcpHandler(source, { admission, maxRequests: 1, maxRequestMs: 1 })
  expect((await handle(listPins())).status).toBe(504)
  expect((await handle(listPins())).status).toBe(504)
})
