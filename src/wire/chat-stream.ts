import { describe, type Problem } from "../message/errors.ts"
import { callId, type ModelResponse, type StopReason, type Usage, type Wire } from "../message/message.ts"
import { present } from "../message/present.ts"
import { chatStop, readChatResponse, readChatUsage } from "./chat.ts"
import {
  countIn,
  elements,
  type Fields,
  isObject,
  type Json,
  write as json,
  member,
  overlay,
  readJson,
  requireObject,
  requireString,
  stringIn,
  wireOf,
  write,
  writeList,
  writeObject,
} from "./json.ts"
import { createSseEvent, replaceData, type SseEvent } from "./sse.ts"
import {
  type Collected,
  type DecodeState,
  type EncodeState,
  endOf,
  errorOf,
  feedPart,
  indexOf,
  invalid,
  isClientPart,
  openPart,
  type PartDraft,
  type PartStart,
  pieces,
  type Read,
  type StreamCodec,
  type StreamEvent,
  type StreamStatement,
  stopPiece,
  usagePieces,
  type WireStatement,
  type WrittenEvent,
  type WrittenPart,
} from "./stream.ts"

/**
 * What one chunk says. This wire never says that a part is over, and calls may alternate: all of them end with the
 * `finish_reason`. Choices but the first are relayed unread.
 */
function read(state: DecodeState, sse: SseEvent): Read {
  if (sse.data.trim() === "[DONE]") {
    if (state.stop === undefined) throw invalid(state, "a finish_reason before it", "none")
    return [{ ...state, closed: true }, pieces(endOf(state))]
  }
  const chunk = requireObject(readJson(sse.data, "response"))
  const error = member(chunk, "error")
  if (error !== undefined && error.value !== null) return [{ ...state, closed: true }, pieces(errorOf(error))]
  const choice = choiceOf(chunk)
  const delta = choice === undefined ? undefined : member(choice, "delta")
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

/** Chunks without choices are tolerated: some servers send their usage, or nothing at all, in such. */
function choiceOf(chunk: Json): Json | undefined {
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

/** The answer begins with the first chunk that has an id or a choice: a server may send filter results or pings before it. */
function readStart(state: DecodeState, chunk: Json): Read {
  const id = stringIn(chunk, "id") || undefined
  if (state.started || (id === undefined && choiceOf(chunk) === undefined)) return [state, []]
  const names = { id, model: stringIn(chunk, "model"), createdAt: countIn(chunk, "created") }
  return [{ ...state, started: true }, pieces({ type: "response-start", ...present(names) })]
}

/** Some servers say "" while they have not finished. */
function readFinish(state: DecodeState, reason: string | undefined): Read {
  if (reason === undefined || reason === "") return [state, []]
  const ends = [...state.open.values()].map(({ start }): StreamStatement => ({ type: "part-end", index: start.index }))
  const [next, stop] = stopPiece({ ...state, open: new Map() }, chatStop(reason))
  return [next, pieces(...ends, stop)]
}

/** Fields of a delta that have an event of their own, and padding that says nothing. */
const knownFields: ReadonlySet<string> = new Set([
  "role",
  "content",
  "reasoning_content",
  "reasoning",
  "tool_calls",
  "function_call",
  "obfuscation",
])

function readDelta(state: DecodeState, delta: Json): Read {
  const reasoning = stringIn(delta, "reasoning_content") ?? stringIn(delta, "reasoning")
  const calls = member(delta, "tool_calls")
  const legacy = member(delta, "function_call")
  return chain(state, [
    (now) => readText(now, "reasoning", reasoning),
    (now) => readText(now, "text", stringIn(delta, "content")),
    ...(calls === undefined ? [] : elements(calls)).map(
      (call, slot): Reader =>
        (now) =>
          readCall(now, call, slot),
    ),
    (now) => (legacy === undefined || !isObject(legacy.value) ? [now, []] : readLegacyCall(now, legacy)),
    (now) => [now, hasMore(delta, knownFields) ? pieces({ type: "other" }) : []],
  ])
}

/** Does it say anything in fields that are not these? */
function hasMore(json: Json, known: ReadonlySet<string>): boolean {
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

/** Fields of a tool call that have an event of their own. */
const knownCallFields: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"])

function readCall(state: DecodeState, call: Json, slot: number): Read {
  const key = keyOfCall(state, requireObject(call))
  const custom = callMember(call, "custom")
  const own = callMember(call, "function")
  // One that says both could be checked as one call and run as the other.
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

/** Some servers write out the member that a call does not have as null. */
function callMember(call: Json, name: "function" | "custom"): Json | undefined {
  const inner = member(call, name)
  return inner === undefined || inner.value === null ? undefined : inner
}

/**
 * What a delta adds to the input of a call. Some servers send the arguments as the JSON value itself: then that is all of them, since
 * clients differ in what they make of such a value beside any other piece.
 */
function feedInput(
  state: DecodeState,
  key: string,
  inner: Json | undefined,
  name: "arguments" | "input",
): readonly [DecodeState, string] {
  const given = inner === undefined ? undefined : member(inner, name)
  const open = state.open.get(key)
  if (given === undefined || given.value === null || given.value === "" || open === undefined) return [state, ""]
  if (open.input !== undefined || (open.fed && typeof given.value !== "string"))
    throw invalid(state, "one kind of arguments", "two")
  if (typeof given.value === "string") return [feedPart(state, key, open), given.value]
  const input = wireOf(given)
  return [{ ...state, open: new Map(state.open).set(key, { ...open, fed: true, input }) }, input]
}

/** Calls go by their index; a server that leaves it out means a new call if it names one, otherwise the last. */
function keyOfCall(state: DecodeState, call: Json): string {
  const index = countIn(call, "index")
  if (index !== undefined) return `call ${index}`
  const id = stringIn(call, "id")
  const calls = [...state.open].filter(([, { start }]) => start.part === "tool-call")
  const same = calls.find(([, { start }]) => start.part === "tool-call" && start.callId === id)
  if (same !== undefined) return same[0]
  return (id === undefined ? calls.at(-1)?.[0] : undefined) ?? `call ${state.parts}`
}

/** A call keeps the id and name that it began with: one that changes them could pass a check as one tool and run as another. */
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

// Relayed events

/** Keep of the chunk what is left: calls numbered anew, the stop that holds, the id that the answer began with. */
function rewrite(state: EncodeState, kept: readonly StreamEvent[]): WrittenEvent {
  const sse = kept[0]?.wire?.sse
  if (sse === undefined) return [state, []]
  const left = kept.filter((event) => isLeft(state, event))
  if (left.length === 0) return [state, []]
  const chunk = readJson(sse.data, "response")
  const { id } = state.start ?? {}
  const usage = member(chunk, "usage")
  const fields: Fields = {
    ...(id === undefined || stringIn(chunk, "id") === undefined ? {} : { id: json(id) }),
    ...rewriteChoices(state, chunk, left),
    ...(isObject(usage?.value) && !left.some(({ type }) => type === "usage") ? { usage: json(null) } : {}),
  }
  return [state, [replaceData(sse, overlay(wireOf(chunk), fields))]]
}

/** Parts end without a word on this wire, and an answer begins once. */
function isLeft(state: EncodeState, event: StreamEvent): boolean {
  if (event.type === "part-end") return false
  if (event.type === "response-start") return event === state.start
  const index = indexOf(event)
  return index === undefined || state.open.has(index)
}

function rewriteChoices(state: EncodeState, chunk: Json, left: readonly StreamEvent[]): Fields {
  const list = member(chunk, "choices")
  const choice = choiceOf(chunk)
  if (list === undefined || choice === undefined) return {}
  const delta = member(choice, "delta")
  const fields: Fields = {
    ...(delta === undefined || !isObject(delta.value) ? {} : { delta: rewriteDelta(state, delta, left) }),
    ...rewriteFinish(choice, left),
  }
  const choices = elements(list).map((one) => (one.at === choice.at ? overlay(wireOf(one), fields) : wireOf(one)))
  return { choices: writeList(choices) }
}

function rewriteFinish(choice: Json, left: readonly StreamEvent[]): Fields {
  const reason = stringIn(choice, "finish_reason") || undefined
  const stop = left.find((event) => event.type === "response-stop")
  if (reason === undefined || (stop !== undefined && stop.stop === stop.wire?.stop)) return {}
  return { finish_reason: json(stop === undefined ? null : finishReasons[stop.stop]) }
}

function rewriteDelta(state: EncodeState, delta: Json, left: readonly StreamEvent[]): Wire {
  const has = (type: StreamEvent["type"]): boolean => left.some((event) => event.type === type)
  const legacy = left.some((event) => indexOf(event) !== undefined && event.wire?.slot === undefined && !isText(event))
  const more = left.some((event) => event.type === "other" && event.index === undefined)
  const gone: Record<string, undefined> = {}
  if (!has("text-delta") && stringIn(delta, "content")) gone.content = undefined
  for (const name of ["reasoning_content", "reasoning"]) {
    if (!has("reasoning-delta") && stringIn(delta, name)) gone[name] = undefined
  }
  if (!legacy) gone.function_call = undefined
  if (!more && hasMore(delta, knownFields)) {
    for (const name of Object.keys(delta.value as object)) if (!knownFields.has(name)) gone[name] = undefined
  }
  const calls = member(delta, "tool_calls")
  return overlay(wireOf(delta), { ...gone, ...(calls === undefined ? {} : rewriteCalls(state, calls, left)) })
}

const isText = (event: StreamEvent): boolean =>
  event.type === "text-delta" ||
  event.type === "reasoning-delta" ||
  (event.type === "part-start" && event.part !== "tool-call")

function rewriteCalls(state: EncodeState, calls: Json, left: readonly StreamEvent[]): Fields {
  const parts = new Map<number, WrittenPart>()
  for (const event of left) {
    const index = indexOf(event)
    const part = index === undefined ? undefined : state.open.get(index)
    if (part !== undefined && event.wire?.slot !== undefined) parts.set(event.wire.slot, part)
  }
  const written = elements(calls).flatMap((call, slot) => {
    const part = parts.get(slot)
    return part === undefined ? [] : [overlay(wireOf(call), { index: json(part.call) })]
  })
  return { tool_calls: written.length === 0 ? undefined : writeList(written) }
}

// Events of our own

function writeEvent(state: EncodeState, event: StreamEvent): WrittenEvent {
  return [state, writeEvents(state, event)]
}

function writeEvents(state: EncodeState, event: StreamEvent): readonly SseEvent[] {
  switch (event.type) {
    case "response-start":
      return event === state.start ? [chunkOf(state, { role: "assistant", content: "" })] : []
    case "response-stop":
      return [chunkOf(state, {}, finishReasons[event.stop])]
    case "response-end": {
      const counted = state.usage !== undefined && state.start?.wire === undefined
      return [...(counted ? [usageChunk(state, state.usage)] : []), createSseEvent("[DONE]")]
    }
    case "error":
      return [createSseEvent(writeObject({ error: errorEvent(event.problem) }))]
    default: {
      const index = indexOf(event)
      const part = index === undefined ? undefined : state.open.get(index)
      return part === undefined ? [] : writePartEvent(state, part, event)
    }
  }
}

function writePartEvent(state: EncodeState, part: WrittenPart, event: StreamEvent): readonly SseEvent[] {
  if (event.type === "text-delta") return [chunkOf(state, { content: event.text })]
  if (event.type === "reasoning-delta") return [chunkOf(state, { reasoning_content: event.text })]
  const { start, call: index } = part
  if (start.part !== "tool-call") return []
  const custom = start.kind === "custom"
  if (event.type === "part-start") {
    const named = { index, id: start.callId, type: custom ? "custom" : "function" }
    const inner = custom
      ? { custom: { name: start.tool, input: "" } }
      : { function: { name: start.tool, arguments: "" } }
    return [chunkOf(state, { tool_calls: [{ ...named, ...inner }] })]
  }
  if (event.type !== "input-delta") return []
  const inner = custom ? { custom: { input: event.text } } : { function: { arguments: event.text } }
  return [chunkOf(state, { tool_calls: [{ index, ...inner }] })]
}

/** A chunk in the envelope that the answer began with. */
function envelope({ start }: EncodeState, fields: Fields): SseEvent {
  if (start?.wire !== undefined) {
    const began = wireOf(readJson(start.wire.sse.data, "response"))
    return createSseEvent(overlay(began, { usage: undefined, obfuscation: undefined, ...fields }))
  }
  const { id = "chatcmpl-holdfast", model = "unknown", createdAt = 0 } = start ?? {}
  const named = { id: json(id), object: json("chat.completion.chunk"), created: json(createdAt), model: json(model) }
  return createSseEvent(writeObject({ ...named, ...fields }))
}

function chunkOf(state: EncodeState, delta: object, finish: string | null = null): SseEvent {
  return envelope(state, { choices: json([{ index: 0, delta, finish_reason: finish }]) })
}

function usageChunk(state: EncodeState, usage: Usage): SseEvent {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const counts = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
  }
  return envelope(state, { choices: json([]), usage: json(counts) })
}

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  refusal: "content_filter",
  pause: "stop",
  compaction: "stop",
  "context-window": "length",
  other: "stop",
}

function errorEvent(problem: Problem): Wire {
  const upstream = problem.code === "upstream-error"
  const message = upstream ? problem.message : describe(problem).sentence
  return json({ message, type: upstream ? problem.type : "server_error", param: null, code: null })
}

/** One assistant message: its texts joined, its calls in order, and every field that we do not know put together. */
function assemble({ parts, others }: Collected): ModelResponse {
  const texts = parts.filter(({ start }) => start.part === "text")
  const thoughts = parts.filter(({ start }) => start.part === "reasoning")
  const calls = parts.filter(({ start }) => start.part === "tool-call")
  const legacy = calls.find(isLegacy)
  const message = writeObject({
    role: write("assistant"),
    content: texts.length === 0 ? write(null) : write(joined(texts)),
    ...(thoughts.length === 0 ? {} : { [reasoningName(thoughts)]: write(joined(thoughts)) }),
    ...(calls.length === 0 || legacy !== undefined ? {} : { tool_calls: writeList(calls.map(callFrom)) }),
    ...(legacy === undefined ? {} : { function_call: legacyCall(legacy) }),
    ...unknownFields(others.map(deltaOf), knownFields),
  })
  const body = writeObject({ choices: writeList([writeObject({ message })]) })
  const { wire: _, ...answer } = readChatResponse(readJson(body, "response"))
  return answer
}

const joined = (drafts: readonly PartDraft[]): string => drafts.map(({ text }) => text).join("")

/** The field that the server itself uses for reasoning. */
function reasoningName(thoughts: readonly PartDraft[]): string {
  const delta = thoughts[0] === undefined ? undefined : deltaOf(thoughts[0].start)
  return stringIn(delta, "reasoning_content") === undefined && stringIn(delta, "reasoning") !== undefined
    ? "reasoning"
    : "reasoning_content"
}

const isLegacy = ({ start }: PartDraft): boolean => start.wire !== undefined && start.wire.slot === undefined

function legacyCall({ start, input }: PartDraft): Wire {
  return write({ name: start.part === "tool-call" ? start.tool : "", arguments: input })
}

function callFrom({ start, input, others }: PartDraft): Wire {
  if (start.part !== "tool-call") return write(null)
  const began = callOf(start)
  const name = start.kind === "custom" ? "custom" : "function"
  const inner = began === undefined ? undefined : member(began, name)
  const said: Fields = { name: write(start.tool), [name === "custom" ? "input" : "arguments"]: write(input) }
  return overlay(began === undefined ? undefined : wireOf(began), {
    index: undefined,
    id: write(start.callId),
    type: write(name),
    [name]: overlay(inner === undefined ? undefined : wireOf(inner), said),
    ...unknownFields(others.map(callOf), knownCallFields),
  })
}

// What stands in the wire of an event

function deltaOf({ wire }: StreamEvent): Json | undefined {
  if (wire === undefined) return undefined
  const choice = choiceOf(readJson(wire.sse.data, "response"))
  return choice === undefined ? undefined : member(choice, "delta")
}

function callOf(event: StreamEvent): Json | undefined {
  const delta = deltaOf(event)
  const calls = delta === undefined ? undefined : member(delta, "tool_calls")
  return calls === undefined ? undefined : elements(calls)[event.wire?.slot ?? 0]
}

/** Fields that have no event of their own, gathered over all deltas. */
function unknownFields(deltas: readonly (Json | undefined)[], known: ReadonlySet<string>): Fields {
  const all: Record<string, unknown> = {}
  for (const delta of deltas) {
    if (!isObject(delta?.value)) continue
    for (const [name, value] of Object.entries(delta.value)) {
      if (!known.has(name) && value !== null) all[name] = gather(all[name], value)
    }
  }
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, write(value)]))
}

/** The rule that the vendor's own clients follow: texts are joined, list elements with the same `index` are one, objects go field by field. */
function gather(before: unknown, more: unknown): unknown {
  if (typeof before === "string" && typeof more === "string") return before + more
  if (Array.isArray(before) && Array.isArray(more)) return more.reduce(gatherElement, before)
  if (!isObject(before) || !isObject(more)) return more
  const merged: Record<string, unknown> = { ...before }
  for (const [name, value] of Object.entries(more)) {
    const fixed = name === "index" || name === "type" || name === "id" || name === "format"
    if (value !== null) merged[name] = fixed ? value : gather(before[name], value)
  }
  return merged
}

function gatherElement(list: readonly unknown[], element: unknown): readonly unknown[] {
  const at =
    isObject(element) && typeof element.index === "number"
      ? list.findIndex((one) => isObject(one) && one.index === element.index)
      : -1
  return at < 0 ? [...list, element] : list.with(at, gather(list[at], element))
}

/** Chat Completions with `stream: true`. The `finish_reason` completes the answer: servers that send no `[DONE]` after it are taken at their word. */
export const chatStream: StreamCodec = {
  format: "openai-chat",
  read,
  readEnd: (state) => (state.stop === undefined ? [] : [endOf(state)]),
  rewrite,
  write: writeEvent,
  assemble,
  canWrite: isClientPart,
  isNumbered: () => false,
  collectsOthers: "all",
}
