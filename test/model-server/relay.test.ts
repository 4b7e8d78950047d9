import { expect, test } from "vitest"
import { startModelServer } from "./model-server.ts"
import { type RelayOptions, startRelay } from "./relay.ts"
import { faultsFirst, type Script } from "./script.ts"

const script: Script = () => ({ text: "Grüße 👩‍💻" })

async function through<Result>(
  options: Omit<RelayOptions, "upstream">,
  use: (url: string, failures: readonly unknown[]) => Promise<Result>,
  answers: Script = script,
) {
  const server = await startModelServer({ script: answers })
  const relay = await startRelay({ ...options, upstream: server.url })
  try {
    return { result: await use(relay.url, relay.failures), requests: server.requests }
  } finally {
    await relay.close()
    await server.close()
  }
}

const post = (url: string, stream: boolean): Promise<Response> =>
  fetch(`${url}/v1/messages?beta=true`, {
    method: "POST",
    body: JSON.stringify({ stream }),
    headers: { "x-mark": "1" },
  })

test.each([false, true])("without functions everything passes as it is, stream %s", async (stream) => {
  const { result, requests } = await through({}, async (url) => {
    const response = await post(url, stream)
    return { body: await response.text(), type: response.headers.get("content-type") }
  })
  const [exchange] = requests
  expect(exchange).toMatchObject({ path: "/v1/messages?beta=true", headers: { "x-mark": "1" } })
  expect(result.body).toBe(new TextDecoder().decode(exchange?.response.bytes))
  expect(result.type).toBe(exchange?.response.headers["content-type"])
})

const upper = (body: Uint8Array): Uint8Array => Buffer.from(Buffer.from(body).toString().toUpperCase())

test("request and whole answer pass through their functions", async () => {
  const options = { onRequest: () => Buffer.from('{"model":"changed"}'), onResponse: upper }
  const { result, requests } = await through(options, async (url) => (await post(url, false)).text())
  expect(requests[0]?.json).toEqual({ model: "changed" })
  expect(result).toContain('"TEXT":"GRÜSSE 👩‍💻"')
})

test("a stream passes through its function, which is told of the end", async () => {
  const transformStream = (path: string) => (chunk: Uint8Array | null) =>
    chunk === null ? [Buffer.from(`: end of ${path}\n\n`)] : [chunk]
  const { result } = await through({ transformStream }, async (url) => (await post(url, true)).text())
  expect(result).toMatch(/message_stop"}\n\n: end of \/v1\/messages\?beta=true\n\n$/)
})

test("an error answer keeps its status and headers", async () => {
  const failing = faultsFirst([{ type: "http-429", retryAfterSeconds: 7 }], script)
  const { result } = await through({}, (url) => post(url, true), failing)
  expect([result.status, result.headers.get("retry-after")]).toEqual([429, "7"])
})

test("a cut upstream is a cut client", async () => {
  const cut = faultsFirst([{ type: "cut-mid" }], script)
  await through({}, async (url) => expect((await post(url, true)).text()).rejects.toThrow("terminated"), cut)
})

test("a function that throws cuts its client off and is told of", async () => {
  const onRequest = () => {
    throw new Error("codec broke")
  }
  await through({ onRequest }, async (url, failures) => {
    await expect(post(url, true)).rejects.toThrow("fetch failed")
    expect(String(failures[0])).toContain("codec broke")
  })
})
