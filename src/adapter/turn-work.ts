import type { Stack } from "../compact/stack/stack.ts"
import { HoldfastError } from "../message/errors.ts"
import {
  type Format,
  type ModelRequest,
  type ModelResponse,
  type Transcript,
  tokens,
  type Usage,
  wireText,
} from "../message/message.ts"
import { namesIn, present, tableOf } from "../message/present.ts"
import { isOpenai, readBaseUrl } from "../model/address.ts"
import type { Trace } from "../session/log/event.ts"
import { charactersPerToken, createCharacterMeter } from "../session/one-shot/character-meter.ts"
import { type CompactResult, compactRequest } from "../session/one-shot/compact-request.ts"
import type { CompactOptions } from "../session/one-shot/options.ts"
import { meterFor } from "../session/one-shot/plan-request.ts"
import type { Report } from "../session/one-shot/report.ts"
import type { SummarizerOption } from "../session/one-shot/summarizer.ts"
import { stackRequest } from "../session/stack/stack-options.ts"
import { findModel, plainId } from "../tokens/models.ts"
import { decodeNext, decodeRequest } from "../wire/decode.ts"
import { encodeRequest } from "../wire/encode.ts"
import { isObject } from "../wire/json.ts"
import { type Fields, overlay, write } from "../wire/json-write.ts"
import { translate } from "../wire/translate.ts"
import { type CallJudge, createCallJudge } from "./run-calls.ts"
import {
  type ContextBudget,
  declareTools,
  type TurnAgent,
  type TurnEvent,
  type TurnModel,
  type TurnOptions,
  type TurnSoFar,
  type TurnTool,
  takeSteering,
  usualTurnLimits,
} from "./turn-options.ts"
import { placeMessages, type TurnRequest, type TurnSession, userMessages } from "./turn-session.ts"

export type TurnWork = {
  readonly options: TurnOptions
  readonly stream: boolean
  readonly context: TurnContext
  readonly emit: (event: TurnEvent) => void
  judge: CallJudge | undefined
  /** All messages, including those before the turn; the turn's own begin at index `from`. */
  log: Transcript
  from: number
  text: string
  usage: Usage
  iterations: number
  trace: Trace
}

const usageNames = namesIn("inputTokens outputTokens cacheReadTokens cacheWriteTokens")
const noUsage: Usage = tableOf(usageNames, () => tokens(0))

export function startWork(options: TurnOptions): TurnWork {
  const { agent, tools = [], session, onEvent, stream = onEvent !== undefined } = options
  const context =
    session === undefined
      ? createContext(turnBody(agent, tools, stream), options)
      : createSessionContext(session, options, stream)
  const work: TurnWork = {
    options,
    stream,
    context,
    judge: options.guard === undefined ? undefined : createCallJudge(options.guard),
    emit: (event) => {
      // Keep the partial text of an answer that may break off.
      if (event.type === "model-call-begun") work.text = ""
      if (event.type === "text-delta") work.text += event.text
      onEvent?.(event)
    },
    log: [],
    from: 0,
    text: "",
    usage: noUsage,
    iterations: 0,
    trace: [],
  }
  return work
}

export const soFar = ({ text, log, from, usage, iterations, trace, judge }: TurnWork): TurnSoFar => ({
  text,
  messages: log.slice(from),
  usage,
  iterations,
  trace,
  ...present({ spentMinor: judge?.spentMinor() }),
})

/** Waits for a promise until the turn is stopped; what the promise does afterwards is ignored. */
export async function stoppable<Value>(
  { options: { signal }, iterations }: TurnWork,
  work: Promise<Value>,
): Promise<Value> {
  if (signal === undefined) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(new HoldfastError({ code: "turn-stopped", iterations }))
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  try {
    return await Promise.race([promise, work])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

/** Adds messages of any format, converted to the turn's own. */
export async function takeIn(work: TurnWork, messages: Transcript): Promise<Transcript> {
  if (messages.length === 0) return []
  const { format } = work.options.agent.model
  const { messages: carried, lost } = translate(messages, format)
  const placed = placeMessages(format, work.log, carried)
  work.log = [...work.log, ...placed]
  work.trace = [...work.trace, ...lost]
  await stoppable(work, work.context.take(placed))
  return placed
}

/** Adds the messages that arrived meanwhile; returns whether there were any. */
export async function takeSaid(work: TurnWork): Promise<boolean> {
  const said = takeSteering(work.options.steer)
  if (said.length === 0) return false
  work.emit({ type: "steering-taken", messages: await takeIn(work, userMessages(said)) })
  return true
}

export function addUsage(work: TurnWork, usage: Usage | undefined): void {
  if (usage === undefined) return
  work.usage = tableOf(usageNames, (name) => tokens(work.usage[name] + usage[name]))
}

/** A context kept by a session: the session has the history and the budget, and only the settings of the call are merged into its body. */
function createSessionContext(
  session: TurnSession,
  { agent: { model, instructions }, tools = [], stack }: TurnOptions,
  stream: boolean,
): TurnContext {
  const { format, maxOutputTokens } = model
  const fields = settingsOver(turnSettings(model, stream))
  const declared = declareTools(model, tools)
  const request: TurnRequest = {
    format,
    model: model.model,
    stream,
    ...present({
      maxOutputTokens,
      system: instructions === "" ? undefined : instructions,
      tools: declared.length === 0 ? undefined : declared,
      stack,
    }),
  }
  return {
    take: async (messages) => {
      await session.append(messages)
    },
    record: async (response, messages) => {
      await session.record({ ...response, messages }, response.usage)
    },
    prepare: async ({ refused }) => {
      const asked = refused ? { ...request, occasion: { refused } } : request
      const { wire, body, trace } = await session.prepare(asked)
      const text = wire ?? (typeof body === "string" ? body : JSON.stringify(body))
      return { body: overlay(wireText(text), fields), trace }
    },
  }
}

/** Keeps only the name of the output limit that the server accepts. */
function settingsOver(settings: Readonly<Record<string, unknown>>): Fields {
  const fields = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, write(value)]))
  return "max_tokens" in settings ? { max_completion_tokens: undefined, ...fields } : fields
}

type Body = Readonly<Record<string, unknown>>

const outputLimits: Readonly<Record<Format, (model: TurnModel) => Body>> = {
  "anthropic-messages": ({ model, maxOutputTokens }) => ({
    max_tokens: maxOutputTokens ?? Math.min(usualTurnLimits.maxOutputTokens, findModel(model).outputTokens),
  }),
  "openai-chat": ({ baseUrl, maxOutputTokens }) =>
    present({ [isOpenai(readBaseUrl(baseUrl)) ? "max_completion_tokens" : "max_tokens"]: maxOutputTokens }),
  "openai-responses": ({ maxOutputTokens }) => present({ max_output_tokens: maxOutputTokens }),
  gemini: ({ maxOutputTokens, parameters = {} }) => {
    const { generationConfig } = parameters
    const config = { ...present({ maxOutputTokens }), ...(isObject(generationConfig) ? generationConfig : {}) }
    return Object.keys(config).length === 0 ? {} : { generationConfig: config }
  },
}

/** Builds the system part, followed by the empty list of messages. */
const openings: Readonly<Record<Format, (system: string | undefined) => Body>> = {
  "anthropic-messages": (system) => ({ ...present({ system }), messages: [] }),
  "openai-chat": (system) => ({ messages: system === undefined ? [] : [{ role: "system", content: system }] }),
  "openai-responses": (instructions) => ({ ...present({ instructions }), input: [] }),
  gemini: (text) => ({
    ...(text === undefined ? {} : { systemInstruction: { parts: [{ text }] } }),
    contents: [],
  }),
}

/** Matches OpenAI's reasoning models; other models refuse a request for reasoning. */
const reasons = /^(?:o\d|codex|gpt-(?:[5-9]|\d\d))(?!.*-chat)/

/** The provider stores nothing: reasoning comes back encrypted and is sent again with the next request. */
const responsesState = ({ model }: TurnModel): Body => ({
  store: false,
  ...(reasons.test(plainId(model)) ? { include: ["reasoning.encrypted_content"] } : {}),
})

/** The members of a body other than system, tools and messages. */
function turnSettings(model: TurnModel, stream: boolean): Body {
  const { format, parameters = {} } = model
  const { tools: _, ...others } = parameters
  return {
    ...(format === "gemini" ? {} : { model: model.model }),
    ...(format === "openai-responses" ? responsesState(model) : {}),
    ...others,
    ...outputLimits[format](model),
    ...streamFields(format, stream),
  }
}

/** Builds the request that every call of a turn starts from: everything except the conversation. */
export function turnBody(
  { model, instructions }: TurnAgent,
  tools: readonly TurnTool[],
  stream: boolean,
): ModelRequest {
  const { format } = model
  const declared = declareTools(model, tools)
  const body: Body = {
    ...turnSettings(model, stream),
    ...(declared.length === 0 ? {} : { tools: declared }),
    ...openings[format](instructions === "" ? undefined : instructions),
  }
  return decodeRequest(format, JSON.stringify(body))
}

/** The members that request a stream; Gemini has it in the URL path. */
function streamFields(format: Format, stream: boolean): Body {
  if (!stream || format === "gemini") return {}
  return { stream: true, ...(format === "openai-chat" ? { stream_options: { include_usage: true } } : {}) }
}

/** The body of the next call. `trace` has events only if the context was changed for it. */
type Prepared = { readonly body: string; readonly trace: Trace; readonly report?: Report }

/** The context of a turn: it takes messages, and returns the body of each call. */
type TurnContext = {
  /** Messages of the caller, the user or a tool. */
  readonly take: (messages: Transcript) => Promise<void>
  readonly record: (response: ModelResponse, messages: Transcript) => Promise<void>
  /** `refused`: the provider answered that the last body is too long. */
  readonly prepare: (occasion: { readonly refused: boolean }) => Promise<Prepared>
}

/**
 * A context that the turn keeps itself. A compaction stays in force: later calls continue from the smaller context, whose beginning only
 * grows until the budget is reached again, so that each compaction resets the provider's cache once.
 */
function createContext(skeleton: ModelRequest, options: TurnOptions): TurnContext {
  let request = skeleton
  let news: Transcript = []
  let opened: OpenedTurn | undefined
  const take = async (messages: Transcript): Promise<void> => {
    news = [...news, ...messages]
  }
  return {
    take,
    record: (_response, messages) => take(messages),
    prepare: async ({ refused }) => {
      const isFirst = opened === undefined
      opened ??= await openTurn(skeleton, options)
      const { bringUnder } = opened
      if (isFirst) request = opened.request
      const whole = decodeNext(request, encodeRequest(request, { messages: [...request.messages, ...news] }))
      const fitted = await bringUnder(whole, refused)
      const changed = fitted?.report.changed === true
      request = changed ? decodeRequest(whole.format, fitted.body) : whole
      news = []
      const trace = [...(isFirst ? opened.events : []), ...(changed ? fitted.trace : [])]
      return { body: request.wire, trace, ...present({ report: fitted?.report }) }
    },
  }
}

/** The request that the calls of a turn start from, with its prompt stack resolved and placed. */
type OpenedTurn = { readonly request: ModelRequest; readonly bringUnder: Fit; readonly events: Trace }

async function openTurn(skeleton: ModelRequest, options: TurnOptions): Promise<OpenedTurn> {
  const { stack: option, agent, contextBudget } = options
  if (option === undefined) return { request: skeleton, bringUnder: fitter(options, skeleton), events: [] }
  const meter = meterFor(skeleton, { format: skeleton.format, model: agent.model.model })
  const characters = isCharacters(contextBudget) ? Math.floor(contextBudget.characters / charactersPerToken) : undefined
  const windowTokens = tokensOf(contextBudget) ?? characters ?? meter.model.windowTokens
  const { request, stack, events } = await stackRequest(skeleton, option, { meter, windowTokens })
  return { request, bringUnder: fitter(options, request, stack), events }
}

/** Brings a request under the budget; undefined if nothing has to change. */
type Fit = (request: ModelRequest, refused: boolean) => Promise<CompactResult<string> | undefined>

function fitter(options: TurnOptions, skeleton: ModelRequest, stack?: Stack): Fit {
  const { agent, compaction, compactionOptions, signal } = options
  const base: CompactOptions = {
    ...compactionOptions,
    format: skeleton.format,
    model: agent.model.model,
    ...present({ signal, stack, summarizer: summarizerOf(compaction, agent.model) }),
  }
  const gauge = gaugeOf(options.contextBudget, skeleton, base)
  const mayCountOnly = base.pins === undefined && base.policy === undefined
  let looked = false
  return async (request, refused) => {
    // After the first full check, a request that only grew need only be counted.
    if (looked && mayCountOnly && !refused && gauge.fits(request)) return undefined
    looked = true
    return compactRequest(request.wire, { ...base, ...gauge.limits(request), occasion: { refused } })
  }
}

/** How a budget is measured: a check whether a request certainly fits, and the limits to compact to. */
type Gauge = {
  readonly fits: (request: ModelRequest) => boolean
  readonly limits: (request: ModelRequest) => Pick<CompactOptions, "meter" | "windowTokens" | "reserveTokens">
}

/** The answer may take up to half of the window; a request below the other half surely fits. */
const surelyFree = 0.5

function gaugeOf(budget: ContextBudget | undefined, skeleton: ModelRequest, base: CompactOptions): Gauge {
  if (isCharacters(budget)) return characterGauge(budget.characters, base)
  const meter = meterFor(skeleton, base)
  const windowTokens = tokensOf(budget)
  const surely = windowTokens ?? meter.model.windowTokens * surelyFree
  return {
    fits: (request) => meter.request(request) <= surely,
    limits: () => (windowTokens === undefined ? { meter } : { meter, windowTokens, reserveTokens: 0 }),
  }
}

/** A budget in characters: a request is counted exactly, and one that is too large is compacted at four characters per token. */
function characterGauge(characters: number, { model, pins = [] }: CompactOptions): Gauge {
  const meter = createCharacterMeter(model)
  const fits = (request: ModelRequest): boolean => meter.characters(request) <= characters
  const fours = Math.max(1, Math.floor(characters / charactersPerToken))
  return {
    fits,
    limits: (request) => {
      const windowTokens = pins.length === 0 && fits(request) ? Math.max(fours, meter.request(request)) : fours
      return { meter, windowTokens, reserveTokens: 0 }
    },
  }
}

const isCharacters = (budget: ContextBudget | undefined): budget is { readonly characters: number } =>
  typeof budget === "object" && "characters" in budget

const tokensOf = (budget: ContextBudget | undefined): number | undefined =>
  typeof budget === "object" && "tokens" in budget ? budget.tokens : typeof budget === "number" ? budget : undefined

function summarizerOf(compaction: TurnOptions["compaction"], model: TurnModel): SummarizerOption | undefined {
  if (compaction === undefined || typeof compaction === "string") return compaction
  if (typeof compaction === "function") return async (input) => compaction(input.messages, input)
  if (!("prompty" in compaction) || "baseUrl" in compaction) return compaction
  const { format, baseUrl, apiKey, headers, model: name } = model
  const where = compaction.model ?? { format, baseUrl, model: name, ...present({ apiKey, headers }) }
  return { ...where, ...present({ prompty: compaction.prompty }) }
}
