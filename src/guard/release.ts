import { codecOf } from "../wire/codecs.ts"
import { elements, member, readJson } from "../wire/json.ts"
import { type Chain, indexOf, listOf, type StreamEvent, withoutWire } from "../wire/stream.ts"
import { type FoundCall, findCall } from "./calls/find-call.ts"
import { keyOf } from "./calls/part-readings.ts"
import type { GuardState } from "./guard-state.ts"
import { verdictOn } from "./judge-call.ts"

const lengthOf = ({ wire }: StreamEvent): number => (wire?.piece === 0 ? wire.sse.raw.length : 0)

/** Put an event at the end of those that wait. */
export const append = (state: GuardState, event: StreamEvent): GuardState => ({
  ...state,
  queue: { item: event, before: state.queue },
  queuedBytes: state.queuedBytes + lengthOf(event),
})

/** Let out all that waits for nothing, up to the first event of a call that has no verdict yet. */
export function flush(state: GuardState): readonly [GuardState, readonly StreamEvent[]] {
  const { queue } = state
  if (queue === undefined || (queue.before !== undefined && isBlocked(state))) return [state, []]
  const waiting = listOf(queue)
  const out: StreamEvent[] = []
  const ended: number[] = []
  for (const [at, event] of waiting.entries()) {
    if (waits(state, event)) return [forget(requeue(state, waiting.slice(at)), ended), out]
    if (event.type === "part-end") ended.push(event.index)
    if (event.type === "response-stop" && listsUnjudged(state, event)) {
      const [closed, error] = refuseStream(state, event)
      return [closed, [...out, error]]
    }
    for (const one of releasedAs(state, event)) out.push(one)
  }
  return [forget({ ...state, queue: undefined, queuedBytes: 0, first: undefined }, ended), out]
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
  let queue: Chain<StreamEvent>
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

/** The event as it goes out: of a part that is withheld nothing but our text, and a stop that fits what is left. */
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
    return parts.some((part) => isUnjudged(state, findCall(state.format, part)))
  } catch {
    return true
  }
}

function isUnjudged({ allowed, guard, use }: GuardState, call: FoundCall | undefined): boolean {
  if (call === undefined || call.providerRun || allowed.has(keyOf(call))) return false
  return verdictOn(call, guard, use).decision !== "allow"
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
