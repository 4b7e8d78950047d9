import { createServer, type RequestListener } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import { listen } from "../../test/model-server/loopback.ts"
import { type ModelServer, startModelServer } from "../../test/model-server/model-server.ts"
import type { Script } from "../../test/model-server/script.ts"
import { HoldfastError, type Problem } from "../message/errors.ts"
import { type Format, formats } from "../message/message.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { collect } from "../wire/stream-steps.ts"
import { type Called, type CallOptions, callModel, type ModelCall, type Retry } from "./call-model.ts"

const key = "sk-very-secret-0123456789"

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function scripted(script: Script, chunkBytes?: number): Promise<ModelServer> {
  const server = await startModelServer({ script, ...(chunkBytes === undefined ? {} : { chunkBytes }) })
  open.push(server.close)
  return server
}

async function serve(handle: RequestListener): Promise<string> {
  const { url, close } = await listen(createServer(handle))
  open.push(close)
  return url
}

/** Waits are noted, and take no time. */
function optionsFor(format: Format, baseUrl: string, changed: Partial<CallOptions> = {}) {
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms)
  }
  const options: CallOptions = {
    format,
    baseUrl,
    apiKey: key,
    model: "model-1",
    timeoutMs: 10_000,
    maxResponseBytes: 1_000_000,
    random: () => 1,
    now: () => 0,
    wait,
    ...changed,
  }
  return { options, waits }
}

const bodies: Readonly<Record<Format, object>> = {
  "anthropic-messages": { model: "model-1", max_tokens: 9, messages: [{ role: "user", content: "go" }] },
  "openai-chat": { model: "model-1", messages: [{ role: "user", content: "go" }] },
  "openai-responses": { model: "model-1", input: [{ role: "user", content: "go" }] },
  gemini: { contents: [{ role: "user", parts: [{ text: "go" }] }] },
}

const callOf = (format: Format, stream: boolean, changed: Partial<ModelCall> = {}): ModelCall => ({
  body: JSON.stringify({ ...bodies[format], ...(format === "gemini" || !stream ? {} : { stream }) }),
  stream,
  ...changed,
})

async function eventsOf(called: Called): Promise<readonly StreamEvent[]> {
  if (called.type !== "stream") throw new Error("it was answered whole")
  const events: StreamEvent[] = []
  for await (const event of called.events) events.push(event)
  return events
}

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof HoldfastError)) throw new Error("no Problem", { cause: error })
  expect(`${error.message} ${error.stack} ${JSON.stringify(error.problem)}`).not.toContain(key)
  return error.problem
}

describe.each(formats)("%s", (format) => {
  const answer: Script = () => ({
    reasoning: "hm",
    text: "It is fine. 以上",
    calls: [{ tool: "run", input: { n: 1 } }],
  })

  test("the same answer comes whole and streamed, however it is chunked", async () => {
    const server = await scripted(answer, 7)
    const { options } = optionsFor(format, server.url)
    const whole = await callModel(options, callOf(format, false))
    const streamed = await eventsOf(await callModel(options, callOf(format, true)))
    if (whole.type !== "whole") throw new Error("it was streamed")
    const said = ({ messages }: { readonly messages: readonly { readonly parts: readonly object[] }[] }) =>
      messages.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : part)))
    expect(said(collect(format, streamed)).filter((part) => typeof part === "string")).toEqual(
      said(whole.response).filter((part) => typeof part === "string"),
    )
    expect(streamed.at(-1)?.type).toMatch(/response-end|other/)
    expect(whole).toMatchObject({ status: 200, headers: { "content-type": "application/json" } })
    expect(new TextDecoder().decode(server.requests[0]?.body)).toBe(callOf(format, false).body)
  })

  test("an answer is read in a program whose web server has replaced the global Response", async () => {
    const server = await scripted(answer)
    const { options } = optionsFor(format, server.url)
    const original = globalThis.Response
    globalThis.Response = class extends original {}
    try {
      const [whole, streamed] = [false, true].map((stream) => callModel(options, callOf(format, stream)))
      expect((await whole)?.type).toBe("whole")
      expect((await streamed)?.type).toBe("stream")
    } finally {
      globalThis.Response = original
    }
  })

  test("a stream that is cut ends with the word for it", async () => {
    const server = await scripted(({ index }) => ({
      text: "some words",
      fault: { type: index ? "cut-mid" : "cut-early" },
    }))
    const { options } = optionsFor(format, server.url)
    for (const _ of [1, 2]) {
      const events = await eventsOf(await callModel(options, callOf(format, true)))
      expect(events.at(-1)).toMatchObject({ type: "error", problem: { code: "stream-cut" } })
    }
    expect(server.requests).toHaveLength(2)
  })

  test("the caller can stop a stream, and leaving the loop ends the connection", async () => {
    const server = await scripted(() => ({ text: "a long story", fault: { type: "stall", ms: 60_000 } }))
    const { options } = optionsFor(format, server.url)
    const controller = new AbortController()
    const called = await callModel(options, callOf(format, true, { signal: controller.signal }))
    const reading = eventsOf(called)
    controller.abort()
    expect(await problemOf(reading)).toMatchObject({ code: "upstream-stopped" })
    const left = await callModel(options, callOf(format, true))
    if (left.type !== "stream") throw new Error("it was answered whole")
    for await (const _ of left.events) break
  })

  test("an answer over the limit is not read to its end, streamed or not", async () => {
    const server = await scripted(() => ({ text: "x".repeat(50_000) }))
    const { options } = optionsFor(format, server.url, { maxResponseBytes: 10_000 })
    const tooLarge = { code: "upstream-too-large", limitBytes: 10_000 }
    expect(await problemOf(callModel(options, callOf(format, false)))).toMatchObject(tooLarge)
    expect(await problemOf(callModel(options, callOf(format, true)).then(eventsOf))).toMatchObject(tooLarge)
  })

  test("the server says when to come again, and is heeded", async () => {
    const server = await scripted(({ index }) =>
      index === 0 ? { fault: { type: "http-429", retryAfterSeconds: 3 } } : { text: "now" },
    )
    const { options, waits } = optionsFor(format, server.url)
    const retries: Retry[] = []
    const called = await callModel(options, callOf(format, true, { onRetry: (retry) => retries.push(retry) }))
    expect(called.status).toBe(200)
    expect(waits).toEqual([3_000])
    expect(retries).toMatchObject([{ attempt: 1, waitMs: 3_000, problem: { code: "upstream-error", status: 429 } }])
  })
})

const json = { "content-type": "application/json" }

test.each<[why: string, status: number, headers: Record<string, string>, waits: number[]]>([
  ["waits grow where the server names none", 503, {}, [500, 1_000]],
  ["milliseconds", 429, { "retry-after-ms": "120.5" }, [121, 121]],
  ["an hour of the day", 429, { "retry-after": new Date(5_000).toUTCString() }, [5_000, 5_000]],
  ["a wait beyond the limit is not waited for", 429, { "retry-after": "31" }, []],
  ["a word that is no time", 429, { "retry-after": "soon, maybe" }, [500, 1_000]],
  ["what is the caller's fault does not pass", 400, {}, []],
  ["nor does a wrong key", 401, { "retry-after": "1" }, []],
])("%s", async (_why, status, headers, expected) => {
  const url = await serve((_, response) => response.writeHead(status, { ...json, ...headers }).end("{}"))
  const { options, waits } = optionsFor("openai-chat", url)
  expect(await problemOf(callModel(options, callOf("openai-chat", false)))).toMatchObject({ status })
  expect(waits).toEqual(expected)
})

test("no connection is tried again; a connection that dies after the headers is not", async () => {
  const { url, close } = await listen(createServer())
  await close()
  const gone = optionsFor("openai-chat", url, { retries: 1 })
  expect(await problemOf(callModel(gone.options, callOf("openai-chat", true)))).toMatchObject({
    code: "upstream-unreachable",
    reason: "ECONNREFUSED",
  })
  expect(gone.waits).toHaveLength(1)
  const server = await scripted(() => ({ text: "half of it", fault: { type: "cut-mid" } }))
  const cut = optionsFor("openai-chat", server.url)
  expect((await problemOf(callModel(cut.options, callOf("openai-chat", false)))).code).toBe("upstream-unreachable")
  expect(cut.waits).toEqual([])
})

test("a stop while waiting for the next attempt ends the call", async () => {
  const server = await scripted(() => ({ fault: { type: "http-500" } }))
  const controller = new AbortController()
  const { options } = optionsFor("openai-chat", server.url, { wait: async () => controller.abort() })
  const call = callOf("openai-chat", false, { signal: controller.signal })
  expect((await problemOf(callModel(options, call))).code).toBe("upstream-stopped")
  expect(server.requests).toHaveLength(1)
})

test("a server that answers whole what was to be streamed is understood", async () => {
  const answer = '{"choices":[{"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}]}'
  const url = await serve((_, response) => response.writeHead(200, json).end(answer))
  const called = await callModel(optionsFor("openai-chat", url).options, callOf("openai-chat", true))
  expect(called).toMatchObject({ type: "whole", response: { stop: "end" } })
})

test("a server that repeats the key in the midst of a stream does not get it into ours", async () => {
  const url = await serve((_, response) =>
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(`data: {"error":{"message":"wrong key ${key}","type":"auth"}}\n\n`),
  )
  const events = await eventsOf(await callModel(optionsFor("openai-chat", url).options, callOf("openai-chat", true)))
  const problems = events.flatMap((event) => (event.type === "error" ? event.problem : []))
  expect(problems).toEqual([{ code: "upstream-error", type: "auth", message: "wrong key [key]" }])
})

test("a page where a stream should be is no answer", async () => {
  const url = await serve((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(`<p>${key}`))
  const { options } = optionsFor("openai-chat", url)
  expect((await problemOf(callModel(options, callOf("openai-chat", true)))).code).toBe("response-invalid")
})
