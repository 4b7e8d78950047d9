import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { startGateway } from "../../gateway/gateway.ts"
import { usualGatewayLimits, usualTimes } from "../../gateway/settings/gateway-options.ts"
import type { Upstream } from "../../gateway/settings/upstream.ts"
import { factsOf } from "../../guard/facts/facts.ts"
import { createGuard, type Guard } from "../../guard/guard.ts"
import type { PolicyInput } from "../../guard/policy/templates.ts"
import { present } from "../../message/present.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import type { Store } from "../../store/store.ts"
import { countO200k } from "../../tokens/counter.ts"
import { createPromptCache, type PromptCache, tokensOfPieces } from "../../tokens/prompt-cache.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import {
  type DemoOptions,
  type DemoOutcome,
  demoModel,
  demoModels,
  demoWindowTokens,
  isDemoModel,
} from "./demo-options.ts"
import {
  blocksInCacheOrder,
  errorAnswer,
  type ModelAnswer,
  stepOfCall,
  streamedAnswer,
  wholeAnswer,
} from "./model-wire.ts"
import { deskTools } from "./order-desk.ts"
import { runDemo } from "./run-demo.ts"
import { type Step, story, type VisibleRequest } from "./story.ts"

export type PlayOptions = Pick<DemoOptions, "write" | "colour" | "columns" | "pace" | "signal"> & {
  /** The address that real agents are told to connect to; absent if no gateway keeps listening. */
  readonly connectUrl?: string
  /** Where the demo's session is kept, for a look at it afterwards. */
  readonly store: Store
  readonly version: string
  readonly now: () => number
  readonly onFault: (error: unknown) => void
}

/** Run the demo through a gateway of its own, so that its policy and window affect no other client. */
export async function playDemo({
  connectUrl,
  store,
  version,
  now,
  onFault,
  ...shown
}: PlayOptions): Promise<DemoOutcome> {
  const model = await startDemoModel()
  const holdfast = createHoldfast({ store, now, agent: "demo", guard: { guard: demoGuard() } })
  try {
    const gateway = await startGateway({
      ...{ host: "127.0.0.1", port: 0, allowedHosts: [], allowedOrigins: [], tenants: "one", recall: false },
      ...{ limits: usualGatewayLimits, admin: { origins: [] }, askTimeoutMs: 1000, keepAliveMs: 15_000 },
      upstreams: [{ ...demoUpstream(model.url), windowTokens: demoWindowTokens }],
      ...{ holdfast, store, version, now, onFault },
    })
    try {
      return await runDemo({
        ...shown,
        url: gateway.url,
        ...present({ connectUrl }),
        model: demoModel,
        holdfast,
        sent: model.last,
      })
    } finally {
      await gateway.close()
    }
  } finally {
    await holdfast.close()
    await model.close()
  }
}

/** The scripted model as an upstream. It serves only its own model name, so it can be listed before all others. */
export const demoUpstream = (url: string): Upstream => ({
  name: "demo",
  families: ["anthropic"],
  models: [demoModels],
  baseUrl: url,
  ...usualTimes,
})

/** The demo's policy, in Cedar. It applies to one tool, whose name no other agent uses. */
const demoPolicy: PolicyInput = {
  name: "demo-mail",
  text: `@rule("E-mail may only be sent to addresses at example.com.")
@instead("Send it to an address at example.com, or ask the user what to do.")
forbid(principal, action, resource == Holdfast::Tool::"${deskTools.sendEmail}")
when { context.matches.contains("outside:desk-domains") || context.unresolvedRecipients };`,
}

/** The list of domains that the policy refers to by name. */
const demoMatchers = {
  "desk-domains": { of: "recipientDomains", patterns: ["example.com"] },
} as const

const ownTools: ReadonlySet<string> = new Set(Object.values(deskTools))

/** A guard for the demo's own tools; it allows all others. */
export function demoGuard(): Guard {
  const guard = createGuard([demoPolicy], { matchers: demoMatchers })
  return {
    policies: guard.policies,
    judge: (call, circumstances) =>
      ownTools.has(call.tool)
        ? guard.judge(call, circumstances)
        : { decision: "allow", reasons: [], facts: factsOf({ tool: call.tool, input: undefined }), errors: [] },
  }
}

type DemoModelOptions = { readonly windowTokens?: number }

/** A server with Anthropic's API that answers from a script; its prompt cache is simulated. */
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
/** A header of every response, so that nobody takes it for a real model's. */
const label = { "x-holdfast-demo": "a scripted model, no real one; its prompt cache is simulated" }

type Served = {
  readonly windowTokens: number
  readonly cache: PromptCache
  readonly requests: string[]
  answered: number
}

/** Start the demo's model on a free port of this machine; only programs on it can reach it. */
export async function startDemoModel({ windowTokens = demoWindowTokens }: DemoModelOptions = {}): Promise<DemoModel> {
  const served: Served = { windowTokens, cache: createPromptCache({ leastTokens: 0 }), requests: [], answered: 0 }
  // By `import`, all of `fetch` would be loaded too.
  const { createServer } = process.getBuiltinModule("node:http")
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
  const tokens = tokensOfPieces(blocksInCacheOrder(body))
  if (path === "/v1/messages/count_tokens")
    return void response
      .writeHead(200, { "content-type": "application/json", ...label })
      .end(`{"input_tokens":${tokens}}`)
  served.requests.push(text)
  if (served.requests.length > maxRequests) served.requests.shift()
  // The error message of the real API.
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
  const usage = { ...served.cache.read("anthropic-messages", demoModel, blocksInCacheOrder(body)), outputTokens }
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
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
    if (!Array.isArray(blocks)) continue
    for (const block of blocks.filter(isObject).toReversed()) {
      const step = typeof block.tool_use_id === "string" ? stepAfter(block.tool_use_id) : firstStep(block.text)
      if (step !== undefined) return step
    }
  }
  return undefined
}

function stepAfter(callId: string): Step | undefined {
  const id = stepOfCall(callId)
  const at = id === undefined ? -1 : steps.findIndex((step) => step.id === id)
  return at < 0 ? undefined : steps[at + 1]
}

const firstStep = (text: unknown): Step | undefined => story.find(({ says }) => text === says)?.steps[0]
