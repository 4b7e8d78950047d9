import type { Guard } from "../guard/guard.ts"
import { joinGuards, onTrial } from "../guard/join-guards.ts"
import { isEmpty } from "../message/check.ts"
import { HoldfastError } from "../message/errors.ts"
import { type CallId, callId, callId as idOf } from "../message/ids.ts"
import type { Transcript } from "../message/message.ts"
import type { ToolCallPart } from "../message/part.ts"
import { present } from "../message/present.ts"
import type { ModelResponse, StopReason } from "../message/request.ts"
import { callModel } from "../model/call-model.ts"
import { refuses } from "../model/refusal.ts"
import { saysTooLong } from "../model/too-long.ts"
import type { Trace } from "../session/log/trace.ts"
import { collectEnd, collectStep, startCollect } from "../wire/collect.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { createCallJudge } from "./call-judge.ts"
import type { TurnEvent } from "./turn-event.ts"
import { placeMessages } from "./turn-log.ts"
import { type TurnModel, usualLimits } from "./turn-options.ts"
import type { TurnGuarding } from "./turn-session.ts"
import { addUsage, stoppable, type Work } from "./turn-work.ts"

type Asking = {
  readonly body: string
  readonly stream: boolean
  /** Which call of the turn this is, from 1. */
  readonly call: number
  /** How many messages there are: where the answer will stand. */
  readonly place: number
  readonly signal: AbortSignal | undefined
  readonly emit: (event: TurnEvent) => void
}

/** One model call, told as it goes. Nothing of an answer is given back before all of it has come. */
async function askModel(model: TurnModel, asking: Asking): Promise<ModelResponse> {
  const { body, stream, call, signal, emit } = asking
  emit({ type: "model-call-begun", call })
  const { timeoutMs, maxResponseBytes } = usualLimits
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

/** Calls without an id are named by their place: in the answer alone, and among all messages another. */
const placed = (id: CallId, place: number): CallId => callId(id.replace(/^m0(?=\.\d+$)/, `m${place}`))

/** What the model answered, as far as the turn has to act on it. */
type NextAnswer = { readonly stop: StopReason; readonly calls: readonly ToolCallPart[] }

/** One model call: the context made to fit, the answer in its place. */
export async function nextAnswer(work: Work): Promise<NextAnswer> {
  const { emit } = work
  const call = work.iterations + 1
  const response = await askUntilFits(work, call)
  await seatJudge(work)
  const spoken = response.messages.filter((message) => !isEmpty(message))
  const placed = placeMessages(response.format, work.log, spoken)
  const calls = callsIn(placed)
  const stop = refuses(response) ? "refusal" : response.stop
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

/** What the provider has run itself is past stopping; whoever listens hears what the guard says to it. */
async function tellRun({ judge, emit }: Work, { format, messages }: ModelResponse): Promise<void> {
  const parts = messages.flatMap((message) => message.parts)
  for (const judged of (await judge?.judgeRun(format, parts)) ?? [])
    emit({ type: "call-judged", callId: idOf(judged.callId), tool: judged.tool, judged })
}

/** How often a request that the provider finds too long is made smaller: each time it is less than half of what it was. */
const maxRefusals = 3

/** Our count may be off, or the model's window smaller than anyone told us: what the provider refuses as too long is compacted further. */
async function askUntilFits(work: Work, call: number): Promise<ModelResponse> {
  let body = await prepareCall(work, call)
  for (let refusals = 0; ; refusals++) {
    try {
      return await ask(work, call, body)
    } catch (error) {
      const mayShrink = error instanceof HoldfastError && saysTooLong(error.problem) && refusals < maxRefusals
      const smaller = mayShrink ? await prepareSmaller(work, call) : undefined
      if (smaller === undefined || smaller === body) throw error
      body = smaller
    }
  }
}

const ask = ({ options, stream, emit, log }: Work, call: number, body: string): Promise<ModelResponse> =>
  askModel(options.agent.model, { body, stream, call, place: log.length, signal: options.signal, emit })

async function prepareCall(work: Work, call: number, refused = false): Promise<string> {
  const { body, trace, report } = await stoppable(work, work.context.prepare({ refused }))
  work.trace = [...work.trace, ...trace]
  if (changes(trace)) work.emit({ type: "context-compacted", call, trace, ...present({ report }) })
  return body
}

/** Nothing, if there is nothing left to leave out: then what the provider said is the better answer. */
async function prepareSmaller(work: Work, call: number): Promise<string | undefined> {
  try {
    return await prepareCall(work, call, true)
  } catch (error) {
    const codes: readonly string[] = ["budget-impossible", "floor-exceeds-window"]
    if (error instanceof HoldfastError && codes.includes(error.problem.code)) return undefined
    throw error
  }
}

/** Was the context changed for this call, and not only looked at? */
const changes = (trace: Trace): boolean => trace.some((event) => event.type === "remedy-installed" || "step" in event)

/** The calls that are ours to run: a provider runs its own, and a person has to see to an approval. */
const callsIn = (messages: Transcript): readonly ToolCallPart[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool-call" && (part.kind === "function" || part.kind === "custom") ? part : [],
    ),
  )

const wordsOf = (messages: Transcript): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : []))).join("")

/** Let the session's guard, as it stands now, judge the calls of this answer, beside the turn's own. */
async function seatJudge(work: Work): Promise<void> {
  const { session, guard: own } = work.options
  const ofSession = await stoppable(work, session?.guarding?.() ?? Promise.resolve(undefined))
  if (ofSession === undefined) return
  const spentMinor = Math.max(work.judge?.spentMinor() ?? 0, ofSession.circumstances?.spentMinor ?? 0)
  const both = own === undefined ? ofSession : joined(own, ofSession)
  work.judge = createCallJudge({ ...both, circumstances: { ...both.circumstances, spentMinor } })
}

/** Two that judge together. One that only observes has no say, and takes none from the other. */
const joined = (own: TurnGuarding, ofSession: TurnGuarding): TurnGuarding => ({
  ...ofSession,
  ...own,
  circumstances: { ...ofSession.circumstances, ...own.circumstances },
  guard: joinGuards([seated(own, ofSession), seated(ofSession, own)]),
  mode: own.mode === "observe" && ofSession.mode === "observe" ? "observe" : "enforce",
})

const seated = ({ guard, mode }: TurnGuarding, beside: TurnGuarding): Guard =>
  mode === "observe" && beside.mode !== "observe" ? onTrial(guard) : guard
