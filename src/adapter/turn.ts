import { parsePrompty } from "../compact/summary/prompty.ts"
import type { Guard } from "../guard/guard.ts"
import { joinGuards, onTrial } from "../guard/join-guards.ts"
import { checkGuardUse } from "../guard/judge-call.ts"
import { HoldfastError, ignoreCodes, refuseValue } from "../message/errors.ts"
import { isEmpty, pairCalls } from "../message/group.ts"
import {
  type CallId,
  callId,
  formats,
  type Message,
  type ModelResponse,
  messageId,
  type StopReason,
  type ToolCallPart,
  type ToolResultPart,
  type Transcript,
  textOf,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import { readBaseUrl } from "../model/address.ts"
import { callModel } from "../model/call-model.ts"
import { isModelRefusal } from "../model/model.ts"
import { saysTooLong } from "../model/too-long.ts"
import type { Trace } from "../session/log/event.ts"
import { checkStackOption } from "../session/stack/stack-options.ts"
import { isObject } from "../wire/json.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { collectEnd, collectStep, startCollect } from "../wire/stream-steps.ts"
import { createCallJudge, failedResult, runCalls } from "./run-calls.ts"
import {
  checkTurnNames,
  keepSoFar,
  type TurnEvent,
  type TurnModel,
  type TurnOptions,
  type TurnSoFar,
  type TurnTool,
  usualTurnLimits,
} from "./turn-options.ts"
import { placeMessages, type TurnGuarding, userMessages } from "./turn-session.ts"
import { addUsage, soFar, startWork, stoppable, type TurnWork, takeIn, takeSaid } from "./turn-work.ts"

/** A finished turn, and why the model stopped. */
export type TurnResult = TurnSoFar & { readonly stop: StopReason }

/**
 * Lets a model work with tools until it has answered, within a context budget. Before each call the context is brought under the budget:
 * instructions stay verbatim, the newest messages stay, older ones are left out in whole groups and replaced by one summary. If the turn
 * ends early it throws, usually a `HoldfastError`, and `turnSoFar(error)` has all messages until then.
 */
export async function turn(options: TurnOptions): Promise<TurnResult> {
  await checkTurn(options)
  const work = startWork(options)
  try {
    const stop = await runTurn(work)
    return { ...soFar(work), stop }
  } catch (error) {
    settleCalls(work)
    const thrown = isStop(error)
      ? new HoldfastError({ code: "turn-stopped", iterations: work.iterations }, { cause: error })
      : error
    keepSoFar(thrown, soFar(work))
    throw thrown
  }
}

const isStop = (error: unknown): boolean =>
  error instanceof HoldfastError && (error.problem.code === "upstream-stopped" || error.problem.code === "turn-stopped")

async function runTurn(work: TurnWork): Promise<StopReason> {
  const { inputs, messages = [], maxIterations = usualTurnLimits.maxIterations } = work.options
  await takeIn(work, messages)
  work.from = work.log.length
  await takeIn(work, typeof inputs === "string" ? userMessages(inputs === "" ? [] : [inputs]) : inputs)
  for (;;) {
    await takeSaid(work)
    if (work.iterations >= maxIterations) throw new HoldfastError({ code: "turn-too-long", iterations: maxIterations })
    const { stop, calls } = await nextAnswer(work)
    if (calls.length > 0) await answerCalls(work, calls, stop)
    if (stop === "refusal") return stop
    const over = calls.length === 0 && !continuingStops.has(stop)
    if (over && !(await takeSaid(work))) return stop
  }
}

/** Stop reasons after which the model continues when it is called again. */
const continuingStops: ReadonlySet<StopReason> = new Set<StopReason>(["pause", "compaction"])

/** Stop reasons of answers that broke off: a call in such an answer may be incomplete. */
const brokenOff: ReadonlySet<StopReason> = new Set<StopReason>(["length", "context-window", "refusal"])

/** Every call gets its result, even if a listener throws. */
async function answerCalls(work: TurnWork, calls: readonly ToolCallPart[], stop: StopReason): Promise<void> {
  const { tools = [], signal, agent, ...limits } = work.options
  const broken = new AbortController()
  const errors: unknown[] = []
  const tell = (event: TurnEvent): void => {
    try {
      work.emit(event)
    } catch (error) {
      errors.push(error)
      broken.abort()
    }
  }
  const results = await runCalls(calls, {
    format: agent.model.format,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    maxParallel: limits.maxParallelTools ?? usualTurnLimits.maxParallelTools,
    timeoutMs: limits.toolTimeoutMs ?? usualTurnLimits.toolTimeoutMs,
    maxResultLength: limits.maxResultLength ?? usualTurnLimits.maxResultLength,
    signal: AbortSignal.any([broken.signal, ...(signal === undefined ? [] : [signal])]),
    judge: work.judge,
    onJudged: ({ callId, tool }, judged) => tell({ type: "call-judged", callId, tool, judged }),
    onResult: ({ callId, tool }, result) =>
      tell({ type: "tool-result", callId, tool, output: textOf(result), failed: result.failed === true }),
    ...(brokenOff.has(stop) ? { refusal: "The call was not run: the answer broke off before its end." } : {}),
  })
  const placed = placeResults(work, results)
  if (errors.length > 0) throw errors[0]
  await stoppable(work, work.context.take(placed))
}

/** Adds the results as one message; it becomes several where the format has a message for each result. */
function placeResults(work: TurnWork, results: readonly ToolResultPart[]): TurnWork["log"] {
  const message: Message = { id: messageId("results"), role: "user", parts: results }
  const placed = placeMessages(work.options.agent.model.format, work.log, [message])
  work.log = [...work.log, ...placed]
  return placed
}

/** Calls that a broken turn left open get a result, so that the messages can be sent again. */
function settleCalls(work: TurnWork): void {
  const own = work.log.slice(work.from)
  const open = pairCalls(own).open.flatMap(({ message, part }) => {
    const call = own[message]?.parts[part]
    return call?.type === "tool-call" && (call.kind === "function" || call.kind === "custom") ? call : []
  })
  if (open.length > 0)
    placeResults(
      work,
      open.map((call) => failedResult(call, "The call was not run: the turn ended before it.")),
    )
}

/** Refuses invalid options by name, before any model is called. */
async function checkTurn(options: TurnOptions): Promise<void> {
  checkTurnNames(options)
  const { agent, inputs, messages = [], tools = [], session } = options
  checkModel(agent)
  if (typeof inputs !== "string" && !Array.isArray(inputs)) refuseValue("inputs", "text or a list of messages", inputs)
  if (!Array.isArray(messages)) refuseValue("messages", "a list of messages", messages)
  if (inputs.length === 0 && messages.length === 0 && session === undefined)
    refuseValue("inputs", "something to answer", inputs)
  if (session !== undefined) {
    for (const name of ["messages", "contextBudget", "compaction", "compactionOptions"] as const)
      if (options[name] !== undefined)
        refuseValue(name, "nothing beside a session, which sees to it itself", options[name])
  }
  if (options.stack !== undefined) checkStackOption(options.stack, "turn")
  checkGuard(options.guard)
  checkBudget(options.contextBudget)
  await checkCompaction(options)
  checkTools(tools)
  for (const name of ["maxIterations", "maxParallelTools", "toolTimeoutMs", "maxResultLength"] as const)
    checkCount(name, options[name])
}

function checkModel(agent: unknown): void {
  const model = isObject(agent) ? agent.model : undefined
  if (!isObject(model)) refuseValue("agent.model", "where the model is and how to speak to it", model)
  if (!formats.some((format) => format === model.format))
    refuseValue("agent.model.format", `one of ${formats.join(", ")}`, model.format)
  if (typeof model.model !== "string" || model.model === "")
    refuseValue("agent.model.model", "a model's name", model.model)
  readBaseUrl(String(model.baseUrl))
  checkCount("agent.model.maxOutputTokens", model.maxOutputTokens)
  checkCount("agent.model.timeoutMs", model.timeoutMs)
}

function checkCount(option: string, value: unknown): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 1))
    refuseValue(option, "a whole number, at least 1", value)
}

function checkGuard(guard: TurnOptions["guard"]): void {
  if (guard === undefined) return
  if (!isObject(guard) || !isObject(guard.guard) || typeof guard.guard.judge !== "function")
    refuseValue("guard", "{ guard } with a guard from createGuard", guard)
  checkGuardUse(guard, "guard.")
}

function checkBudget(budget: unknown): void {
  if (budget === undefined) return
  const size = isObject(budget) ? (budget.tokens ?? budget.characters) : budget
  if (!(Number.isSafeInteger(size) && Number(size) >= 1))
    refuseValue("contextBudget", "a whole number of tokens, { tokens } or { characters }", size)
}

async function checkCompaction({ compaction }: TurnOptions): Promise<void> {
  if (compaction === undefined || compaction === "extractive" || compaction === "none") return
  if (typeof compaction === "function") return
  if (!isObject(compaction))
    refuseValue("compaction", "extractive, none, a function, a model or { prompty }", compaction)
  // An error in the file is reported before the first call, not during the work.
  if (typeof compaction.prompty === "string") await parsePrompty(compaction.prompty)
}

/** The tool names that every provider accepts. */
const toolName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

function checkTools(tools: readonly TurnTool[]): void {
  if (!Array.isArray(tools)) refuseValue("tools", "a list of tools", tools)
  const names = new Set<string>()
  for (const { name, inputSchema, run } of tools) {
    if (typeof name !== "string" || !toolName.test(name))
      refuseValue("tools", "names of 1 to 64 letters, digits, underscores and hyphens", name)
    if (names.has(name)) refuseValue("tools", "names that differ", name)
    if (!isObject(inputSchema)) refuseValue(`tools.${name}.inputSchema`, "a JSON Schema of an object", inputSchema)
    if (typeof run !== "function") refuseValue(`tools.${name}.run`, "a function", run)
    names.add(name)
  }
}

type Asking = {
  readonly body: string
  readonly stream: boolean
  /** The number of this call in the turn, from 1. */
  readonly call: number
  /** Number of messages so far: the index at which the answer will stand. */
  readonly place: number
  readonly signal: AbortSignal | undefined
  readonly emit: (event: TurnEvent) => void
}

/** One model call that emits events while it runs. It returns only a complete answer. */
async function askModel(model: TurnModel, asking: Asking): Promise<ModelResponse> {
  const { body, stream, call, signal, emit } = asking
  emit({ type: "model-call-begun", call })
  const { timeoutMs, maxResponseBytes } = usualTurnLimits
  const called = await callModel(
    { timeoutMs, maxResponseBytes, ...model },
    {
      body,
      stream,
      onRetry: (retry) => emit({ type: "model-call-retried", call, ...retry }),
      ...present({ signal }),
    },
  )
  if (called.type === "whole") {
    tellWhole(called.response, asking)
    return called.response
  }
  let state = startCollect(model.format)
  for await (const event of called.events) {
    if (event.type === "error") throw new HoldfastError(event.problem)
    state = collectStep(state, event)
    tell(event, asking)
  }
  return collectEnd(state)
}

function tell(event: StreamEvent, { emit, place }: Asking): void {
  if (event.type === "text-delta" || event.type === "reasoning-delta") emit({ type: event.type, text: event.text })
  if (event.type !== "part-start" || event.part !== "tool-call" || event.kind === "provider") return
  emit({ type: "tool-call-begun", callId: placed(event.callId, place), tool: event.tool })
}

function tellWhole({ messages }: ModelResponse, { emit, place }: Asking): void {
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type === "text" && part.text !== "") emit({ type: "text-delta", text: part.text })
    if (part.type === "reasoning" && part.text !== "") emit({ type: "reasoning-delta", text: part.text })
    if (part.type === "tool-call" && part.kind !== "provider")
      emit({ type: "tool-call-begun", callId: placed(part.callId, place), tool: part.tool })
  }
}

/** Calls without an id are named by their index: within the answer first, then within the whole log. */
const placed = (id: CallId, place: number): CallId => callId(id.replace(/^m0(?=\.\d+$)/, `m${place}`))

type NextAnswer = { readonly stop: StopReason; readonly calls: readonly ToolCallPart[] }

/** One model call: fits the context, calls the model, places its answer in the log. */
async function nextAnswer(work: TurnWork): Promise<NextAnswer> {
  const { emit } = work
  const call = work.iterations + 1
  const response = await askUntilFits(work, call)
  await seatJudge(work)
  const spoken = response.messages.filter((message) => !isEmpty(message))
  const placed = placeMessages(response.format, work.log, spoken)
  const calls = callsIn(placed)
  const stop = isModelRefusal(response) ? "refusal" : response.stop
  work.iterations = call
  work.log = [...work.log, ...placed]
  work.text = wordsOf(placed)
  addUsage(work, response.usage)
  for (const { callId, tool, input } of calls) emit({ type: "tool-call-complete", callId, tool, input })
  await tellRun(work, response)
  emit({ type: "model-call-ended", call, stop, ...present({ usage: response.usage }) })
  await stoppable(work, work.context.record(response, placed))
  return { stop, calls }
}

/** Calls that the provider ran itself cannot be stopped; listeners hear the guard's decision on them. */
async function tellRun({ judge, emit }: TurnWork, { format, messages }: ModelResponse): Promise<void> {
  const parts = messages.flatMap((message) => message.parts)
  for (const judged of (await judge?.judgeRun(format, parts)) ?? [])
    emit({ type: "call-judged", callId: callId(judged.callId), tool: judged.tool, judged })
}

const ignoreTooLong = ignoreCodes("budget-impossible", "floor-exceeds-window")

/** How often a request is made smaller after the provider refused it as too long; each time it shrinks to less than half. */
const maxRefusals = 3

/** Our count may be wrong, or the window smaller than configured: a request that the provider refuses as too long is compacted further. */
async function askUntilFits(work: TurnWork, call: number): Promise<ModelResponse> {
  let body = await prepareCall(work, call)
  for (let refusals = 0; ; refusals++) {
    try {
      return await ask(work, call, body)
    } catch (error) {
      const mayShrink = error instanceof HoldfastError && saysTooLong(error.problem) && refusals < maxRefusals
      // If nothing is left to leave out, the provider's refusal is the better answer.
      const smaller = mayShrink ? await prepareCall(work, call, true).catch(ignoreTooLong) : undefined
      if (smaller === undefined || smaller === body) throw error
      body = smaller
    }
  }
}

const ask = ({ options, stream, emit, log }: TurnWork, call: number, body: string): Promise<ModelResponse> =>
  askModel(options.agent.model, { body, stream, call, place: log.length, signal: options.signal, emit })

async function prepareCall(work: TurnWork, call: number, refused = false): Promise<string> {
  const { body, trace, report } = await stoppable(work, work.context.prepare({ refused }))
  work.trace = [...work.trace, ...trace]
  if (changes(trace)) work.emit({ type: "context-compacted", call, trace, ...present({ report }) })
  return body
}

/** True if the context was changed for this call, not only checked. */
const changes = (trace: Trace): boolean => trace.some((event) => event.type === "remedy-installed" || "step" in event)

/** Returns the calls that the turn must run: a provider runs its own, and an approval is for a person. */
const callsIn = (messages: Transcript): readonly ToolCallPart[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool-call" && (part.kind === "function" || part.kind === "custom") ? part : [],
    ),
  )

const wordsOf = (messages: Transcript): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : []))).join("")

/** Sets the judge for the calls of this answer: the session's guard of this moment together with the turn's own. */
async function seatJudge(work: TurnWork): Promise<void> {
  const { session, guard: own } = work.options
  const ofSession = await stoppable(work, session?.guarding?.() ?? Promise.resolve(undefined))
  if (ofSession === undefined) return
  const spentMinor = Math.max(work.judge?.spentMinor() ?? 0, ofSession.circumstances?.spentMinor ?? 0)
  const both = own === undefined ? ofSession : joined(own, ofSession)
  work.judge = createCallJudge({ ...both, circumstances: { ...both.circumstances, spentMinor } })
}

/** Combines two guards. A guard in observe mode decides nothing, and does not weaken the other. */
const joined = (own: TurnGuarding, ofSession: TurnGuarding): TurnGuarding => ({
  ...ofSession,
  ...own,
  circumstances: { ...ofSession.circumstances, ...own.circumstances },
  guard: joinGuards([seated(own, ofSession), seated(ofSession, own)]),
  mode: own.mode === "observe" && ofSession.mode === "observe" ? "observe" : "enforce",
})

const seated = ({ guard, mode }: TurnGuarding, beside: TurnGuarding): Guard =>
  mode === "observe" && beside.mode !== "observe" ? onTrial(guard) : guard

/** The events of a turn as an async iterable; `result` resolves or rejects after the last event. */
export type TurnStream = AsyncIterable<TurnEvent> & { readonly result: Promise<TurnResult> }

/** Runs a turn and yields its events as they happen. It starts at once; leaving the loop early stops it. */
export function streamTurn(options: TurnOptions): TurnStream {
  const controller = new AbortController()
  const { signal, onEvent } = options
  const stops = [controller.signal, ...(signal === undefined ? [] : [signal])]
  let waiting: TurnEvent[] = []
  let ended = false
  let wake: () => void = () => {}
  const result = turn({
    ...options,
    signal: AbortSignal.any(stops),
    onEvent: (event) => {
      waiting.push(event)
      onEvent?.(event)
      wake()
    },
  }).finally(() => {
    ended = true
    wake()
  })
  // The loop throws the error as well, so an unread `result` must not become an unhandled rejection.
  result.catch(() => {})

  async function* events(): AsyncGenerator<TurnEvent, void, undefined> {
    try {
      for (;;) {
        const come = waiting
        waiting = []
        yield* come
        if (waiting.length > 0) continue
        if (ended) break
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      if (!ended) controller.abort()
    }
    await result
  }
  return { [Symbol.asyncIterator]: events, result }
}
