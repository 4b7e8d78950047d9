import { parsePrompty } from "../compact/summary/prompty.ts"
import { checkGuardUse } from "../guard/guard-use.ts"
import { HoldfastError } from "../message/errors.ts"
import { messageId } from "../message/ids.ts"
import { formats, type Message } from "../message/message.ts"
import { pairCalls } from "../message/pair.ts"
import type { ToolCallPart, ToolResultPart } from "../message/part.ts"
import type { StopReason } from "../message/request.ts"
import { textOf } from "../message/text.ts"
import { readBaseUrl } from "../model/address.ts"
import { isObject } from "../wire/json.ts"
import { nextAnswer } from "./next-answer.ts"
import { failedResult, runCalls } from "./run-calls.ts"
import type { TurnEvent } from "./turn-event.ts"
import { placeMessages, userMessages } from "./turn-log.ts"
import { type TurnOptions, usualLimits } from "./turn-options.ts"
import { keepSoFar, type TurnSoFar } from "./turn-so-far.ts"
import type { TurnTool } from "./turn-tool.ts"
import { soFar, startWork, stoppable, takeIn, takeSaid, type Work } from "./turn-work.ts"

/** A turn that came to its end, and why the model stopped. */
export type TurnResult = TurnSoFar & { readonly stop: StopReason }

/**
 * Let a model work with tools until it has answered, inside a context budget. Before each call the context is brought under the budget:
 * instructions stay to the letter, the newest messages stay, older ones go in whole groups, and one summary stands for them. Whatever
 * ends it early is thrown, usually as a `HoldfastError`, and `turnSoFar(error)` has all that was said until then.
 */
export async function turn(options: TurnOptions): Promise<TurnResult> {
  checkTurn(options)
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

async function runTurn(work: Work): Promise<StopReason> {
  const { inputs, messages = [], maxIterations = usualLimits.maxIterations } = work.options
  await takeIn(work, messages)
  work.from = work.log.length
  await takeIn(work, typeof inputs === "string" ? userMessages(inputs === "" ? [] : [inputs]) : inputs)
  for (;;) {
    await takeSaid(work)
    if (work.iterations >= maxIterations) throw new HoldfastError({ code: "turn-too-long", iterations: maxIterations })
    const { stop, calls } = await nextAnswer(work)
    if (calls.length > 0) await answerCalls(work, calls, stop)
    if (stop === "refusal") return stop
    const over = calls.length === 0 && !goesOn.has(stop)
    if (over && !(await takeSaid(work))) return stop
  }
}

/** The model has more to say and only waits to be called again. */
const goesOn: ReadonlySet<StopReason> = new Set<StopReason>(["pause", "compaction"])

/** Answers that broke off: a call in one of them may not be what the model meant. */
const brokenOff: ReadonlySet<StopReason> = new Set<StopReason>(["length", "context-window", "refusal"])

/** Every call gets its result, even if whoever listens breaks off on hearing of one. */
async function answerCalls(work: Work, calls: readonly ToolCallPart[], stop: StopReason): Promise<void> {
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
    maxParallel: limits.maxParallelTools ?? usualLimits.maxParallelTools,
    timeoutMs: limits.toolTimeoutMs ?? usualLimits.toolTimeoutMs,
    maxResultLength: limits.maxResultLength ?? usualLimits.maxResultLength,
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

/** Results as one message; where the format wants one for each, it becomes several. */
function placeResults(work: Work, results: readonly ToolResultPart[]): Work["log"] {
  const message: Message = { id: messageId("results"), role: "user", parts: results }
  const placed = placeMessages(work.options.agent.model.format, work.log, [message])
  work.log = [...work.log, ...placed]
  return placed
}

/** Calls that a broken turn left open get a result, so that what was said until then can be sent again. */
function settleCalls(work: Work): void {
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

function refuse(option: string, expected: string, found: unknown): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found: describeFound(found) })
}

function describeFound(found: unknown): string {
  if (typeof found === "string") return JSON.stringify(found.slice(0, 80))
  return typeof found === "number" ? String(found) : found === null ? "null" : typeof found
}

/** Refuse what cannot be meant, by name, before any model is called. */
function checkTurn(options: TurnOptions): void {
  const { agent, inputs, messages = [], tools = [], session } = options
  checkModel(agent)
  if (typeof inputs !== "string" && !Array.isArray(inputs)) refuse("inputs", "text or a list of messages", inputs)
  if (!Array.isArray(messages)) refuse("messages", "a list of messages", messages)
  if (inputs.length === 0 && messages.length === 0 && session === undefined)
    refuse("inputs", "something to answer", inputs)
  if (session !== undefined) {
    for (const name of ["messages", "contextBudget", "compaction", "compactionOptions"] as const)
      if (options[name] !== undefined) refuse(name, "nothing beside a session, which sees to it itself", options[name])
  }
  checkGuard(options.guard)
  checkBudget(options.contextBudget)
  checkCompaction(options)
  checkTools(tools)
  checkCount("maxIterations", options.maxIterations)
  checkCount("maxParallelTools", options.maxParallelTools)
  checkCount("toolTimeoutMs", options.toolTimeoutMs)
  checkCount("maxResultLength", options.maxResultLength)
}

function checkModel(agent: unknown): void {
  const model = isObject(agent) ? agent.model : undefined
  if (!isObject(model)) refuse("agent.model", "where the model is and how to speak to it", model)
  if (!formats.some((format) => format === model.format))
    refuse("agent.model.format", `one of ${formats.join(", ")}`, model.format)
  if (typeof model.model !== "string" || model.model === "") refuse("agent.model.model", "a model's name", model.model)
  readBaseUrl(String(model.baseUrl))
  checkCount("agent.model.maxOutputTokens", model.maxOutputTokens)
  checkCount("agent.model.timeoutMs", model.timeoutMs)
}

function checkCount(option: string, value: unknown): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 1))
    refuse(option, "a whole number, at least 1", value)
}

function checkGuard(guard: TurnOptions["guard"]): void {
  if (guard === undefined) return
  if (!isObject(guard) || !isObject(guard.guard) || typeof guard.guard.judge !== "function")
    refuse("guard", "{ guard } with a guard from createGuard", guard)
  checkGuardUse(guard, "guard.")
}

function checkBudget(budget: unknown): void {
  if (budget === undefined) return
  const size = isObject(budget) ? (budget.tokens ?? budget.characters) : budget
  if (!(Number.isSafeInteger(size) && Number(size) >= 1))
    refuse("contextBudget", "a whole number of tokens, { tokens } or { characters }", size)
}

function checkCompaction({ compaction }: TurnOptions): void {
  if (compaction === undefined || compaction === "extractive" || compaction === "none") return
  if (typeof compaction === "function") return
  if (!isObject(compaction)) refuse("compaction", "extractive, none, a function, a model or { prompty }", compaction)
  // A mistake in the file is told before the first call and not in the midst of the work.
  if (typeof compaction.prompty === "string") parsePrompty(compaction.prompty)
}

/** What every provider takes for a tool's name. */
const toolName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

function checkTools(tools: readonly TurnTool[]): void {
  if (!Array.isArray(tools)) refuse("tools", "a list of tools", tools)
  const names = new Set<string>()
  for (const { name, inputSchema, run } of tools) {
    if (typeof name !== "string" || !toolName.test(name))
      refuse("tools", "names of 1 to 64 letters, digits, underscores and hyphens", name)
    if (names.has(name)) refuse("tools", "names that differ", name)
    if (!isObject(inputSchema)) refuse(`tools.${name}.inputSchema`, "a JSON Schema of an object", inputSchema)
    if (typeof run !== "function") refuse(`tools.${name}.run`, "a function", run)
    names.add(name)
  }
}
