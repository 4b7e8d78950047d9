import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { callId, tokens, type Usage } from "../../message/message.ts"
import { countO200k } from "../../tokens/counter.ts"
import { createPromptCache, type PromptPiece, tokensOfPieces } from "../../tokens/prompt-cache.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { SseEvent } from "../../wire/sse.ts"
import type { StreamEvent } from "../../wire/stream.ts"
import { encodeStream } from "../../wire/stream-steps.ts"
import { offScript, type ScriptedCall, type Step, story } from "./story.ts"

/** The name of the scripted model; no real model has it. */
export const demoModel = "holdfast-demo"

/** The window of the scripted model: so small that a session of some twenty calls exceeds it twice. */
export const demoWindowTokens = 14_000

type ModelAnswer = {
  /** Unique among the steps of the story: call ids contain it, so that a result tells which step comes next. */
  readonly step: string
  readonly text?: string | undefined
  readonly calls: readonly ScriptedCall[]
}

export type DemoModel = Awaited<ReturnType<typeof startDemoModel>>

const maxRequests = 200
/** Limit on a request body: hundreds of times the window. */
const maxBodyLength = 32 * 1024 * 1024

/** Starts a server with Anthropic's API on a free port of this machine. It streams scripted responses and simulates a prompt cache. */
export async function startDemoModel({ windowTokens = demoWindowTokens } = {}) {
  const requests: string[] = []
  const cache = createPromptCache({ leastTokens: 0 })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Marks the response, so that nobody takes it for that of a real model.
    response.setHeader("x-holdfast-demo", "a scripted model, no real one; its prompt cache is simulated")
    const refuse = (status: number, type: string, message: string): void => {
      const body = JSON.stringify({ type: "error", error: { type, message } })
      response.writeHead(status, { "content-type": "application/json" }).end(body)
    }
    let text = ""
    for await (const chunk of request.setEncoding("utf8")) if (text.length <= maxBodyLength) text += String(chunk)
    if (text.length > maxBodyLength) return refuse(413, "request_too_large", "Request exceeds the maximum size")
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
  // Not an `import`, which would load `fetch` too.
  const { createServer } = process.getBuiltinModule("node:http")
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  return {
    /** Without a slash at the end. */
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    /** Bodies of model calls as they arrived, including refused ones; the newest last. */
    requests: (): readonly string[] => [...requests],
    last: (): string | undefined => requests.at(-1),
    close: async (): Promise<void> => {
      const closed = once(server.close(), "close")
      server.closeAllConnections()
      await closed
    },
  }
}

/** The id of a call: its step, and its number within the step. */
export const callIdOf = (step: string, n: number): string => `toolu_demo_${step}_${n}`

const stepOfCall = (id: string): string | undefined => /^toolu_demo_(\w{1,20})_\d{1,3}$/.exec(id)?.[1]

/** A response as a stream of server-sent events, a few words at a time. */
function streamedAnswer({ step, text, calls }: ModelAnswer, usage: Usage, id: string): readonly SseEvent[] {
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

type Fields = Readonly<Record<string, unknown>>

const messagesIn = ({ messages }: Fields): readonly Fields[] =>
  Array.isArray(messages) ? messages.filter(isObject) : []

/** The blocks of an Anthropic request in the order of its cache: tools, system, messages. An invalid body has none. */
export function blocksInCacheOrder(body: unknown): readonly PromptPiece[] {
  if (!isObject(body)) return []
  return [
    ...requestBlocks(body.tools).map((tool) => pieceOf("tool", tool)),
    ...requestBlocks(body.system).map((block) => pieceOf("system", block)),
    ...messagesIn(body).flatMap(({ role, content }) =>
      requestBlocks(content).map((block) => pieceOf(String(role), block)),
    ),
  ]
}

/** The blocks of a content member, in which a plain string is one text block. */
export const requestBlocks = (value: unknown): readonly Fields[] =>
  typeof value === "string" ? [{ type: "text", text: value }] : Array.isArray(value) ? value.filter(isObject) : []

/** Leaves the breakpoint out of the content, because breakpoints move from call to call while the block stays the same. */
function pieceOf(place: string, { cache_control: breakpoint, ...block }: Fields): PromptPiece {
  const json = JSON.stringify(block)
  return { content: `${place} ${json}`, tokens: countO200k(json), isBreakpoint: (breakpoint ?? null) !== null }
}

/**
 * The script's response to a request. It depends only on the request: the last known user text or tool result in it decides which step
 * comes next, and the response of a step uses only values that the request contains.
 */
export function scriptedAnswer(body: Fields): ModelAnswer {
  const messages = messagesIn(body)
  const said = messages.filter(({ role }) => role === "user").flatMap(({ content }) => requestBlocks(content))
  const steps = said.map(({ tool_use_id: called, text }) =>
    typeof called === "string" ? stepAfter(called) : story.find(({ says }) => text === says)?.steps[0],
  )
  const step = steps.findLast((one) => one !== undefined) ?? offScript
  const { text, calls = [] } = step.answer(JSON.stringify([body.system, messages]))
  return { step: step.id, calls, ...(text === undefined ? {} : { text }) }
}

const allSteps: readonly Step[] = story.flatMap(({ steps }) => steps)

function stepAfter(called: string): Step | undefined {
  const id = stepOfCall(called)
  const at = allSteps.findIndex((step) => step.id === id)
  return at < 0 ? undefined : allSteps[at + 1]
}
