import { assert } from "./assert.ts"
import { createFreshIds } from "./fresh.ts"
import { messageId } from "./ids.ts"
import type { Mend } from "./mend.ts"
import type { Message, Role, Transcript } from "./message.ts"
import type { Part } from "./part.ts"
import { present } from "./present.ts"
import { quote } from "./quote.ts"

/** What the result of a call says that got none. */
export const missingResult = "[no result was recorded for this call]"

/** Part-wise mends in place, results where they belong, removals last. Positions are those before the step. */
export function performMends(messages: Transcript, events: readonly Mend[]): Transcript {
  const mends = Map.groupBy(events, ({ message }) => message)
  const { joining, following } = placeResults(messages, events)
  const fresh = createFreshIds(messages.map(({ id }) => id))
  const moved = Map.groupBy(
    events.flatMap((event) => (event.type === "message-moved" ? [event] : [])).toSorted(byPlace),
    ({ before }) => before,
  )
  return messages.flatMap((message, at): readonly Message[] => {
    const mine = mends.get(at) ?? []
    if (mine.some(({ type }) => type === "message-removed" || type === "message-moved")) return []
    const joined = joining.get(at) ?? []
    const inside = mine.filter(({ type }) => type !== "result-added")
    const mended = inside.length === 0 && joined.length === 0 ? message : mend(message, inside, joined)
    const quotes =
      message.role === "user"
        ? []
        : inside.flatMap((one) => (one.type === "result-quoted" ? quoteAt(message, one.part) : []))
    return [
      ...(moved.get(at) ?? []).flatMap((event) => messages[event.message] ?? []),
      ...ownMessage(message, quotes, fresh, "quoted"),
      mended,
      ...ownMessage(message, following.get(at) ?? [], fresh, "results"),
    ]
  })
}

const byPlace = (one: Mend, other: Mend): number => one.message - other.message

type Arrivals = ReadonlyMap<number, readonly Part[]>

/** New and moved results join the message that answers the same calls, where there is one; otherwise they follow the calls in a message of ours. */
function placeResults(
  messages: Transcript,
  events: readonly Mend[],
): { readonly joining: Arrivals; readonly following: Arrivals } {
  const arrivals = events.flatMap((event): readonly { readonly calls: number; readonly result: Part }[] => {
    if (event.type !== "result-moved" && event.type !== "result-added") return []
    const part = messages[event.message]?.parts[event.part]
    assert(part !== undefined, `no part ${event.part} in message ${event.message}`)
    return [
      event.type === "result-moved"
        ? { calls: event.after, result: part }
        : { calls: event.message, result: emptyResult(part) },
    ]
  })
  const joining = new Map<number, readonly Part[]>()
  const following = new Map<number, readonly Part[]>()
  for (const [calls, arrived] of Map.groupBy(arrivals, (arrival) => arrival.calls)) {
    const results = arrived.map(({ result }) => result)
    if (answers(messages[calls + 1], messages[calls])) joining.set(calls + 1, results)
    else following.set(calls, results)
  }
  return { joining, following }
}

function answers(next: Message | undefined, calls: Message | undefined): boolean {
  if (next?.role !== "user") return false
  const asked = new Set(calls?.parts.flatMap((part) => (part.type === "tool-call" ? part.callId : [])))
  return next.parts.some((part) => part.type === "tool-result" && asked.has(part.callId))
}

function mend(message: Message, events: readonly Mend[], joined: readonly Part[]): Message {
  const renamed = events.find((event) => event.type === "message-renamed")
  const changes = new Map(events.flatMap((event) => ("part" in event ? [[event.part, event] as const] : [])))
  const parts = message.parts.flatMap((part, n): readonly Part[] => {
    const change = changes.get(n)
    return change === undefined ? [part] : mendPart(message.role, part, change)
  })
  const results = parts.findLastIndex((part) => part.type === "tool-result") + 1
  return {
    ...message,
    parts: parts.toSpliced(results, 0, ...joined),
    ...(renamed === undefined ? {} : { id: renamed.to }),
  }
}

function mendPart(role: Role, part: Part, event: Mend): readonly Part[] {
  if (event.type === "result-moved") return []
  if (event.type === "call-renamed" && (part.type === "tool-call" || part.type === "tool-result"))
    return [{ ...part, callId: event.to }]
  // What a tool said is never put into another's mouth: outside the user's messages it gets one of its own.
  if (event.type === "result-quoted") return role === "user" ? quoted(part) : []
  return event.type === "call-quoted" ? quoted(part) : [part]
}

function quoteAt({ id, parts }: Message, at: number): readonly Part[] {
  const part = parts[at]
  assert(part !== undefined, `no part ${at} in message ${id}`)
  return quoted(part)
}

function quoted(part: Part): readonly Part[] {
  assert(part.type === "tool-call" || part.type === "tool-result", `a ${part.type} part is never quoted`)
  return quote(part)
}

function emptyResult(call: Part): Part {
  assert(call.type === "tool-call", "a result is added for a call only")
  return {
    type: "tool-result",
    callId: call.callId,
    kind: call.kind,
    tool: call.tool,
    content: [{ type: "text", text: missingResult }],
    failed: true,
  }
}

/** A message of ours beside this one, for what cannot stand in it. */
function ownMessage(
  { id, format }: Message,
  parts: readonly Part[],
  fresh: (near: string) => string,
  name: string,
): readonly Message[] {
  if (parts.length === 0) return []
  return [{ id: messageId(fresh(`${id}+${name}`)), role: "user", parts, ...present({ format }) }]
}
