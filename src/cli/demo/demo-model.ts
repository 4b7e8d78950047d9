import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { callId, tokens, type Usage } from "../../message/message.ts"
import { countO200k } from "../../tokens/counter.ts"
import { createPromptCache, type PromptCache, type PromptPiece, tokensOfPieces } from "../../tokens/prompt-cache.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { SseEvent } from "../../wire/sse.ts"
import type { StreamEvent } from "../../wire/stream.ts"
import { encodeStream } from "../../wire/stream-encode.ts"
import { demoModel, demoWindowTokens } from "./demo-options.ts"
import type { ScriptedCall } from "./order-desk.ts"
import { type Step, story, type VisibleRequest } from "./story.ts"

/** What the demo's model says to one request. */
type ModelAnswer = {
  /** Unlike that of any other step of the story: calls are named by it, and a result says by its call which step comes next. */
  readonly step: string
  readonly text?: string
  readonly calls: readonly ScriptedCall[]
}

/** A server with Anthropic's API that streams answers from a script; its prompt cache is simulated. */
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
/** Hundreds of times its window: a larger body is not the demo's. */
const maxBodyBytes = 32 * 1024 * 1024

type Served = { readonly windowTokens: number; readonly cache: PromptCache; readonly requests: string[] }

/** Start the demo's model on a free port of this machine; only programs on it can reach it. */
export async function startDemoModel({ windowTokens = demoWindowTokens } = {}): Promise<DemoModel> {
  const served: Served = { windowTokens, cache: createPromptCache({ leastTokens: 0 }), requests: [] }
  // By `import`, all of `fetch` would be loaded too.
  const { createServer } = process.getBuiltinModule("node:http")
  const server = createServer((request, response) => {
    answer(served, request, response).catch(() => response.destroy())
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => [...served.requests],
    last: () => served.requests.at(-1),
    close: async () => {
      const closed = once(server.close(), "close")
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  { requests, windowTokens, cache }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // So that nobody takes it for a real model's.
  response.setHeader("x-holdfast-demo", "a scripted model, no real one; its prompt cache is simulated")
  const refuse = (status: number, type: string, message: string): void => {
    const body = JSON.stringify({ type: "error", error: { type, message } })
    response.writeHead(status, { "content-type": "application/json" }).end(body)
  }
  const text = await readBody(request)
  if (text === undefined) return refuse(413, "request_too_large", "Request exceeds the maximum size")
  const body = tryParse(text)
  if (request.method !== "POST" || !isObject(body))
    return refuse(400, "invalid_request_error", "The scripted model of the demo takes the body of a message alone.")
  requests.push(text)
  if (requests.length > maxRequests) requests.shift()
  const pieces = blocksInCacheOrder(body)
  const sent = tokensOfPieces(pieces)
  // The error message of the real API.
  if (sent > windowTokens)
    return refuse(400, "invalid_request_error", `prompt is too long: ${sent} tokens > ${windowTokens} maximum`)
  const said = scriptedAnswer(body)
  const { readTokens, writtenTokens } = cache.read("anthropic-messages", demoModel, pieces)
  const usage = {
    inputTokens: tokens(sent),
    outputTokens: tokens(countO200k(JSON.stringify(said))),
    cacheReadTokens: tokens(readTokens),
    cacheWriteTokens: tokens(writtenTokens),
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
  for (const { raw } of streamedAnswer(said, usage, `msg_demo_${requests.length}`)) response.write(raw)
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

/** Calls of one step are told apart by their number. */
export const callIdOf = (step: string, n: number): string => `toolu_demo_${step}_${n}`

const stepOfCall = (id: string): string | undefined => /^toolu_demo_(\w{1,20})_\d{1,3}$/.exec(id)?.[1]

/** An answer as a stream of server-sent events, a few words at a time. */
export function streamedAnswer({ step, text, calls }: ModelAnswer, usage: Usage, id: string): readonly SseEvent[] {
  const said = text === undefined ? [] : [{ start: { part: "text" } as const, type: "text-delta" as const, text }]
  const called = calls.map(({ tool, input }, n) => ({
    start: { part: "tool-call", callId: callId(callIdOf(step, n)), tool, kind: "function" } as const,
    type: "input-delta" as const,
    text: JSON.stringify(input),
  }))
  const parts = [...said, ...called].flatMap(({ start, type, text: whole }, index): readonly StreamEvent[] => [
    { type: "part-start", index, ...start },
    ...(whole.match(/.{1,24}/gsu) ?? []).map((piece) => ({ type, index, text: piece })),
    { type: "part-end", index },
  ])
  const stop = calls.length > 0 ? "tool-calls" : "end"
  return encodeStream("anthropic-messages", [
    { type: "response-start", id, model: demoModel },
    { type: "usage", usage },
    ...parts,
    { type: "response-stop", stop },
    { type: "response-end", stop, usage },
  ])
}

/** The blocks of an Anthropic request in the order of its cache: tools, system, messages. What cannot be read takes nothing. */
export function blocksInCacheOrder(body: unknown): readonly PromptPiece[] {
  if (!isObject(body)) return []
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : []
  return [
    ...requestBlocks(body.tools).map((tool) => pieceOf("tool", tool)),
    ...requestBlocks(body.system).map((block) => pieceOf("system", block)),
    ...messages.flatMap(({ role, content }) => requestBlocks(content).map((block) => pieceOf(String(role), block))),
  ]
}

/** A text stands for one block of text, as on the wire. */
const requestBlocks = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  typeof value === "string" ? [{ type: "text", text: value }] : Array.isArray(value) ? value.filter(isObject) : []

/** Breakpoints move from call to call; what they stand on is the same block. */
function pieceOf(
  place: string,
  { cache_control: breakpoint, ...block }: Readonly<Record<string, unknown>>,
): PromptPiece {
  const json = JSON.stringify(block)
  const isBreakpoint = breakpoint !== undefined && breakpoint !== null
  return { content: `${place} ${json}`, tokens: countO200k(json), isBreakpoint }
}

const steps: readonly Step[] = story.flatMap(({ steps: own }) => own)

/** The answer to a request that is not part of the story. */
const offScript: Step = {
  id: "off",
  answer: () => ({
    text: "I am the scripted model of the holdfast demo, no real one, and my script has no answer to this. Name a real model to get one.",
  }),
}

/**
 * What the script says to a request. It goes by the request alone: the last thing in it that the story knows says which step comes next,
 * and what a step says rests on what the request shows. What was left out of it, the script does not know.
 */
export function scriptedAnswer(body: Readonly<Record<string, unknown>>): ModelAnswer {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : []
  const step = nextStep(messages) ?? offScript
  const reading: VisibleRequest = { text: JSON.stringify([body.system, messages]) }
  return { step: step.id, calls: [], ...step.answer(reading) }
}

function nextStep(messages: readonly Readonly<Record<string, unknown>>[]): Step | undefined {
  for (const { role, content } of messages.toReversed()) {
    if (role !== "user") continue
    for (const block of requestBlocks(content).toReversed()) {
      const step = typeof block.tool_use_id === "string" ? stepAfter(block.tool_use_id) : firstStep(block.text)
      if (step !== undefined) return step
    }
  }
  return undefined
}

function stepAfter(called: string): Step | undefined {
  const id = stepOfCall(called)
  const at = id === undefined ? -1 : steps.findIndex((step) => step.id === id)
  return at < 0 ? undefined : steps[at + 1]
}

const firstStep = (text: unknown): Step | undefined => story.find(({ says }) => text === says)?.steps[0]
