import { HoldfastError } from "../message/errors.ts"
import { messageId } from "../message/ids.ts"
import type { Message } from "../message/message.ts"
import { pairCalls } from "../message/pair.ts"
import type { ToolCallPart, ToolResultPart } from "../message/part.ts"
import type { StopReason } from "../message/request.ts"
import { textOf } from "../message/text.ts"
import { checkTurn } from "./check-turn.ts"
import { nextAnswer } from "./next-answer.ts"
import { failedResult, runCalls } from "./run-calls.ts"
import type { TurnEvent } from "./turn-event.ts"
import { placeMessages, userMessages } from "./turn-log.ts"
import { type TurnOptions, usualLimits } from "./turn-options.ts"
import { keepSoFar, type TurnSoFar } from "./turn-so-far.ts"
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
