import { callId, type ModelResponse, type Usage, type Wire, wireText } from "../message/message.ts"
import { anthropicStop, callKinds, readAnthropicResponse, readAnthropicUsage, readBlock } from "./anthropic.ts"
import { stopNames } from "./codec.ts"
import {
  countIn,
  isObject,
  type Json,
  member,
  readJson,
  refuseJson,
  requireObjectIn,
  requireString,
  stringIn,
  tryParse,
  wireOf,
} from "./json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"
import { createSseEvent, replaceData, type SseEvent } from "./sse.ts"
import {
  type BegunPart,
  type CollectedStream,
  type EncodeState,
  type EventReading,
  errorNames,
  indexOf,
  isClientPart,
  type KeptEvent,
  type PartDraft,
  type PartStart,
  type StreamCodec,
  type StreamEvent,
  type WrittenEvent,
  wireJson,
  writtenPart,
} from "./stream.ts"

const readers: ReadonlyMap<string | undefined, (reading: EventReading, json: Json) => void> = new Map([
  ["message_start", (reading, json) => readStart(reading, requireObjectIn(json, "message"))],
  ["content_block_start", readBlockStart],
  ["content_block_delta", readDelta],
  ["content_block_stop", readBlockStop],
  ["message_delta", readMessageDelta],
  ["message_stop", (reading) => reading.end()],
  ["error", (reading, json) => reading.error(member(json, "error"))],
])

/** Reads one event. Blocks are numbered in the stream; unknown event types are relayed. */
function read(reading: EventReading, json: Json, name: string | undefined): void {
  const readType = readers.get(stringIn(json, "type") ?? name)
  if (readType === undefined) reading.say({ type: "other" })
  else readType(reading, json)
}

function readStart(reading: EventReading, message: Json): void {
  if (reading.state.started) throw reading.invalid("one beginning", "a second one")
  reading.start({ id: stringIn(message, "id"), model: stringIn(message, "model") })
  readUsageSoFar(reading, member(message, "usage"))
}

/** Later counts replace earlier ones; absent or null ones keep their value. */
function readUsageSoFar(reading: EventReading, usage: Json | undefined): void {
  if (usage === undefined || !isObject(usage.value)) return
  const fields: Record<string, Wire> = {}
  for (const [name, value] of Object.entries(usage.value)) {
    const field = member(usage, name)
    if (value !== null && field !== undefined) fields[name] = wireOf(field)
  }
  const usageWire = overlay(reading.state.usageWire, fields)
  reading.state = { ...reading.state, usageWire }
  reading.usage(readAnthropicUsage(readJson(usageWire, "response")))
}

const keyOf = (json: Json): string => String(countIn(json, "index") ?? refuseJson(json, "a whole number", "index"))

function kindOfBlock(block: Json): BegunPart {
  const type = requireString(block, "type")
  const kind = callKinds.get(type)
  if (kind !== undefined) {
    return { part: "tool-call", callId: callId(requireString(block, "id")), tool: requireString(block, "name"), kind }
  }
  if (type === "text") return { part: "text" }
  if (type === "thinking" || type === "redacted_thinking") return { part: "reasoning" }
  readBlock(block) // throws here for a block it cannot read, not when the response is assembled
  return { part: "other" }
}

/** Text in the start event counts as the first delta; input in it counts only if no delta follows. */
function readBlockStart(reading: EventReading, json: Json): void {
  const block = requireObjectIn(json, "content_block")
  const part = kindOfBlock(block)
  const input = part.part === "tool-call" ? member(block, "input") : undefined
  const { index } = reading.open(keyOf(json), part, input === undefined ? undefined : wireOf(input))
  if (part.part !== "text" && part.part !== "reasoning") return
  const text = stringIn(block, part.part === "text" ? "text" : "thinking")
  const signature = part.part === "reasoning" ? stringIn(block, "signature") : undefined
  if (text) reading.text(part.part, index, text)
  if (signature) reading.say({ type: "signature-delta", index, signature })
}

function readDelta(reading: EventReading, json: Json): void {
  const key = keyOf(json)
  const { index, part } = reading.part(key).start
  const delta = requireObjectIn(json, "delta")
  const type = stringIn(delta, "type")
  if (type === "text_delta" && part === "text") reading.text(part, index, requireString(delta, "text"))
  else if (type === "thinking_delta" && part === "reasoning")
    reading.text(part, index, requireString(delta, "thinking"))
  else if (type === "signature_delta" && part === "reasoning")
    reading.say({ type: "signature-delta", index, signature: requireString(delta, "signature") })
  else if (type === "input_json_delta" && part === "tool-call") {
    const text = requireString(delta, "partial_json")
    if (text !== "") reading.feed(key)
    reading.say({ type: "input-delta", index, text })
  } else reading.say({ type: "other", index })
}

function readBlockStop(reading: EventReading, json: Json): void {
  const key = keyOf(json)
  const { start, fed, input } = reading.part(key)
  if (!fed && input !== undefined) reading.say({ type: "input-delta", index: start.index, text: input })
  reading.close(key)
}

function readMessageDelta(reading: EventReading, json: Json): void {
  readUsageSoFar(reading, member(json, "usage"))
  const reason = stringIn(member(json, "delta"), "stop_reason")
  if (reason !== undefined) reading.stop(anthropicStop(reason))
}

// Rewriting upstream events

/** Renumbers the block and updates the stop reason; everything else stays as it came. */
function rewrite(state: EncodeState, { sse, body, first, kept }: KeptEvent): WrittenEvent {
  const type = stringIn(body, "type") ?? sse.name
  if (type === "message_start") return [state, kept.some((event) => event === state.start) ? [sse] : []]
  if (type === "message_delta") return [state, rewriteStop(sse, body, kept)]
  if (indexOf(first) === undefined) return [state, [sse]]
  const part = writtenPart(state, first)
  return [state, part === undefined ? [] : [replaceData(sse, overlay(wireOf(body), { index: write(part.index) }))]]
}

function rewriteStop(sse: SseEvent, body: Json, kept: readonly StreamEvent[]): readonly SseEvent[] {
  const stop = kept.find((event) => event.type === "response-stop")
  const delta = member(body, "delta")
  const reason = stringIn(delta, "stop_reason")
  if (stop === undefined || delta === undefined) return reason === undefined ? [sse] : []
  if (stop.stop === stop.wire?.stop) return [sse]
  const changed = overlay(wireOf(delta), { stop_reason: write(stopNames["anthropic-messages"][stop.stop]) })
  return [replaceData(sse, overlay(wireOf(body), { delta: changed }))]
}

// Events of our own

function writeEvents(state: EncodeState, event: StreamEvent): readonly SseEvent[] {
  switch (event.type) {
    case "response-start":
      return event === state.start ? [named("message_start", { message: messageOf(state) })] : []
    case "usage":
    case "other":
      return []
    case "response-stop": {
      const delta = write({ stop_reason: stopNames["anthropic-messages"][event.stop], stop_sequence: null })
      return [named("message_delta", { delta, usage: usageOf(state.usage) })]
    }
    case "response-end":
      return [named("message_stop", {})]
    case "error":
      return [named("error", { error: write(errorNames(event.problem, "api_error")) })]
    default: {
      const part = writtenPart(state, event)
      return part === undefined ? [] : writePartEvent(part.index, event)
    }
  }
}

function writePartEvent(at: number, event: Extract<StreamEvent, { readonly index: number }>): readonly SseEvent[] {
  const index = write(at)
  const delta = (fields: object): readonly SseEvent[] => [named("content_block_delta", { index, delta: write(fields) })]
  switch (event.type) {
    case "part-start":
      return [named("content_block_start", { index, content_block: blockOf(event) })]
    case "text-delta":
      return delta({ type: "text_delta", text: event.text })
    case "reasoning-delta":
      return delta({ type: "thinking_delta", thinking: event.text })
    case "signature-delta":
      return delta({ type: "signature_delta", signature: event.signature })
    case "input-delta":
      return delta({ type: "input_json_delta", partial_json: event.text })
    case "part-end":
      return [named("content_block_stop", { index })]
  }
}

const named = (type: string, fields: Fields): SseEvent =>
  createSseEvent(writeObject({ type: write(type), ...fields }), type)

/** Writes a new block in its initial state. */
function blockOf(start: PartStart): Wire {
  if (start.part === "reasoning") return write({ type: "thinking", thinking: "", signature: "" })
  if (start.part !== "tool-call") return write({ type: "text", text: "" })
  const type = start.kind === "provider" ? "server_tool_use" : "tool_use"
  return write({ type, id: start.callId, name: start.tool, input: {} })
}

function messageOf({ start, usage }: EncodeState): Wire {
  const { id = "msg_holdfast", model = "unknown" } = start ?? {}
  const named = { id, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null }
  return overlay(write(named), { usage: usageOf(usage) })
}

/** Anthropic counts cached input separately. */
function usageOf(usage: Usage | undefined): Wire {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage ?? {}
  return write({
    input_tokens: inputTokens - cacheReadTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
  })
}

function assemble({ parts }: CollectedStream): ModelResponse {
  const body = writeObject({ content: writeList(parts.map(blockFrom)) })
  const { wire: _, ...answer } = readAnthropicResponse(readJson(body, "response"))
  return answer
}

/** Builds the block from its start event with the collected content over it. */
function blockFrom(draft: PartDraft): Wire {
  const block = member(wireJson(draft.start), "content_block")
  const base = block === undefined ? blockOf(draft.start) : wireOf(block)
  const deltas = draft.others.flatMap((event) => deltaOf(event) ?? [])
  const citations = deltas.flatMap((delta) => citationOf(delta) ?? [])
  const rest = draft.start.part === "other" ? deltas : []
  const content = overlay(base, {
    ...Object.assign({}, ...rest.map(fieldsOf)),
    ...contentOf(draft, stringIn(block, "type")),
  })
  return citations.length === 0 ? content : overlay(content, { citations: writeList(citations) })
}

function contentOf({ start, text, input, signature }: PartDraft, type: string | undefined): Fields {
  if (start.part === "text") return { text: write(text) }
  if (start.part === "tool-call") return input === "" ? {} : { input: inputOf(input) }
  if (start.part === "other" || type === "redacted_thinking") return {}
  return { thinking: write(text), ...(signature === undefined ? {} : { signature: write(signature) }) }
}

/** Keeps the streamed JSON text verbatim, including its numbers; other text becomes a string. */
const inputOf = (text: string): Wire => (tryParse(text) === undefined ? write(text) : wireText(text.trim()))

const deltaOf = (event: StreamEvent): Json | undefined => member(wireJson(event), "delta")

/** Citations are collected in a list. */
function citationOf(delta: Json): Wire | undefined {
  const citation = stringIn(delta, "type") === "citations_delta" ? member(delta, "citation") : undefined
  return citation === undefined ? undefined : wireOf(citation)
}

/** In a compaction, and in deltas of unknown blocks, each delta has the complete field: the last one counts. */
function fieldsOf(delta: Json): Fields {
  const fields: Record<string, Wire> = {}
  for (const name of Object.keys(delta.value as object)) {
    const field = member(delta, name)
    if (name !== "type" && field !== undefined) fields[name] = wireOf(field)
  }
  return fields
}

/** Anthropic Messages with `stream: true`, closed by `message_stop`. */
export const anthropicStream: StreamCodec = {
  format: "anthropic-messages",
  read,
  readEnd: () => [],
  rewrite,
  write: (state, event) => [state, writeEvents(state, event)],
  assemble,
  canWrite: (start) => isClientPart(start) || (start.part === "tool-call" && start.kind === "provider"),
  isNumbered: () => false,
  collectsOthers: "of-parts",
}
