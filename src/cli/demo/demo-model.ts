import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { countO200k } from "../../tokens/o200k.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { demoModel, demoWindowTokens, isDemoModel } from "./demo-names.ts"
import { errorAnswer, streamedAnswer, wholeAnswer } from "./model-wire.ts"
import { createPromptCache, type PromptCache } from "./prompt-cache.ts"
import { piecesOf, tokensOf } from "./request-pieces.ts"
import { scriptedAnswer } from "./scripted-answer.ts"

export type DemoModelOptions = { readonly windowTokens?: number }

/** A scripted model behind Anthropic's wire. It is no model: it says what stands in its script, and its cache is simulated. */
export type DemoModel = {
  /** Without a slash at the end. */
  readonly url: string
  /** Bodies of model calls as they came in, refused ones included; the newest last, at most 200. */
  readonly requests: () => readonly string[]
  /** The newest of them. */
  readonly last: () => string | undefined
  readonly close: () => Promise<void>
}

const maxRequests = 200
/** Hundreds of times its window; more is no request of the demo. */
const maxBodyBytes = 32 * 1024 * 1024
/** What it answers goes by this name, so that nobody takes it for a model's answer. */
const label = { "x-holdfast-demo": "a scripted model, no real one; its prompt cache is simulated" }

type Served = {
  readonly windowTokens: number
  readonly cache: PromptCache
  readonly requests: string[]
  answered: number
}

/** Start the demo's model on a free port of this machine; only programs on it can reach it. */
export async function startDemoModel({ windowTokens = demoWindowTokens }: DemoModelOptions = {}): Promise<DemoModel> {
  const served: Served = { windowTokens, cache: createPromptCache(), requests: [], answered: 0 }
  const server = createServer((request, response) => {
    answer(served, request, response).catch(() => response.destroy())
  })
  await listen(server)
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => [...served.requests],
    last: () => served.requests.at(-1),
    close: () => close(server),
  }
}

function listen(server: Server): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once("error", reject).listen(0, "127.0.0.1", resolve)
  return promise
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  return promise
}

async function answer(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "/").split("?")[0]
  const refuse = (status: number, type: string, message: string): void => {
    response.writeHead(status, { "content-type": "application/json", ...label }).end(errorAnswer(type, message))
  }
  const text = await readBody(request)
  if (text === undefined) return refuse(413, "request_too_large", "Request exceeds the maximum size")
  if (request.method !== "POST" || (path !== "/v1/messages" && path !== "/v1/messages/count_tokens"))
    return refuse(404, "not_found_error", "The scripted model of the demo answers POST /v1/messages alone.")
  const body = tryParse(text)
  if (!isObject(body)) return refuse(400, "invalid_request_error", "The body is no JSON object.")
  if (!isDemoModel(body.model))
    return refuse(404, "not_found_error", `model: the scripted model of the demo serves ${demoModel} alone`)
  const tokens = tokensOf(piecesOf(body))
  if (path === "/v1/messages/count_tokens")
    return void response
      .writeHead(200, { "content-type": "application/json", ...label })
      .end(`{"input_tokens":${tokens}}`)
  served.requests.push(text)
  if (served.requests.length > maxRequests) served.requests.shift()
  // In the API's own words.
  if (tokens > served.windowTokens)
    return refuse(400, "invalid_request_error", `prompt is too long: ${tokens} tokens > ${served.windowTokens} maximum`)
  generate(served, body, body.model, response)
}

function generate(
  served: Served,
  body: Readonly<Record<string, unknown>>,
  model: string,
  response: ServerResponse,
): void {
  const said = scriptedAnswer(body)
  const outputTokens = countO200k(JSON.stringify(said))
  const usage = { ...served.cache.use(piecesOf(body)), outputTokens }
  const id = ++served.answered
  if (body.stream !== true) {
    response.writeHead(200, { "content-type": "application/json", ...label }).end(wholeAnswer(said, usage, model, id))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", ...label })
  for (const event of streamedAnswer(said, usage, model, id)) response.write(event)
  response.end()
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue
    length += chunk.length
    if (length <= maxBodyBytes) chunks.push(chunk)
  }
  return length > maxBodyBytes ? undefined : Buffer.concat(chunks).toString("utf8")
}
