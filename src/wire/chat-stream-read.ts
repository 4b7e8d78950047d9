import { callId } from "../message/message.ts"
import { namesIn, present } from "../message/present.ts"
import { chatStop, readChatUsage } from "./chat.ts"
import {
  countIn,
  elements,
  isObject,
  type Json,
  member,
  readJson,
  requireObject,
  requireString,
  stringIn,
  wireOf,
} from "./json.ts"
import type { SseEvent } from "./sse.ts"
import {
  type DecodeState,
  endOf,
  errorOf,
  feedPart,
  invalid,
  openPart,
  type PartStart,
  pieces,
  type Read,
  type StreamStatement,
  stopPiece,
  usagePieces,
  type WireStatement,
} from "./stream.ts"

/**
 * Read one chunk. This format never marks the end of a part, and deltas of several calls may alternate: all parts end with the
 * `finish_reason`. All choices but the first are relayed unread.
 */
export function readChunk(state: DecodeState, sse: SseEvent): Read {
  if (sse.data.trim() === "[DONE]") {
    if (state.stop === undefined) throw invalid(state, "a finish_reason before it", "none")
    return [{ ...state, closed: true }, pieces(endOf(state))]
  }
  const chunk = requireObject(readJson(sse.data, "response"))
  const error = member(chunk, "error")
  if (error !== undefined && error.value !== null) return [{ ...state, closed: true }, pieces(errorOf(error))]
  const choice = choiceOf(chunk)
  const delta = member(choice, "delta")
  return chain(state, [
    (now) => readStart(now, chunk),
    (now) => (delta === undefined || !isObject(delta.value) ? [now, []] : readDelta(now, delta)),
    (now) => {
      const [next, said] = usagePieces(now, readChatUsage(member(chunk, "usage")))
      return [next, pieces(...said)]
    },
    (now) => readFinish(now, stringIn(choice, "finish_reason")),
  ])
}

/** The first choice of a chunk. Some servers send usage, or nothing at all, in chunks without choices. */
export function choiceOf(chunk: Json): Json | undefined {
  const choices = member(chunk, "choices")
  return choices === undefined
    ? undefined
    : elements(choices).find((choice) => isObject(choice.value) && (countIn(choice, "index") ?? 0) === 0)
}

type Reader = (state: DecodeState) => Read

function chain(state: DecodeState, readers: readonly Reader[]): Read {
  let now = state
  const all: WireStatement[] = []
  for (const reader of readers) {
    const [next, list] = reader(now)
    now = next
    all.push(...list)
  }
  return [now, all]
}

/** The response starts with the first chunk that has an id or a choice: a server may send filter results or pings before it. */
function readStart(state: DecodeState, chunk: Json): Read {
  const id = stringIn(chunk, "id") || undefined
  if (state.started || (id === undefined && choiceOf(chunk) === undefined)) return [state, []]
  const names = { id, model: stringIn(chunk, "model"), createdAt: countIn(chunk, "created") }
  return [{ ...state, started: true }, pieces({ type: "response-start", ...present(names) })]
}

/** Some servers send `finish_reason: ""` until they have finished. */
function readFinish(state: DecodeState, reason: string | undefined): Read {
  if (reason === undefined || reason === "") return [state, []]
  const ends = [...state.open.values()].map(({ start }): StreamStatement => ({ type: "part-end", index: start.index }))
  const [next, stop] = stopPiece({ ...state, open: new Map() }, chatStop(reason))
  return [next, pieces(...ends, stop)]
}

/** Fields of a delta that become events, and padding without content. */
export const knownFields: ReadonlySet<string> = new Set(
  namesIn("role content reasoning_content reasoning tool_calls function_call obfuscation"),
)

function readDelta(state: DecodeState, delta: Json): Read {
  const reasoning = stringIn(delta, "reasoning_content") ?? stringIn(delta, "reasoning")
  const calls = member(delta, "tool_calls")
  const legacy = member(delta, "function_call")
  return chain(state, [
    (now) => readText(now, "reasoning", reasoning),
    (now) => readText(now, "text", stringIn(delta, "content")),
    ...elements(calls).map(
      (call, slot): Reader =>
        (now) =>
          readCall(now, call, slot),
    ),
    (now) => (legacy === undefined || !isObject(legacy.value) ? [now, []] : readLegacyCall(now, legacy)),
    (now) => [now, hasMore(delta, knownFields) ? pieces({ type: "other" }) : []],
  ])
}

/** Whether any field outside `known` has content. */
export function hasMore(json: Json, known: ReadonlySet<string>): boolean {
  const isEmpty = (value: unknown) => value === null || value === "" || (Array.isArray(value) && value.length === 0)
  return isObject(json.value) && Object.entries(json.value).some(([name, value]) => !known.has(name) && !isEmpty(value))
}

function readText(state: DecodeState, part: "text" | "reasoning", text: string | undefined): Read {
  if (text === undefined || text === "") return [state, []]
  const open = state.open.get(part)
  const [next, start] = open === undefined ? openPart(state, part, { part }) : [state, open.start]
  const delta: StreamStatement = { type: part === "text" ? "text-delta" : "reasoning-delta", index: start.index, text }
  return [next, open === undefined ? pieces(start, delta) : pieces(delta)]
}

/** Fields of a tool call that become events. */
export const knownCallFields: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"])

function readCall(state: DecodeState, call: Json, slot: number): Read {
  const key = keyOfCall(state, requireObject(call))
  const custom = callMember(call, "custom")
  const own = callMember(call, "function")
  // A call with both could be judged as one and run as the other.
  if (custom !== undefined && own !== undefined) throw invalid(state, "either function or custom", "both")
  const inner = custom ?? own
  const [opened, [start]] = openCall(state, key, call, inner)
  const index = (start ?? state.open.get(key)?.start)?.index ?? 0
  const [next, text] = feedInput(opened, key, inner, custom === undefined ? "arguments" : "input")
  const said: StreamStatement[] = start === undefined ? [] : [start]
  if (text !== "") said.push({ type: "input-delta", index, text })
  if (hasMore(call, knownCallFields)) said.push({ type: "other", index })
  return [next, (said.length > 0 ? said : [{ type: "other", index } as const]).map((one) => ({ said: one, slot }))]
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
function feedInput(
  state: DecodeState,
  key: string,
  inner: Json | undefined,
  name: "arguments" | "input",
): readonly [DecodeState, string] {
  const given = member(inner, name)
  const open = state.open.get(key)
  if (given === undefined || given.value === null || given.value === "" || open === undefined) return [state, ""]
  if (open.input !== undefined || (open.fed && typeof given.value !== "string"))
    throw invalid(state, "one kind of arguments", "two")
  if (typeof given.value === "string") return [feedPart(state, key, open), given.value]
  const input = wireOf(given)
  return [{ ...state, open: new Map(state.open).set(key, { ...open, fed: true, input }) }, input]
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
function openCall(
  state: DecodeState,
  key: string,
  call: Json,
  inner: Json | undefined,
): readonly [DecodeState, readonly PartStart[]] {
  const open = state.open.get(key)
  if (open === undefined) {
    const tool = requireString(inner ?? call, "name")
    const id = callId(stringIn(call, "id") ?? `call-${state.parts}`)
    const kind = callMember(call, "custom") === undefined ? "function" : "custom"
    const [next, start] = openPart(state, key, { part: "tool-call", callId: id, tool, kind })
    return [next, [start]]
  }
  const { start } = open
  const id = stringIn(call, "id") || undefined
  const tool = stringIn(inner, "name") || undefined
  const same =
    start.part === "tool-call" && (id ?? start.callId) === start.callId && (tool ?? start.tool) === start.tool
  if (!same) throw invalid(state, "the id and name that the call began with", "others")
  return [state, []]
}

function readLegacyCall(state: DecodeState, call: Json): Read {
  const key = "function_call"
  const open = state.open.get(key)
  const [opened, start] =
    open === undefined
      ? openPart(state, key, {
          part: "tool-call",
          callId: callId("#function-0"),
          tool: requireString(call, "name"),
          kind: "function",
        })
      : [state, open.start]
  const named = stringIn(call, "name") || undefined
  if (start.part === "tool-call" && (named ?? start.tool) !== start.tool)
    throw invalid(state, "the name that the call began with", "another")
  const [next, text] = feedInput(opened, key, call, "arguments")
  const said: readonly StreamStatement[] = text === "" ? [] : [{ type: "input-delta", index: start.index, text }]
  return [next, open === undefined ? pieces(start, ...said) : pieces(...said)]
}
