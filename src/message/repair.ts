import { assert } from "./assert.ts"
import { abandonedCalls, type Ended, isEmpty } from "./check.ts"
import { fence } from "./fence.ts"
import { type CallId, callId, type MessageId, messageId } from "./ids.ts"
import type { Message, Transcript } from "./message.ts"
import { pairCalls } from "./pair.ts"
import type { Part } from "./part.ts"
import { present } from "./present.ts"
import { textOf } from "./text.ts"

/** One mend, with all that it takes to do it again. `message` and `part` are positions at the time of the mend. */
export type RepairEvent = { readonly message: number } & (
  | { readonly type: "message-renamed"; readonly to: MessageId; readonly reason: "message-id-repeated" }
  | { readonly type: "call-renamed"; readonly part: number; readonly to: CallId; readonly reason: "call-id-repeated" }
  | { readonly type: "call-quoted"; readonly part: number; readonly reason: "call-misplaced" | "call-without-result" }
  | {
      readonly type: "result-moved"
      readonly part: number
      readonly after: number
      readonly reason: "result-before-call"
    }
  | {
      readonly type: "result-quoted"
      readonly part: number
      readonly reason: "result-without-call" | "result-repeated"
    }
  | { readonly type: "result-added"; readonly part: number; readonly reason: "call-without-result" }
  | { readonly type: "message-removed"; readonly reason: "message-empty" }
)

export type Repaired = { readonly messages: Transcript; readonly events: readonly RepairEvent[] }

/** What the result of a call says that got none. */
export const missingResult = "[no result was recorded for this call]"

/**
 * Make a transcript that came from outside fit to send: every call with its result, every id once, no empty message. No text is
 * lost: what cannot stand where it is becomes a quotation there. A good transcript comes back as the same object.
 */
export function repair(messages: Transcript, { ended = false }: Ended = {}): Repaired {
  const events: RepairEvent[] = []
  let repaired = messages
  for (const plan of [planRenames, planCallRenames, planMoves, planQuotes, planResults, planRemovals]) {
    const planned = plan(repaired, ended)
    if (planned.length === 0) continue
    repaired = perform(repaired, planned)
    events.push(...planned)
  }
  return { messages: repaired, events }
}

/** Do the mends of one repair again: the same messages and events give the same transcript. */
export function replayRepair(messages: Transcript, events: readonly RepairEvent[]): Transcript {
  const order: readonly (readonly RepairEvent["type"][])[] = [
    ["message-renamed"],
    ["call-renamed"],
    ["result-moved"],
    ["call-quoted", "result-quoted"],
    ["result-added"],
    ["message-removed"],
  ]
  // A call that cannot be given a result is quoted in the same step as the results that are added.
  const stepOf = ({ type, reason }: RepairEvent): number =>
    type === "call-quoted" && reason === "call-without-result" ? 4 : order.findIndex((types) => types.includes(type))
  return order.reduce((repaired: Transcript, _types, step) => {
    const planned = events.filter((event) => stepOf(event) === step)
    return planned.length === 0 ? repaired : perform(repaired, planned)
  }, messages)
}

// Plans: what is wrong, as mends

function fresh(taken: ReadonlySet<string>, id: string): string {
  let n = 2
  while (taken.has(`${id}~${n}`)) n++
  return `${id}~${n}`
}

function planRenames(messages: Transcript): readonly RepairEvent[] {
  const taken = new Set<string>(messages.map(({ id }) => id))
  const seen = new Set<string>()
  return messages.flatMap(({ id }, message): readonly RepairEvent[] => {
    const repeated = seen.has(id)
    seen.add(id)
    if (!repeated) return []
    const to = messageId(fresh(taken, id))
    taken.add(to)
    return [{ type: "message-renamed", message, to, reason: "message-id-repeated" }]
  })
}

function planCallRenames(messages: Transcript): readonly RepairEvent[] {
  const { pairs, open } = pairCalls(messages)
  const resultOf = new Map(pairs.map(({ call, result }) => [`${call.message}.${call.part}`, result]))
  const calls = [...pairs.map(({ call }) => call), ...open].sort(
    (one, other) => one.message - other.message || one.part - other.part,
  )
  const taken = new Set<string>(calls.map((call) => call.callId))
  const seen = new Set<string>()
  return calls.flatMap((call): readonly RepairEvent[] => {
    const repeated = seen.has(call.callId)
    seen.add(call.callId)
    if (!repeated) return []
    const to = callId(fresh(taken, call.callId))
    taken.add(to)
    const result = resultOf.get(`${call.message}.${call.part}`)
    return [call, ...(result === undefined ? [] : [result])].map(({ message, part }) => {
      return { type: "call-renamed", message, part, to, reason: "call-id-repeated" }
    })
  })
}

function planMoves(messages: Transcript): readonly RepairEvent[] {
  const { open, orphans } = pairCalls(messages)
  const waiting = new Map(open.map((call) => [call.callId, call]))
  return orphans.flatMap(({ callId: id, message, part }): readonly RepairEvent[] => {
    const call = waiting.get(id)
    if (call === undefined || messages[call.message]?.role !== "assistant") return []
    waiting.delete(id)
    return [{ type: "result-moved", message, part, after: call.message, reason: "result-before-call" }]
  })
}

function planQuotes(messages: Transcript): readonly RepairEvent[] {
  const { pairs, orphans } = pairCalls(messages)
  const misplaced = new Set<string>()
  const events: RepairEvent[] = []
  for (const [message, { role, parts }] of messages.entries()) {
    for (const [part, content] of parts.entries()) {
      if (content.type !== "tool-call" || role === "assistant") continue
      misplaced.add(content.callId)
      events.push({ type: "call-quoted", message, part, reason: "call-misplaced" })
    }
  }
  const answered = new Set(pairs.map(({ call }) => call.callId))
  const strays = pairs.filter(({ call }) => misplaced.has(call.callId)).map(({ result }) => result)
  for (const { callId: id, message, part } of [...orphans, ...strays]) {
    const reason = answered.has(id) && !misplaced.has(id) ? "result-repeated" : "result-without-call"
    events.push({ type: "result-quoted", message, part, reason })
  }
  return events
}

function planResults(messages: Transcript, ended: boolean): readonly RepairEvent[] {
  return abandonedCalls(messages, pairCalls(messages).open, ended).map(({ message, part, kind }) => {
    const type = kind === "provider" || kind === "other" ? "call-quoted" : "result-added"
    return { type, message, part, reason: "call-without-result" }
  })
}

function planRemovals(messages: Transcript): readonly RepairEvent[] {
  return messages.flatMap((content, message): readonly RepairEvent[] =>
    isEmpty(content) ? [{ type: "message-removed", message, reason: "message-empty" }] : [],
  )
}

// Performing them

/** Part-wise mends in place, results where they belong, removals last. Positions are those before the step. */
function perform(messages: Transcript, events: readonly RepairEvent[]): Transcript {
  const mends = Map.groupBy(events, ({ message }) => message)
  const { joining, following } = placeResults(messages, events)
  return messages.flatMap((message, at): readonly Message[] => {
    const mine = mends.get(at) ?? []
    if (mine.some(({ type }) => type === "message-removed")) return []
    const joined = joining.get(at) ?? []
    const mended = mine.length === 0 && joined.length === 0 ? message : mend(message, mine, joined)
    return [mended, ...resultMessage(message, following.get(at) ?? [])]
  })
}

type Arrivals = ReadonlyMap<number, readonly Part[]>

/** New and moved results join the message that answers the same calls, where there is one; otherwise they follow the calls in a message of ours. */
function placeResults(
  messages: Transcript,
  events: readonly RepairEvent[],
): { readonly joining: Arrivals; readonly following: Arrivals } {
  const joining = new Map<number, readonly Part[]>()
  const following = new Map<number, readonly Part[]>()
  for (const event of events) {
    if (event.type !== "result-moved" && event.type !== "result-added") continue
    const part = messages[event.message]?.parts[event.part]
    assert(part !== undefined, `no part ${event.part} in message ${event.message}`)
    const calls = event.type === "result-moved" ? event.after : event.message
    const target = answers(messages[calls + 1], messages[calls]) ? joining : following
    const at = target === joining ? calls + 1 : calls
    target.set(at, [...(target.get(at) ?? []), event.type === "result-moved" ? part : emptyResult(part)])
  }
  return { joining, following }
}

function answers(next: Message | undefined, calls: Message | undefined): boolean {
  const asked = new Set(calls?.parts.flatMap((part) => (part.type === "tool-call" ? part.callId : [])))
  return next?.role === "user" && next.parts.some((part) => part.type === "tool-result" && asked.has(part.callId))
}

function mend(message: Message, events: readonly RepairEvent[], joined: readonly Part[]): Message {
  const renamed = events.find((event) => event.type === "message-renamed")
  const changes = new Map(events.flatMap((event) => ("part" in event ? [[event.part, event] as const] : [])))
  const parts = message.parts.flatMap((part, n): readonly Part[] => {
    const change = changes.get(n)
    return change === undefined ? [part] : mendPart(part, change)
  })
  const results = parts.findLastIndex((part) => part.type === "tool-result") + 1
  return {
    ...message,
    parts: parts.toSpliced(results, 0, ...joined),
    ...(renamed === undefined ? {} : { id: renamed.to }),
  }
}

function mendPart(part: Part, event: RepairEvent): readonly Part[] {
  if (event.type === "result-moved") return []
  if (event.type === "call-renamed" && (part.type === "tool-call" || part.type === "tool-result"))
    return [{ ...part, callId: event.to }]
  if (event.type === "call-quoted" || event.type === "result-quoted") return [quoted(part)]
  return [part]
}

/** A call or result as a text: readable, fenced, and still of its own channel. */
function quoted(part: Part): Part {
  assert(part.type === "tool-call" || part.type === "tool-result", `a ${part.type} part is never quoted`)
  if (part.type === "tool-result")
    return { type: "text", text: fence("tool-result", textOf(part), { call: part.callId }), channel: "tool" }
  return {
    type: "text",
    text: fence("tool-call", textOf(part), { call: part.callId, tool: part.tool }),
    channel: "assistant",
  }
}

function emptyResult(call: Part): Part {
  assert(call.type === "tool-call", "a result is added for a call only")
  return {
    type: "tool-result",
    callId: call.callId,
    kind: call.kind,
    content: [{ type: "text", text: missingResult }],
    failed: true,
  }
}

function resultMessage({ id, format }: Message, results: readonly Part[]): readonly Message[] {
  if (results.length === 0) return []
  return [{ id: messageId(`${id}+results`), role: "user", parts: results, ...present({ format }) }]
}
