import { createServer, type RequestListener } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import { listen } from "../../test/model-server/loopback.ts"
import { type ModelServer, startModelServer } from "../../test/model-server/model-server.ts"
import type { Script } from "../../test/model-server/script.ts"
import { HoldfastError, type Problem } from "../message/errors.ts"
import { type Format, formats } from "../message/message.ts"
import { createModel, type ModelOptions } from "./model.ts"

const key = "sk-very-secret-0123456789"
const header = "tenant-secret-abcdef"

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function scripted(script: Script): Promise<ModelServer> {
  const server = await startModelServer({ script })
  open.push(server.close)
  return server
}

async function serve(handle: RequestListener): Promise<string> {
  const { url, close } = await listen(createServer(handle))
  open.push(close)
  return url
}

const optionsFor = (format: Format, baseUrl: string, changed: Partial<ModelOptions> = {}): ModelOptions => ({
  format,
  baseUrl,
  apiKey: key,
  headers: { "X-Tenant": header },
  model: "model-1",
  timeoutMs: 10_000,
  maxResponseBytes: 1_000_000,
  maxOutputTokens: 500,
  ...changed,
})

const question = { system: "be brief", user: "what is it?" }

/** The problem that the call ends with; it must hold no secret, in whatever way it is printed. */
async function problemOf(options: ModelOptions, signal?: AbortSignal): Promise<Problem> {
  try {
    await createModel(options).ask({ ...question, ...(signal === undefined ? {} : { signal }) })
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const printed = `${error.message} ${error.stack} ${JSON.stringify(error.problem)} ${String(error.cause)}`
    expect(printed).not.toContain(key)
    expect(printed).not.toContain(header)
    return error.problem
  }
  throw new Error("it answered")
}

describe.each(formats)("%s", (format) => {
  test("asks one question in the format's own words and gives back the words of the answer", async () => {
    const server = await scripted(() => ({
      reasoning: "hm",
      text: "it is fine",
      usage: { inputTokens: 12, outputTokens: 3, reasoningTokens: 0 },
    }))
    const answer = await createModel(optionsFor(format, server.url)).ask(question)
    expect(answer).toMatchObject({ text: "it is fine", stop: "end", usage: { inputTokens: 12, outputTokens: 3 } })
    const sent = server.requests[0]
    expect(JSON.stringify(sent?.json)).toMatch(/be brief.*what is it\?|what is it\?.*be brief/)
    expect(JSON.stringify(sent?.json)).toContain("500")
    expect(JSON.stringify(sent?.headers)).toContain(key)
    expect(sent?.headers["x-tenant"]).toBe(header)
    expect(sent?.path).not.toContain(key)
  })

  test("takes a base URL that already ends in its version or a slash", async () => {
    const server = await scripted(() => ({ text: "yes" }))
    const version = format === "gemini" ? "/v1beta/" : "/v1/"
    await createModel(optionsFor(format, server.url + version)).ask(question)
    await createModel(optionsFor(format, `${server.url}/`)).ask(question)
    expect(server.requests.map(({ response }) => response.status)).toEqual([200, 200])
    expect(new Set(server.requests.map(({ path }) => path)).size).toBe(1)
  })

  test("an error status is told with its words", async () => {
    const server = await scripted(() => ({ fault: { type: "http-429" } }))
    expect(await problemOf(optionsFor(format, server.url))).toMatchObject({ code: "upstream-error", status: 429 })
    const long = await scripted(() => ({ fault: { type: "context-length" } }))
    expect(await problemOf(optionsFor(format, long.url))).toMatchObject({ code: "upstream-error", status: 400 })
  })

  test("a refusal, an empty answer and a cut answer are no answers", async () => {
    const said: Script = ({ index }) =>
      [{ text: "I", stop: "refusal" } as const, { text: " \n" }, { text: "half", stop: "length" } as const][index] ?? {}
    const server = await scripted(said)
    const options = optionsFor(format, server.url)
    expect(await problemOf(options)).toEqual({ code: "answer-refused", model: "model-1" })
    expect(await problemOf(options)).toEqual({ code: "answer-empty", model: "model-1" })
    expect(await problemOf(options)).toEqual({ code: "answer-cut", model: "model-1", limitTokens: 500 })
  })

  test("a model that only calls a tool gave no answer", async () => {
    const server = await scripted(() => ({ calls: [{ tool: "run", input: {} }] }))
    expect((await problemOf(optionsFor(format, server.url))).code).toBe("answer-empty")
  })

  test("silence before and in the middle of the answer ends at the time limit", async () => {
    const server = await scripted(({ index }) => ({
      text: "late",
      fault: { type: index === 0 ? "delay" : "stall", ms: 5_000 },
    }))
    const options = optionsFor(format, server.url, { timeoutMs: 150 })
    expect(await problemOf(options)).toMatchObject({ code: "upstream-timeout", limitMs: 150 })
    expect(await problemOf(options)).toMatchObject({ code: "upstream-timeout" })
  })

  test("a connection that dies is unreachable, in the middle of the answer too", async () => {
    const server = await scripted(({ index }) => ({
      text: "some words",
      fault: { type: index === 0 ? "cut-early" : "cut-mid" },
    }))
    expect((await problemOf(optionsFor(format, server.url))).code).toBe("upstream-unreachable")
    expect((await problemOf(optionsFor(format, server.url))).code).toBe("upstream-unreachable")
  })

  test("an answer over the limit is not read to its end", async () => {
    const server = await scripted(() => ({ text: "x".repeat(50_000) }))
    const options = optionsFor(format, server.url, { maxResponseBytes: 10_000 })
    expect(await problemOf(options)).toMatchObject({ code: "upstream-too-large", limitBytes: 10_000 })
  })

  test("invalid JSON and JSON without an answer are other Problems than an upstream error", async () => {
    const html = await serve((_, response) => response.end(`<html>${key}</html>`))
    expect(await problemOf(optionsFor(format, html))).toMatchObject({ code: "response-invalid", expected: "JSON" })
    if (format === "gemini") return // an object without candidates is an answer without words there
    const other = await serve((_, response) => response.end('{"hello":1}'))
    expect((await problemOf(optionsFor(format, other))).code).toBe("response-invalid")
  })

  test("a server that repeats the key in its error does not get it into ours", async () => {
    const url = await serve((request, response) => {
      response.writeHead(401).end(
        JSON.stringify({
          error: { type: "auth", message: `Wrong key ${key}, or ${JSON.stringify(request.headers)}` },
        }),
      )
    })
    const problem = await problemOf(optionsFor(format, url))
    expect(problem).toMatchObject({ code: "upstream-error", status: 401, type: "auth" })
  })
})

test("a port where nobody listens is unreachable, with the system's word for it", async () => {
  const { url, close } = await listen(createServer())
  await close()
  expect(await problemOf(optionsFor("openai-chat", url))).toMatchObject({
    code: "upstream-unreachable",
    reason: "ECONNREFUSED",
  })
})

test("an endless body of unknown length is given up at the limit", async () => {
  let sent = 0
  const url = await serve((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536))) sent += 65_536
      if (!response.destroyed) response.once("drain", more)
    }
    more()
  })
  expect((await problemOf(optionsFor("openai-chat", url, { maxResponseBytes: 100_000 }))).code).toBe(
    "upstream-too-large",
  )
  expect(sent).toBeLessThan(50_000_000)
})

test("a redirect is not followed: the key goes to no other server", async () => {
  const elsewhere = await scripted(() => ({ text: "caught it" }))
  const url = await serve((_, response) =>
    response.writeHead(307, { location: `${elsewhere.url}/v1/chat/completions` }).end(),
  )
  expect(await problemOf(optionsFor("openai-chat", url))).toMatchObject({ code: "upstream-error", status: 307 })
  expect(elsewhere.requests).toEqual([])
})

test("a key that no header can carry is not repeated", async () => {
  const options = optionsFor("openai-chat", "http://127.0.0.1:1", { apiKey: `${key}\nx` })
  expect((await problemOf(options)).code).toBe("upstream-unreachable")
})

test.each(["not a url", "ftp://host/", ""])("%j is no base URL", (baseUrl) => {
  expect(() => createModel(optionsFor("gemini", baseUrl))).toThrow(HoldfastError)
})

test("an error in an answer of status 200 is an error", async () => {
  const url = await serve((_, response) => response.end('{"error":{"message":"quota gone","code":"quota"}}'))
  expect(await problemOf(optionsFor("openai-chat", url))).toMatchObject({ type: "quota", message: "quota gone" })
})

test("the words of OpenAI's refusal are not an answer", async () => {
  const chat =
    '{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I can not"},"finish_reason":"stop"}]}'
  const responses =
    '{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I can not"}]}]}'
  const url = await serve((request, response) => response.end(request.url?.includes("chat") ? chat : responses))
  expect((await problemOf(optionsFor("openai-chat", url))).code).toBe("answer-refused")
  expect((await problemOf(optionsFor("openai-responses", url))).code).toBe("answer-refused")
})

test("the caller can stop a call, before it started and while it waits", async () => {
  const server = await scripted(() => ({ text: "late", fault: { type: "delay", ms: 5_000 } }))
  const options = optionsFor("anthropic-messages", server.url)
  expect((await problemOf(options, AbortSignal.abort())).code).toBe("upstream-stopped")
  expect(server.requests).toEqual([])
  const controller = new AbortController()
  const waiting = problemOf(options, controller.signal)
  controller.abort()
  expect((await waiting).code).toBe("upstream-stopped")
})
