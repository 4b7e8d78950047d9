import { assert } from "./assert.ts"
import { quote } from "./fence.ts"
import {
  abandonedCalls,
  type CheckOptions,
  checkTranscript,
  findParted,
  groupTurns,
  isEmpty,
  isMisplaced,
  pairCalls,
  pairKey,
} from "./group.ts"
import {
  type CallId,
  callId,
  type Message,
  type MessageId,
  messageId,
  type Part,
  type Role,
  type Transcript,
} from "./message.ts"
import { present } from "./present.ts"
import { createRecall } from "./recall.ts"

/** A fix that was made: where, by ids, and in which step of the repair. */
export type RepairEvent = Fix & { readonly step: number; readonly messageId: MessageId; readonly callId?: CallId }

export type Repaired = { readonly messages: Transcript; readonly events: readonly RepairEvent[] }

/**
 * Makes a transcript from outside valid: every call with its result, every id once, no empty message. No text is lost: a call or result
 * that a provider would refuse becomes quoted text in its place. A valid transcript is returned as the same object.
 */
export function repair(messages: Transcript, options: CheckOptions = {}): Repaired {
  const repaired = repairOn(messages, options)
  if (repaired !== undefined) return repaired
  return checkTranscript(messages, options).length === 0 ? { messages, events: [] } : repairWhole(messages, options)
}

function repairWhole(messages: Transcript, options: CheckOptions): Repaired {
  const events: RepairEvent[] = []
  let repaired = messages
  let step = 0
  for (const plan of repairPlans) {
    // Moving one result may separate another from its call, so this repeats until nothing is left to fix.
    for (let fixes = plan(repaired, options); fixes.length > 0; fixes = plan(repaired, options)) {
      assert(step <= messages.length + repairPlans.length, "a repair that does not end")
      const before = repaired
      events.push(...fixes.map((fix) => eventOf(before, fix, step)))
      repaired = performFixes(before, fixes)
      step++
    }
  }
  keepStart(messages, options, { messages: repaired, events })
  return { messages: repaired, events }
}

/** The repaired start of a transcript: its first `length` messages became `start`, and nothing after them was changed. */
type Start = CheckOptions & {
  readonly start: Transcript
  readonly length: number
  readonly events: readonly RepairEvent[]
}

const knownStarts = createRecall<Start>()

/**
 * Repairs a transcript that continues a repaired one, provided that the new messages need no fix and contain no id that was fixed.
 * Undefined otherwise.
 */
function repairOn(messages: Transcript, { adjacent, ended = false }: CheckOptions): Repaired | undefined {
  const known = knownStarts.find(messages, (made) => made.adjacent === adjacent && made.ended === ended)
  if (known === undefined || known.common < known.made.length) return undefined
  const { start, length, events } = known.made
  const newMessages = messages.slice(length)
  const fixed = new Set<string | undefined>(events.flatMap(({ messageId, callId }) => [messageId, callId]))
  const isFixed = ({ id, parts }: Message): boolean =>
    fixed.has(id) || parts.some((part) => "callId" in part && fixed.has(part.callId))
  if (newMessages.some(isFixed)) return undefined
  const repaired = [...start, ...newMessages]
  return checkTranscript(repaired, { adjacent, ended }).length > 0 ? undefined : { messages: repaired, events }
}

/** Keeps the result of a repair up to the last group before which no call is open, if nothing from there on was changed. */
function keepStart(messages: Transcript, { adjacent, ended = false }: CheckOptions, repaired: Repaired): void {
  const { messages: made, events } = repaired
  let same = 0
  while (same < made.length && made.at(-1 - same) === messages.at(-1 - same)) same++
  const groups = groupTurns(made)
  const waiting = groups.findIndex(({ pending }) => pending.length > 0)
  const last = groups[waiting < 0 ? groups.length - 1 : waiting]?.start ?? 0
  const untouched = made.length - same
  if (last === 0 || last < untouched) return
  const length = messages.length - (made.length - last)
  knownStarts.keep(messages, { adjacent, ended, start: made.slice(0, last), length, events })
}

function eventOf(messages: Transcript, fix: Fix, step: number): RepairEvent {
  const message = messages[fix.message]
  assert(message !== undefined, `no message ${fix.message}`)
  const part = "part" in fix ? message.parts[fix.part] : undefined
  const call = part?.type === "tool-call" || part?.type === "tool-result" ? part.callId : undefined
  return { ...fix, step, messageId: message.id, ...present({ callId: call }) }
}

/** Applies the fixes of a repair again: the same messages and events give the same transcript. */
export function replayRepair(messages: Transcript, events: readonly RepairEvent[]): Transcript {
  return [...Map.groupBy(events, ({ step }) => step).values()].reduce(performFixes, messages)
}

/** The text of the result that is added for a call without one. */
export const missingResult = "[no result was recorded for this call]"

/** Applies fixes of parts in place, then moves results, then removes messages. Positions are those before the step. */
function performFixes(messages: Transcript, events: readonly Fix[]): Transcript {
  const fixes = Map.groupBy(events, ({ message }) => message)
  const { joining, following } = placeResults(messages, events)
  const fresh = createFreshIds(messages.map(({ id }) => id))
  const moved = Map.groupBy(
    events.filter((event) => event.type === "message-moved"),
    ({ before }) => before,
  )
  return messages.flatMap((message, at): readonly Message[] => {
    const mine = fixes.get(at) ?? []
    if (mine.some(({ type }) => type === "message-removed" || type === "message-moved")) return []
    const joined = joining.get(at) ?? []
    const inside = mine.filter(({ type }) => type !== "result-added")
    const fixed = inside.length === 0 && joined.length === 0 ? message : fix(message, inside, joined)
    const quotes =
      message.role === "user"
        ? []
        : inside.flatMap((one) => (one.type === "result-quoted" ? quoteAt(message, one.part) : []))
    return [
      ...(moved.get(at) ?? []).flatMap((event) => messages[event.message] ?? []),
      ...ownMessage(message, quotes, fresh, "quoted"),
      fixed,
      ...ownMessage(message, following.get(at) ?? [], fresh, "results"),
    ]
  })
}

type PlacedResults = ReadonlyMap<number, readonly Part[]>

/** Places new and moved results in the message that has results of the same calls; if there is none, in a new message after the calls. */
function placeResults(
  messages: Transcript,
  events: readonly Fix[],
): { readonly joining: PlacedResults; readonly following: PlacedResults } {
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
  const callIds = new Set(calls?.parts.flatMap((part) => (part.type === "tool-call" ? part.callId : [])))
  return next.parts.some((part) => part.type === "tool-result" && callIds.has(part.callId))
}

function fix(message: Message, events: readonly Fix[], joined: readonly Part[]): Message {
  const renamed = events.find((event) => event.type === "message-renamed")
  const changes = new Map(events.flatMap((event) => ("part" in event ? [[event.part, event] as const] : [])))
  const parts = message.parts.flatMap((part, n): readonly Part[] => {
    const change = changes.get(n)
    return change === undefined ? [part] : fixPart(message.role, part, change)
  })
  const results = parts.findLastIndex((part) => part.type === "tool-result") + 1
  return {
    ...message,
    parts: parts.toSpliced(results, 0, ...joined),
    ...(renamed === undefined ? {} : { id: renamed.to }),
  }
}

function fixPart(role: Role, part: Part, event: Fix): readonly Part[] {
  if (event.type === "result-moved") return []
  if (event.type === "call-renamed" && (part.type === "tool-call" || part.type === "tool-result"))
    return [{ ...part, callId: event.to }]
  // Tool output must not look like words of the assistant or the system: outside user messages it is quoted in a new message.
  if (event.type === "result-quoted") return role === "user" ? quoted(part) : []
  return quoted(part)
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

/** Returns a new message next to this one, for parts that must not stay in it. */
function ownMessage(
  { id, format }: Message,
  parts: readonly Part[],
  fresh: (near: string) => string,
  name: string,
): readonly Message[] {
  if (parts.length === 0) return []
  return [{ id: messageId(fresh(`${id}+${name}`)), role: "user", parts, ...present({ format }) }]
}

function planRenames(messages: Transcript): readonly Fix[] {
  const fresh = createFreshIds(messages.map(({ id }) => id))
  const seen = new Set<string>()
  return messages.flatMap(({ id }, message): readonly Fix[] => {
    const repeated = seen.has(id)
    seen.add(id)
    if (!repeated) return []
    const to = messageId(fresh(id))
    return [{ type: "message-renamed", message, to, reason: "message-id-repeated" }]
  })
}

function planCallRenames(messages: Transcript): readonly Fix[] {
  const { pairs, open } = pairCalls(messages)
  const resultOf = new Map(pairs.map(({ call, result }) => [`${call.message}.${call.part}`, result]))
  const calls = [...pairs.map(({ call }) => call), ...open].sort(
    (one, other) => one.message - other.message || one.part - other.part,
  )
  const fresh = createFreshIds(calls.map((call) => call.callId))
  const seen = new Set<string>()
  return calls.flatMap((call): readonly Fix[] => {
    const repeated = seen.has(call.callId)
    seen.add(call.callId)
    if (!repeated) return []
    const to = callId(fresh(call.callId))
    const result = resultOf.get(`${call.message}.${call.part}`)
    return [call, ...(result === undefined ? [] : [result])].map(({ message, part }) => {
      return { type: "call-renamed", message, part, to, reason: "call-id-repeated" }
    })
  })
}

/**
 * Plans to move assistant and system messages between calls and their results before the calls. Moving the results instead could leave such
 * a message at the end of the request, and the model would have nothing to answer.
 */
function planMessageMoves(messages: Transcript, { adjacent }: CheckOptions): readonly Fix[] {
  if (adjacent === undefined) return []
  const separated = pairCalls(messages)
    .pairs.filter(findParted(messages, adjacent))
    .toSorted((one, other) => one.call.message - other.call.message)
  const goal = new Map<number, number>()
  let seen = 0
  for (const { call, result } of separated) {
    const isOurs = messages[call.message]?.role === "assistant"
    // The message with the calls may itself be moved before earlier calls.
    const before = goal.get(call.message) ?? call.message
    for (seen = Math.max(seen, call.message + 1); isOurs && seen < result.message; seen++) {
      const message = messages[seen]
      if (message !== undefined && isWithoutClientCalls(message)) goal.set(seen, before)
    }
  }
  return [...goal].map(([message, to]) => ({
    type: "message-moved",
    message,
    before: to,
    reason: "result-not-adjacent",
  }))
}

/** True for a message without calls that the client must answer; a provider answers its own calls. */
const isWithoutClientCalls = ({ role, parts }: Message): boolean =>
  role === "system" ||
  (role === "assistant" && parts.every((part) => part.type !== "tool-call" || part.kind === "provider"))

/** Plans to move each result to its call if there is one, and to quote the others in place. */
function planResultMoves(messages: Transcript, { adjacent }: CheckOptions): readonly Fix[] {
  const { pairs, open, orphans } = pairCalls(messages)
  const ownCalls = open.filter(({ message }) => messages[message]?.role === "assistant")
  const waiting = new Map(ownCalls.map((call) => [pairKey(call), call]))
  const answered = new Set(pairs.map(({ call }) => pairKey(call)))
  const calls = messages.flatMap(({ role, parts }, message) =>
    parts.flatMap((content, part): readonly Fix[] =>
      content.type === "tool-call" && role !== "assistant"
        ? [{ type: "call-quoted", message, part, reason: "call-misplaced" }]
        : [],
    ),
  )
  const strays = orphans.map(({ message, part, ...place }): Fix => {
    const key = pairKey(place)
    const call = waiting.get(key)
    waiting.delete(key)
    if (call !== undefined)
      return { type: "result-moved", message, part, after: call.message, reason: "result-before-call" }
    const reason = answered.has(key) ? "result-repeated" : "result-without-call"
    return { type: "result-quoted", message, part, reason }
  })
  const isParted = adjacent === undefined ? () => false : findParted(messages, adjacent)
  const misplaced = pairs.flatMap((pair): readonly Fix[] => {
    const { message, part } = pair.result
    const after = pair.call.message
    if (messages[after]?.role !== "assistant")
      return [{ type: "result-quoted", message, part, reason: "result-without-call" }]
    if (isMisplaced(messages, pair)) return [{ type: "result-moved", message, part, after, reason: "result-misplaced" }]
    return isParted(pair) ? [{ type: "result-moved", message, part, after, reason: "result-not-adjacent" }] : []
  })
  return [...calls, ...strays, ...misplaced]
}

function planMissingResults(messages: Transcript, { ended = false }: CheckOptions): readonly Fix[] {
  return abandonedCalls(messages, pairCalls(messages).open, ended).map(({ message, part, kind }) => {
    const type = kind === "provider" || kind === "other" ? "call-quoted" : "result-added"
    return { type, message, part, reason: "call-without-result" }
  })
}

function planRemovals(messages: Transcript): readonly Fix[] {
  return messages.flatMap((content, message): readonly Fix[] =>
    isEmpty(content) ? [{ type: "message-removed", message, reason: "message-empty" }] : [],
  )
}

/** In this order: repeated ids, misplaced messages and results, missing results, what these displaced in turn, empty messages. */
const repairPlans: readonly ((messages: Transcript, options: CheckOptions) => readonly Fix[])[] = [
  planRenames,
  planCallRenames,
  planMessageMoves,
  planResultMoves,
  planMissingResults,
  planMessageMoves,
  planResultMoves,
  planRemovals,
]

/** One fix, complete enough to be replayed. `message` and `part` are positions at the time of the fix. */
type Fix = { readonly message: number } & (
  | { readonly type: "message-renamed"; readonly to: MessageId; readonly reason: "message-id-repeated" }
  | { readonly type: "call-renamed"; readonly part: number; readonly to: CallId; readonly reason: "call-id-repeated" }
  | { readonly type: "call-quoted"; readonly part: number; readonly reason: "call-misplaced" | "call-without-result" }
  | {
      readonly type: "result-moved"
      readonly part: number
      readonly after: number
      readonly reason: "result-before-call" | "result-misplaced" | "result-not-adjacent"
    }
  | {
      readonly type: "result-quoted"
      readonly part: number
      readonly reason: "result-without-call" | "result-repeated"
    }
  | { readonly type: "result-added"; readonly part: number; readonly reason: "call-without-result" }
  | { readonly type: "message-removed"; readonly reason: "message-empty" }
  /** An assistant or system message moves before the message whose calls it followed. */
  | { readonly type: "message-moved"; readonly before: number; readonly reason: "result-not-adjacent" }
)

/** Returns a function that returns the wanted id, or that id with a number if it is taken; the returned id counts as taken. */
export function createFreshIds(ids: Iterable<string>): (near: string) => string {
  const taken = new Set(ids)
  const lastOf = new Map<string, number>()
  return (near) => {
    let n = lastOf.get(near) ?? 1
    let id = near
    while (taken.has(id)) id = `${near}~${++n}`
    lastOf.set(near, n)
    taken.add(id)
    return id
  }
}
