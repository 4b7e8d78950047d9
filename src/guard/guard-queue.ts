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

/** Maximum wire bytes of one call: the longest response of any model (128,000 tokens) in events of 250 bytes each. */
export const maxHeldBytes = 32_000_000
/** Maximum bytes queued in one stream: calls that wait for a verdict and everything behind them. */
export const maxQueueBytes = 64_000_000
/** Maximum number of calls held at once; models make some dozens in one response at most. */
export const maxHeldCalls = 256

/** A part that is or may be a call, from its first event to its verdict. */
export type WatchedPart = {
  readonly start: StreamEvent & PartStart
  /** True if it waits for its verdict; false if it was sent at once because nobody can stop it. */
  readonly held: boolean
  readonly events: LinkedList<StreamEvent>
  /** Its input fragments, or its text, joined. */
  readonly input: string
  readonly bytes: number
  readonly outcome: "open" | "asked" | "released" | "withheld"
  /** Text that replaces it once it is withheld. */
  readonly instead?: string
  /** Thought signature (Gemini) taken over from a withheld call before it. */
  readonly seal?: string
}

/** A call that a person has to decide on. */
export type AskedCall = { readonly index: number; readonly call: ToolCall; readonly verdict: Verdict }

/** State of guarding one stream. */
export type GuardState = {
  readonly format: Format
  readonly guard: Guard
  readonly use: GuardUse
  readonly parts: ReadonlyMap<number, WatchedPart>
  /** Events that wait behind a call without a verdict; they are sent in the order in which they came. */
  readonly queue: LinkedList<StreamEvent>
  readonly queuedBytes: number
  /** The first event in the queue. */
  readonly first: StreamEvent | undefined
  readonly asked: ReadonlyMap<number, AskedCall & { readonly callId: string; readonly tool: string }>
  /** Number of client-run calls that were sent, and number that were withheld. */
  readonly released: number
  readonly withheld: number
  /** Thought signature (Gemini) of a withheld call, until another call takes it over. */
  readonly seal?: string | undefined
  /** Hundredths spent by the calls that were sent. */
  readonly spentMinor: number
  /** Keys of the calls that were allowed, to recognize copies of them. Added to in place, because a response may have many. */
  readonly allowed: Set<string>
  /** Text of each text part so far, and its last characters. Added to in place. */
  readonly texts: Map<number, { readonly said: string; readonly tail: string }>
  /** True once the model has given its stop reason: no call may begin after that. */
  readonly stopped: boolean
  /** True once something came that must not be sent; nothing after it is sent. */
  readonly closed: boolean
}

/** Result of one step: events to send, calls judged, and calls that a person has to decide on before more is sent. */
export type GuardOutput = {
  readonly events: readonly StreamEvent[]
  readonly judged: readonly JudgedCall[]
  readonly asks: readonly AskedCall[]
}

const lengthOf = ({ wire }: StreamEvent): number => (wire?.piece === 0 ? wire.sse.raw.length : 0)

export const spokenCalls = (text: string): readonly FoundCall[] =>
  callsInText(text).map(({ tool, input }) => ({ callId: "", tool, input, providerRun: false }))

/** Appends an event to the queue. */
export const enqueued = (state: GuardState, event: StreamEvent): GuardState => ({
  ...state,
  queue: { item: event, before: state.queue },
  queuedBytes: state.queuedBytes + lengthOf(event),
})

/** Returns the events that can be sent: all up to the first event of a call without a verdict. */
export function releaseQueue(state: GuardState): readonly [GuardState, readonly StreamEvent[]] {
  const { queue } = state
  if (queue === undefined || (queue.before !== undefined && isBlocked(state))) return [state, []]
  const waiting = listOf(queue)
  const out: StreamEvent[] = []
  const ended: number[] = []
  for (const [at, event] of waiting.entries()) {
    if (waits(state, event)) return [forget(requeue(state, waiting.slice(at)), ended), out]
    if (event.type === "part-end") ended.push(event.index)
    const error = refusedTextError(state, event)
    if (error !== undefined)
      return [{ ...state, closed: true, queue: undefined, queuedBytes: 0, first: undefined }, [...out, error]]
    if (event.type === "response-stop" && listsUnjudged(state, event)) {
      const [closed, error] = refuseStream(state, event)
      return [closed, [...out, error]]
    }
    for (const one of releasedAs(state, event)) out.push(one)
  }
  return [forget({ ...state, queue: undefined, queuedBytes: 0, first: undefined }, ended), out]
}

/** Error that ends the stream where a call in a text is refused, because the beginning of the text has already been sent. */
function refusedTextError({ parts }: GuardState, event: StreamEvent): StreamEvent | undefined {
  const index = indexOf(event)
  const part = index === undefined ? undefined : parts.get(index)
  if (part?.start.part !== "text" || part.outcome !== "withheld" || !part.held) return undefined
  return { type: "error", problem: { code: "call-withheld", why: part.instead ?? "It could not be judged." } }
}

/** Removes parts that have no more events to come or to send. */
export function forget(state: GuardState, indices: readonly number[]): GuardState {
  if (!indices.some((index) => state.parts.has(index))) return state
  const parts = new Map(state.parts)
  for (const index of indices) parts.delete(index)
  return { ...state, parts }
}

/** True if the first queued event still waits, so that those behind it need not be checked. */
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
    // Encoded again: its original bytes have no signature.
    const own = withoutWire(event)
    return event.type === "part-end" ? [{ type: "signature-delta", index, signature: part.seal }, own] : [own]
  }
  const ends = event.type === "response-stop" || event.type === "response-end"
  if (!ends || event.stop !== "tool-calls" || state.withheld === 0 || state.released > 0) return [event]
  return [{ ...event, stop: "end" }]
}

/**
 * True if the final event of OpenAI Responses, which repeats all items, has a call that was not judged. Where nothing was withheld the
 * event goes out unchanged, so each call in it must have been allowed, or pass now.
 */
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

/** Ends the stream with an error in its own format. */
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
