import type { Problem } from "../message/errors.ts"
import { callId, type ModelResponse, type Usage, type Wire } from "../message/message.ts"
import { namesIn } from "../message/present.ts"
import { chatStop, readChatResponse, readChatUsage } from "./chat.ts"
import { stopNames } from "./codec.ts"
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
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"
import { createSseEvent, replaceData, type SseEvent } from "./sse.ts"
import {
  becomesChunk,
  type CollectedStream,
  type DecodeState,
  type EncodeState,
  type EventReading,
  endOf,
  errorNames,
  indexOf,
  isClientPart,
  type KeptEvent,
  type PartDraft,
  type PartStart,
  type StreamCodec,
  type StreamEvent,
  type WrittenEvent,
  type WrittenPart,
  wireJson,
  writtenPart,
} from "./stream.ts"

/**
 * Reads one chunk. This format never marks the end of a part, and deltas of several calls may alternate: all parts end with the
 * `finish_reason`. All choices but the first are relayed unread.
 */
function readChunk(reading: EventReading, chunk: Json): void {
  const error = member(chunk, "error")
  if (error !== undefined && error.value !== null) {
    reading.error(error)
    return
  }
  const choice = choiceOf(chunk)
  const delta = member(choice, "delta")
  readStart(reading, chunk)
  if (delta !== undefined && isObject(delta.value)) readDelta(reading, delta)
  reading.usage(readChatUsage(member(chunk, "usage")))
  readFinish(reading, stringIn(choice, "finish_reason"))
}

function readDone(reading: EventReading): void {
  if (reading.state.stop === undefined) throw reading.invalid("a finish_reason before it", "none")
  reading.end()
}

/** The first choice of a chunk. Some servers send usage, or nothing at all, in chunks without choices. */
const choiceOf = (chunk: Json): Json | undefined =>
  elements(member(chunk, "choices")).find((choice) => isObject(choice.value) && (countIn(choice, "index") ?? 0) === 0)

/** The response starts with the first chunk that has an id or a choice: a server may send filter results or pings before it. */
function readStart(reading: EventReading, chunk: Json): void {
  const id = stringIn(chunk, "id") || undefined
  if (reading.state.started || (id === undefined && choiceOf(chunk) === undefined)) return
  reading.start({ id, model: stringIn(chunk, "model"), createdAt: countIn(chunk, "created") })
}

/** Some servers send `finish_reason: ""` until they have finished. */
function readFinish(reading: EventReading, reason: string | undefined): void {
  if (reason === undefined || reason === "") return
  for (const key of reading.state.open.keys()) reading.close(key)
  reading.stop(chatStop(reason))
}

/** Fields of a delta that become events, and padding without content. */
const knownFields: ReadonlySet<string> = new Set(
  namesIn("role content reasoning_content reasoning tool_calls function_call obfuscation"),
)

function readDelta(reading: EventReading, delta: Json): void {
  readText(reading, "reasoning", stringIn(delta, "reasoning_content") ?? stringIn(delta, "reasoning"))
  readText(reading, "text", stringIn(delta, "content"))
  for (const [slot, call] of elements(member(delta, "tool_calls")).entries()) readCall(reading, call, slot)
  const legacy = member(delta, "function_call")
  if (legacy !== undefined && isObject(legacy.value)) readLegacyCall(reading, legacy)
  if (hasMore(delta, knownFields)) reading.say({ type: "other" })
}

/** True if any field outside `known` has content. */
function hasMore(json: Json, known: ReadonlySet<string>): boolean {
  const isEmpty = (value: unknown) => value === null || value === "" || (Array.isArray(value) && value.length === 0)
  return isObject(json.value) && Object.entries(json.value).some(([name, value]) => !known.has(name) && !isEmpty(value))
}

function readText(reading: EventReading, part: "text" | "reasoning", text: string | undefined): void {
  if (text === undefined || text === "") return
  const { index } = reading.state.open.get(part)?.start ?? reading.open(part, { part })
  reading.text(part, index, text)
}

/** Fields of a tool call that become events. */
const knownCallFields: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"])

function readCall(reading: EventReading, call: Json, slot: number): void {
  const key = keyOfCall(reading.state, requireObject(call))
  const custom = callMember(call, "custom")
  const own = callMember(call, "function")
  // A call with both could be judged as one and run as the other.
  if (custom !== undefined && own !== undefined) throw reading.invalid("either function or custom", "both")
  const inner = custom ?? own
  const before = reading.said.length
  reading.slot = slot
  const { index } = openCall(reading, key, call, inner)
  feedInput(reading, key, inner, custom === undefined ? "arguments" : "input")
  if (reading.said.length === before || hasMore(call, knownCallFields)) reading.say({ type: "other", index })
  reading.slot = undefined
}

/** A member of a call; some servers send null for the one that is not used. */
function callMember(call: Json, name: "function" | "custom"): Json | undefined {
  const inner = member(call, name)
  return inner === undefined || inner.value === null ? undefined : inner
}

/**
 * Appends a delta to the input of a call. Some servers send the arguments as a JSON value instead of text. Then nothing else may come for
 * that call, because clients disagree on how to combine such a value with further deltas.
 */
function feedInput(reading: EventReading, key: string, inner: Json | undefined, name: "arguments" | "input"): void {
  const given = member(inner, name)
  if (given === undefined || given.value === null || given.value === "") return
  const { start, fed, input } = reading.part(key)
  const text = typeof given.value === "string" ? given.value : undefined
  if (input !== undefined || (fed && text === undefined)) throw reading.invalid("one kind of arguments", "two")
  reading.feed(key, text === undefined ? wireOf(given) : undefined)
  reading.say({ type: "input-delta", index: start.index, text: text ?? wireOf(given) })
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
    return reading.open(key, { part: "tool-call", callId: id, tool, kind })
  }
  const { start } = open
  const id = stringIn(call, "id") || undefined
  const tool = stringIn(inner, "name") || undefined
  const same =
    start.part === "tool-call" && (id ?? start.callId) === start.callId && (tool ?? start.tool) === start.tool
  if (!same) throw reading.invalid("the id and name that the call began with", "others")
  return start
}

/** A call of the old `function_call` member, which has no id. */
function readLegacyCall(reading: EventReading, call: Json): void {
  const key = "function_call"
  const named = stringIn(call, "name") || undefined
  const start =
    reading.state.open.get(key)?.start ??
    reading.open(key, {
      part: "tool-call",
      callId: callId("#function-0"),
      tool: requireString(call, "name"),
      kind: "function",
    })
  if (start.part === "tool-call" && (named ?? start.tool) !== start.tool)
    throw reading.invalid("the name that the call began with", "another")
  feedInput(reading, key, call, "arguments")
}

/** One assistant message: its text, its calls in order, and all unknown fields merged over the deltas. */
function assemble({ parts, others }: CollectedStream): ModelResponse {
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
  const inner = member(began, name)
  const said: Fields = { name: write(start.tool), [name === "custom" ? "input" : "arguments"]: write(input) }
  return overlay(began === undefined ? undefined : wireOf(began), {
    index: undefined,
    id: write(start.callId),
    type: write(name),
    [name]: overlay(inner === undefined ? undefined : wireOf(inner), said),
    ...unknownFields(others.map(callOf), knownCallFields),
  })
}

function deltaOf(event: StreamEvent): Json | undefined {
  const chunk = wireJson(event)
  return chunk === undefined ? undefined : member(choiceOf(chunk), "delta")
}

const callOf = (event: StreamEvent): Json | undefined =>
  elements(member(deltaOf(event), "tool_calls"))[event.wire?.slot ?? 0]

/** The fields outside `known`, merged over all deltas. */
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

/** Merges as the vendor's SDKs do: strings are concatenated, list elements with the same `index` are merged, objects field by field. */
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

/** Chat Completions with `stream: true`. A response is complete at its `finish_reason`: some servers send no `[DONE]` after it. */
export const chatStream: StreamCodec = {
  format: "openai-chat",
  read: readChunk,
  readDone,
  readEnd: (state) => (state.stop === undefined ? [] : [endOf(state)]),
  rewrite: rewriteChunk,
  write: (state, event) => [state, writeChunks(state, event)],
  assemble,
  canWrite: isClientPart,
  isNumbered: () => false,
  collectsOthers: "all",
}

/** Writes what is kept of a chunk: calls renumbered, the final stop reason, the id of the first chunk. */
function rewriteChunk(state: EncodeState, { sse, body: chunk, kept }: KeptEvent): WrittenEvent {
  const left = kept.filter((event) => becomesChunk(state, event))
  if (left.length === 0) return [state, []]
  const { id } = state.start ?? {}
  const usage = member(chunk, "usage")
  const fields: Fields = {
    ...(id === undefined || stringIn(chunk, "id") === undefined ? {} : { id: write(id) }),
    ...rewriteChoices(state, chunk, left),
    ...(isObject(usage?.value) && !left.some(({ type }) => type === "usage") ? { usage: write(null) } : {}),
  }
  return [state, [replaceData(sse, overlay(wireOf(chunk), fields))]]
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
  return { finish_reason: write(stop === undefined ? null : stopNames["openai-chat"][stop.stop]) }
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
    const part = writtenPart(state, event)
    if (part !== undefined && event.wire?.slot !== undefined) parts.set(event.wire.slot, part)
  }
  const written = elements(calls).flatMap((call, slot) => {
    const part = parts.get(slot)
    return part === undefined ? [] : [overlay(wireOf(call), { index: write(part.call) })]
  })
  return { tool_calls: written.length === 0 ? undefined : writeList(written) }
}

function writeChunks(state: EncodeState, event: StreamEvent): readonly SseEvent[] {
  switch (event.type) {
    case "response-start":
      return event === state.start ? [chunkOf(state, { role: "assistant", content: "" })] : []
    case "response-stop":
      return [chunkOf(state, {}, stopNames["openai-chat"][event.stop])]
    case "response-end": {
      const counted = state.usage !== undefined && state.start?.wire === undefined
      return [...(counted ? [usageChunk(state, state.usage)] : []), createSseEvent("[DONE]")]
    }
    case "error":
      return [createSseEvent(writeObject({ error: errorEvent(event.problem) }))]
    default: {
      const part = writtenPart(state, event)
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

/** A chunk with the id, model and date of the first one. */
function envelope({ start }: EncodeState, fields: Fields): SseEvent {
  const began = wireJson(start)
  if (began !== undefined)
    return createSseEvent(overlay(wireOf(began), { usage: undefined, obfuscation: undefined, ...fields }))
  const { id = "chatcmpl-holdfast", model = "unknown", createdAt = 0 } = start ?? {}
  const named = { id, object: "chat.completion.chunk", created: createdAt, model }
  return createSseEvent(overlay(write(named), fields))
}

function chunkOf(state: EncodeState, delta: object, finish: string | null = null): SseEvent {
  return envelope(state, { choices: write([{ index: 0, delta, finish_reason: finish }]) })
}

function usageChunk(state: EncodeState, usage: Usage): SseEvent {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const counts = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
  }
  return envelope(state, { choices: write([]), usage: write(counts) })
}

function errorEvent(problem: Problem): Wire {
  const { message, type } = errorNames(problem, "server_error")
  return write({ message, type, param: null, code: null })
}
