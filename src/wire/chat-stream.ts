import type { ModelResponse, Wire } from "../message/message.ts"
import { readChatResponse } from "./chat.ts"
import { choiceOf, knownCallFields, knownFields, readChunk } from "./chat-stream-read.ts"
import { rewriteChunk, writeChunks } from "./chat-stream-write.ts"
import { elements, isObject, type Json, member, readJson, stringIn, wireOf } from "./json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"
import { type Collected, endOf, isClientPart, type PartDraft, type StreamCodec, type StreamEvent } from "./stream.ts"

/** One assistant message: its text, its calls in order, and all unknown fields merged over the deltas. */
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

/** The name that this server uses for reasoning. */
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

/** Merge as the vendor's SDKs do: strings are concatenated, list elements with the same `index` are merged, objects field by field. */
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
  readEnd: (state) => (state.stop === undefined ? [] : [endOf(state)]),
  rewrite: rewriteChunk,
  write: (state, event) => [state, writeChunks(state, event)],
  assemble,
  canWrite: isClientPart,
  isNumbered: () => false,
  collectsOthers: "all",
}
