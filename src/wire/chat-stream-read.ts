import { callId } from "../message/message.ts"
import { namesIn } from "../message/present.ts"
import { chatStop, readChatUsage } from "./chat.ts"
import {
  countIn,
  elements,
  isObject,
  type Json,
  member,
  requireObject,
  requireString,
  stringIn,
  wireOf,
} from "./json.ts"
import {
  closePart,
  type DecodeState,
  type EventReading,
  feedPart,
  invalid,
  openPart,
  type PartStart,
  requirePart,
  say,
  sayEnd,
  sayError,
  sayStart,
  sayStop,
  sayText,
  sayUsage,
} from "./stream.ts"

/**
 * Read one chunk. This format never marks the end of a part, and deltas of several calls may alternate: all parts end with the
 * `finish_reason`. All choices but the first are relayed unread.
 */
export function readChunk(reading: EventReading, chunk: Json): void {
  const error = member(chunk, "error")
  if (error !== undefined && error.value !== null) {
    sayError(reading, error)
    return
  }
  const choice = choiceOf(chunk)
  const delta = member(choice, "delta")
  readStart(reading, chunk)
  if (delta !== undefined && isObject(delta.value)) readDelta(reading, delta)
  sayUsage(reading, readChatUsage(member(chunk, "usage")))
  readFinish(reading, stringIn(choice, "finish_reason"))
}

export function readDone(reading: EventReading): void {
  if (reading.state.stop === undefined) throw invalid(reading.state, "a finish_reason before it", "none")
  sayEnd(reading)
}

/** The first choice of a chunk. Some servers send usage, or nothing at all, in chunks without choices. */
export const choiceOf = (chunk: Json): Json | undefined =>
  elements(member(chunk, "choices")).find((choice) => isObject(choice.value) && (countIn(choice, "index") ?? 0) === 0)

/** The response starts with the first chunk that has an id or a choice: a server may send filter results or pings before it. */
function readStart(reading: EventReading, chunk: Json): void {
  const id = stringIn(chunk, "id") || undefined
  if (reading.state.started || (id === undefined && choiceOf(chunk) === undefined)) return
  sayStart(reading, { id, model: stringIn(chunk, "model"), createdAt: countIn(chunk, "created") })
}

/** Some servers send `finish_reason: ""` until they have finished. */
function readFinish(reading: EventReading, reason: string | undefined): void {
  if (reason === undefined || reason === "") return
  for (const key of reading.state.open.keys()) closePart(reading, key)
  sayStop(reading, chatStop(reason))
}

/** Fields of a delta that become events, and padding without content. */
export const knownFields: ReadonlySet<string> = new Set(
  namesIn("role content reasoning_content reasoning tool_calls function_call obfuscation"),
)

function readDelta(reading: EventReading, delta: Json): void {
  readText(reading, "reasoning", stringIn(delta, "reasoning_content") ?? stringIn(delta, "reasoning"))
  readText(reading, "text", stringIn(delta, "content"))
  for (const [slot, call] of elements(member(delta, "tool_calls")).entries()) readCall(reading, call, slot)
  const legacy = member(delta, "function_call")
  if (legacy !== undefined && isObject(legacy.value)) readLegacyCall(reading, legacy)
  if (hasMore(delta, knownFields)) say(reading, { type: "other" })
}

/** Whether any field outside `known` has content. */
export function hasMore(json: Json, known: ReadonlySet<string>): boolean {
  const isEmpty = (value: unknown) => value === null || value === "" || (Array.isArray(value) && value.length === 0)
  return isObject(json.value) && Object.entries(json.value).some(([name, value]) => !known.has(name) && !isEmpty(value))
}

function readText(reading: EventReading, part: "text" | "reasoning", text: string | undefined): void {
  if (text === undefined || text === "") return
  const { index } = reading.state.open.get(part)?.start ?? openPart(reading, part, { part })
  sayText(reading, part, index, text)
}

/** Fields of a tool call that become events. */
export const knownCallFields: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"])

function readCall(reading: EventReading, call: Json, slot: number): void {
  const key = keyOfCall(reading.state, requireObject(call))
  const custom = callMember(call, "custom")
  const own = callMember(call, "function")
  // A call with both could be judged as one and run as the other.
  if (custom !== undefined && own !== undefined) throw invalid(reading.state, "either function or custom", "both")
  const inner = custom ?? own
  const before = reading.said.length
  reading.slot = slot
  const { index } = openCall(reading, key, call, inner)
  feedInput(reading, key, inner, custom === undefined ? "arguments" : "input")
  if (reading.said.length === before || hasMore(call, knownCallFields)) say(reading, { type: "other", index })
  reading.slot = undefined
}

/** A member of a call; some servers send null for the one that is not used. */
function callMember(call: Json, name: "function" | "custom"): Json | undefined {
  const inner = member(call, name)
  return inner === undefined || inner.value === null ? undefined : inner
}

/**
 * Append a delta to the input of a call. Some servers send the arguments as a JSON value instead of text. Then nothing else may come for
 * that call, because clients disagree on how to combine such a value with further deltas.
 */
function feedInput(reading: EventReading, key: string, inner: Json | undefined, name: "arguments" | "input"): void {
  const given = member(inner, name)
  if (given === undefined || given.value === null || given.value === "") return
  const { start, fed, input } = requirePart(reading, key)
  const text = typeof given.value === "string" ? given.value : undefined
  if (input !== undefined || (fed && text === undefined)) throw invalid(reading.state, "one kind of arguments", "two")
  feedPart(reading, key, text === undefined ? wireOf(given) : undefined)
  say(reading, { type: "input-delta", index: start.index, text: text ?? wireOf(given) })
}

/** The key of a call: its index. Without an index, a delta with a new id opens a call, and any other continues the last one. */
function keyOfCall(state: DecodeState, call: Json): string {
  const index = countIn(call, "index")
  if (index !== undefined) return `call ${index}`
  const id = stringIn(call, "id")
  const calls = [...state.open].filter(([, { start }]) => start.part === "tool-call")
  const same = calls.find(([, { start }]) => start.part === "tool-call" && start.callId === id)
  if (same !== undefined) return same[0]
  return (id === undefined ? calls.at(-1)?.[0] : undefined) ?? `call ${state.parts}`
}

/** Throws if a later delta changes the id or name of a call: it could be judged as one tool and run as another. */
function openCall(reading: EventReading, key: string, call: Json, inner: Json | undefined): PartStart {
  const { state } = reading
  const open = state.open.get(key)
  if (open === undefined) {
    const tool = requireString(inner ?? call, "name")
    const id = callId(stringIn(call, "id") ?? `call-${state.parts}`)
    const kind = callMember(call, "custom") === undefined ? "function" : "custom"
    return openPart(reading, key, { part: "tool-call", callId: id, tool, kind })
  }
  const { start } = open
  const id = stringIn(call, "id") || undefined
  const tool = stringIn(inner, "name") || undefined
  const same =
    start.part === "tool-call" && (id ?? start.callId) === start.callId && (tool ?? start.tool) === start.tool
  if (!same) throw invalid(state, "the id and name that the call began with", "others")
  return start
}

/** A call of the old `function_call` member, which has no id. */
function readLegacyCall(reading: EventReading, call: Json): void {
  const key = "function_call"
  const named = stringIn(call, "name") || undefined
  const start =
    reading.state.open.get(key)?.start ??
    openPart(reading, key, {
      part: "tool-call",
      callId: callId("#function-0"),
      tool: requireString(call, "name"),
      kind: "function",
    })
  if (start.part === "tool-call" && (named ?? start.tool) !== start.tool)
    throw invalid(reading.state, "the name that the call began with", "another")
  feedInput(reading, key, call, "arguments")
}
