import type { Format } from "../message/message.ts"
import { runSteps } from "../message/steps.ts"
import { codecOf } from "../wire/codecs.ts"
import { elements, member, readJson } from "../wire/json.ts"
import { indexOf, type LinkedList, listOf, type PartStart, type StreamEvent, withoutWire } from "../wire/stream.ts"
import { callsInText } from "./calls-in-text.ts"
import type { ToolCall } from "./facts/facts.ts"
import { callKey, type FoundCall, findCall } from "./find-call.ts"
import type { Guard, Verdict } from "./guard.ts"
import { type GuardUse, type JudgedCall, verdictOn } from "./judge-call.ts"

/** Bytes of the wire that one call may take: the longest answer of any model (128,000 tokens) in events of 250 bytes each. */
export const maxHeldBytes = 32_000_000
/** Bytes that may wait in one stream, calls and whatever came behind them. */
export const maxQueueBytes = 64_000_000
/** Calls held at one time; models make some dozens in one answer at most. */
export const maxHeldCalls = 256

/** A part that is or may be a call, from its beginning to its verdict. */
export type WatchedPart = {
  readonly start: StreamEvent & PartStart
  /** Does it wait for its verdict, or has it gone out already because no one can stop it? */
  readonly held: boolean
  readonly events: LinkedList<StreamEvent>
  /** The pieces of its input, or of its words, joined. */
  readonly input: string
  readonly bytes: number
  readonly outcome: "open" | "asked" | "released" | "withheld"
  /** What stands in its place once it is withheld. */
  readonly instead?: string
  /** The provider's seal of a withheld call before it, which it bears from now on. */
  readonly seal?: string
}

/** A call that a person has to decide on. */
export type AskedCall = { readonly index: number; readonly call: ToolCall; readonly verdict: Verdict }

/** Where the guarding of a stream stands. */
export type GuardState = {
  readonly format: Format
  readonly guard: Guard
  readonly use: GuardUse
  readonly parts: ReadonlyMap<number, WatchedPart>
  /** Events that wait, because a call before them does; they go out in the order in which they came. */
  readonly queue: LinkedList<StreamEvent>
  readonly queuedBytes: number
  /** The first of them. */
  readonly first: StreamEvent | undefined
  readonly asked: ReadonlyMap<number, AskedCall & { readonly callId: string; readonly tool: string }>
  /** How many calls that a client would run went out, and how many did not. */
  readonly released: number
  readonly withheld: number
  /** The provider's seal of a call that was withheld, until another call bears it. */
  readonly seal?: string | undefined
  /** Hundredths that those which went out spend. */
  readonly spentMinor: number
  /** Calls that were let through, so that a copy of one is known when it comes. Only grows, in place: an answer may have many. */
  readonly allowed: Set<string>
  /** The words of each text so far, and the last of them. Only grows, in place. */
  readonly texts: Map<number, { readonly said: string; readonly tail: string }>
  /** The model has said why it stopped: no call may begin after that. */
  readonly stopped: boolean
  /** Something came that may not go out; nothing that follows does. */
  readonly closed: boolean
}

/** What one step lets out, what it judged, and whom a person has to decide on before more goes out. */
export type GuardOutput = {
  readonly events: readonly StreamEvent[]
  readonly judged: readonly JudgedCall[]
  readonly asks: readonly AskedCall[]
}

const lengthOf = ({ wire }: StreamEvent): number => (wire?.piece === 0 ? wire.sse.raw.length : 0)

export const spokenCalls = (text: string): readonly FoundCall[] =>
  callsInText(text).map(({ tool, input }) => ({ callId: "", tool, input, providerRun: false }))

/** Put an event at the end of those that wait. */
export const enqueued = (state: GuardState, event: StreamEvent): GuardState => ({
  ...state,
  queue: { item: event, before: state.queue },
  queuedBytes: state.queuedBytes + lengthOf(event),
})

/** Let out all that waits for nothing, up to the first event of a call that has no verdict yet. */
export function releaseQueue(state: GuardState): readonly [GuardState, readonly StreamEvent[]] {
  const { queue } = state
  if (queue === undefined || (queue.before !== undefined && isBlocked(state))) return [state, []]
  const waiting = listOf(queue)
  const out: StreamEvent[] = []
  const ended: number[] = []
  for (const [at, event] of waiting.entries()) {
    if (waits(state, event)) return [forget(requeue(state, waiting.slice(at)), ended), out]
    if (event.type === "part-end") ended.push(event.index)
    const withheld = withheldWords(state, event)
    if (withheld !== undefined)
      return [{ ...state, closed: true, queue: undefined, queuedBytes: 0, first: undefined }, [...out, withheld]]
    if (event.type === "response-stop" && listsUnjudged(state, event)) {
      const [closed, error] = refuseStream(state, event)
      return [closed, [...out, error]]
    }
    for (const one of releasedAs(state, event)) out.push(one)
  }
  return [forget({ ...state, queue: undefined, queuedBytes: 0, first: undefined }, ended), out]
}

/** The beginning of a text has gone out already: where a call in it is refused, the answer ends there, with the reason. */
function withheldWords({ parts }: GuardState, event: StreamEvent): StreamEvent | undefined {
  const index = indexOf(event)
  const part = index === undefined ? undefined : parts.get(index)
  if (part?.start.part !== "text" || part.outcome !== "withheld" || !part.held) return undefined
  return { type: "error", problem: { code: "call-withheld", why: part.instead ?? "It could not be judged." } }
}

/** Forget parts of which nothing more comes and nothing waits. */
export function forget(state: GuardState, indices: readonly number[]): GuardState {
  if (!indices.some((index) => state.parts.has(index))) return state
  const parts = new Map(state.parts)
  for (const index of indices) parts.delete(index)
  return { ...state, parts }
}

/** The first event that waits still does: no need to look at those behind it. */
const isBlocked = (state: GuardState): boolean => state.first !== undefined && waits(state, state.first)

function requeue(state: GuardState, waiting: readonly StreamEvent[]): GuardState {
  let queue: LinkedList<StreamEvent>
  let queuedBytes = 0
  for (const event of waiting) {
    queue = { item: event, before: queue }
    queuedBytes += lengthOf(event)
  }
  const [first] = waiting
  return { ...state, queue, queuedBytes, first }
}

function waits({ parts }: GuardState, event: StreamEvent): boolean {
  const index = indexOf(event)
  const part = index === undefined ? undefined : parts.get(index)
  return part?.held === true && (part.outcome === "open" || part.outcome === "asked")
}

/** The events to send for one event: a withheld part is replaced by our text, and the stop reason matches the remaining parts. */
function releasedAs(state: GuardState, event: StreamEvent): readonly StreamEvent[] {
  const index = indexOf(event)
  const part = index === undefined ? undefined : state.parts.get(index)
  if (index !== undefined && part?.outcome === "withheld" && part.held) {
    if (event.type !== "part-start" || part.instead === undefined) return []
    return [
      { type: "part-start", index, part: "text" },
      { type: "text-delta", index, text: part.instead },
      { type: "part-end", index },
    ]
  }
  if (index !== undefined && part?.outcome === "released" && part.seal !== undefined) {
    // Written anew: as it came it has no seal.
    const own = withoutWire(event)
    return event.type === "part-end" ? [{ type: "signature-delta", index, signature: part.seal }, own] : [own]
  }
  const ends = event.type === "response-stop" || event.type === "response-end"
  if (!ends || event.stop !== "tool-calls" || state.withheld === 0 || state.released > 0) return [event]
  return [{ ...event, stop: "end" }]
}

/** The finished answer of OpenAI Responses lists its items once more. Where nothing was withheld it goes out as it came, so each call in it must be one that was let through, or pass now. */
function listsUnjudged(state: GuardState, { wire }: StreamEvent): boolean {
  if (state.format !== "openai-responses" || wire === undefined || state.withheld > 0) return false
  try {
    const response = member(readJson(wire.sse.data, "response"), "response")
    const output = response === undefined ? undefined : member(response, "output")
    const items = output === undefined ? [] : elements(output)
    const parts = items.flatMap((item) => codecOf(state.format).readMessage(item, []).parts)
    return parts.some((part) =>
      part.type === "text"
        ? spokenCalls(part.text).some((call) => isUnjudged(state, call))
        : isUnjudged(state, findCall(state.format, part)),
    )
  } catch {
    return true
  }
}

function isUnjudged({ allowed, guard, use }: GuardState, call: FoundCall | undefined): boolean {
  if (call === undefined || call.providerRun || allowed.has(callKey(call))) return false
  return runSteps(verdictOn(call, guard, use)).decision !== "allow"
}

/** End the stream with an error in the words of its own wire. */
export function refuseStream(state: GuardState, event: StreamEvent): readonly [GuardState, StreamEvent] {
  const problem =
    event.type === "error"
      ? event.problem
      : ({
          code: "stream-invalid",
          event: event.wire?.sse.name ?? "data",
          expected: "calls where they can be judged",
          found: "something that could be one elsewhere",
        } as const)
  return [
    { ...state, closed: true, queue: undefined, queuedBytes: 0, first: undefined },
    { type: "error", problem },
  ]
}
