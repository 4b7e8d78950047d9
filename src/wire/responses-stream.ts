import type { Problem } from "../message/errors.ts"
import type { ModelResponse, Part, StopReason, Usage, Wire } from "../message/message.ts"
import { present } from "../message/present.ts"
import {
  countIn,
  elements,
  isObject,
  type Json,
  member,
  memberOf,
  readJson,
  refuseJson,
  requireObjectIn,
  requireString,
  stringIn,
  wireOf,
} from "./json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"
import { readMessage, readResponsesResponse, readResponsesUsage, responsesStop } from "./responses.ts"
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
  type WrittenPart,
  wireJson,
  writtenPart,
} from "./stream.ts"

const readers: ReadonlyMap<string, (reading: EventReading, json: Json) => void> = new Map([
  ["response.created", (reading, json) => readStart(reading, requireObjectIn(json, "response"))],
  ["response.output_text.delta", (reading, json) => readDelta(reading, json, "text-delta")],
  ["response.refusal.delta", (reading, json) => readDelta(reading, json, "text-delta")],
  ["response.reasoning_summary_text.delta", (reading, json) => readDelta(reading, json, "reasoning-delta")],
  ["response.reasoning_text.delta", (reading, json) => readDelta(reading, json, "reasoning-delta")],
  ["response.function_call_arguments.delta", (reading, json) => readDelta(reading, json, "input-delta")],
  ["response.custom_tool_call_input.delta", (reading, json) => readDelta(reading, json, "input-delta")],
  [
    "response.output_item.added",
    (reading, json) => reading.open(keyOf(json), kindOfItem(requireObjectIn(json, "item"))),
  ],
  ["response.output_item.done", readDone],
  ["response.completed", readEnd],
  ["response.incomplete", readEnd],
  ["response.failed", (reading, json) => reading.error(member(requireObjectIn(json, "response"), "error"))],
  ["error", (reading, json) => reading.error(member(json, "error") ?? json)],
])

/** Reads one event. Each output item is a part; unknown event types are relayed. */
function read(reading: EventReading, json: Json, name = ""): void {
  const readType = readers.get(stringIn(json, "type") ?? name)
  if (readType === undefined) readOther(reading, json)
  else readType(reading, json)
}

function readOther(reading: EventReading, json: Json): void {
  const part = reading.state.open.get(String(countIn(json, "output_index")))
  reading.say({ type: "other", ...present({ index: part?.start.index }) })
}

const keyOf = (json: Json): string =>
  String(countIn(json, "output_index") ?? refuseJson(json, "a whole number", "output_index"))

function readStart(reading: EventReading, response: Json): void {
  if (reading.state.started) return
  const createdAt = countIn(response, "created_at")
  reading.start({ id: stringIn(response, "id"), model: stringIn(response, "model"), createdAt })
}

/** Reads an item as the reader of complete responses does. */
function kindOfItem(item: Json): BegunPart {
  if (stringIn(item, "type") === "message") return { part: "text" }
  const part: Part | undefined = readMessage(item, []).parts[0]
  if (part?.type === "tool-call") {
    return { part: "tool-call", callId: part.callId, tool: part.tool, kind: part.kind }
  }
  return { part: part?.type === "reasoning" ? "reasoning" : "other" }
}

function readDelta(reading: EventReading, json: Json, type: "text-delta" | "reasoning-delta" | "input-delta"): void {
  const key = keyOf(json)
  const { index } = reading.part(key).start
  const text = requireString(json, "delta")
  reading.feed(key)
  reading.say({ type, index, text })
}

/** Emits what was not streamed when the item is done: an item may arrive complete, without a delta or even a start. */
function readDone(reading: EventReading, json: Json): void {
  const key = keyOf(json)
  const item = requireObjectIn(json, "item")
  const known = reading.state.open.get(key)
  const whole = kindOfItem(item)
  const { parts } = readMessage(item, [])
  if (known !== undefined && !isSame(whole, known.start)) throw reading.invalid("the item that began", "another")
  const start = known?.start ?? reading.open(key, whole)
  if (known?.fed !== true) emitWhole(reading, item, parts, start)
  const seal = start.part === "reasoning" ? stringIn(item, "encrypted_content") : undefined
  if (seal !== undefined) reading.say({ type: "signature-delta", index: start.index, signature: seal })
  reading.close(key)
}

/**
 * True if the finished item matches its start. A call must keep its id and name: otherwise it could be checked as one tool and run as
 * another.
 */
function isSame(begun: BegunPart, start: PartStart): boolean {
  if (begun.part !== "tool-call" || start.part !== "tool-call") return begun.part === start.part
  return begun.callId === start.callId && begun.tool === start.tool && begun.kind === start.kind
}

function emitWhole(reading: EventReading, item: Json, parts: readonly Part[], { index, part }: PartStart): void {
  if (part === "tool-call") {
    const input = memberOf(item, ["arguments", "input", "action", "operation"])
    if (input === undefined) return
    const text = typeof input.value === "string" ? input.value : wireOf(input)
    reading.say({ type: "input-delta", index, text })
    return
  }
  const text = parts.flatMap((one) => (one.type === "text" || one.type === "reasoning" ? one.text : [])).join("")
  if (text !== "" && part !== "other") reading.text(part, index, text)
}

/** A backend may omit the output from the closing event; whether it calls tools is then known from the stream. */
function readEnd(reading: EventReading, json: Json): void {
  const response = requireObjectIn(json, "response")
  reading.usage(readResponsesUsage(member(response, "usage")))
  const output = member(response, "output")
  const listed = output !== undefined && Array.isArray(output.value) && output.value.length > 0
  const items = listed ? elements(output) : reading.state.calls > 0 ? [readJson(someCall, "response")] : []
  const messages = items.map((item) => readMessage(item, []))
  reading.stop(responsesStop(response, messages))
  reading.end()
}

/** Stands for the calls that were streamed: it only matters that there was one. */
const someCall = '{"type":"function_call","call_id":"","name":"","arguments":""}'

/** An event without a sequence number. */
type Draft = { readonly type: string; readonly fields: Fields }

const draft = (type: string, fields: Fields): Draft => ({ type, fields })

/** Writes an event of our own as all events that this format needs for it, with the next sequence numbers. */
function writeOwn(state: EncodeState, event: StreamEvent): WrittenEvent {
  const [next, drafts] = draftsOf(state, event)
  const first = sequenceOf(state)
  const events = drafts.map(({ type, fields }, n): SseEvent => {
    return createSseEvent(writeObject({ type: write(type), sequence_number: write(first + n), ...fields }), type)
  })
  return [{ ...next, sequence: first + events.length }, events]
}

function draftsOf(state: EncodeState, event: StreamEvent): readonly [EncodeState, readonly Draft[]] {
  switch (event.type) {
    case "response-start": {
      if (event !== state.start) return [state, []]
      const response = responseOf(state, { status: write("in_progress"), output: write([]) })
      return [state, [draft("response.created", { response }), draft("response.in_progress", { response })]]
    }
    case "response-end":
      return [state, [endDraft(state)]]
    case "error":
      return [state, [draft("error", errorFields(event.problem))]]
    default: {
      const part = writtenPart(state, event)
      if (part === undefined) return [state, []]
      if (event.type !== "part-end") return [state, partDrafts(part, itemId(state, part), event)]
      const item = itemOf(part, itemId(state, part), true)
      const done = draft("response.output_item.done", { output_index: write(part.index), item })
      return [{ ...state, ended: [...state.ended, item] }, [...doneDrafts(part, itemId(state, part)), done]]
    }
  }
}

// The response

/** Returns the response object from the first event, or one with the minimum that clients read. */
function responseOf({ start }: EncodeState, fields: Fields): Wire {
  const began = member(wireJson(start), "response")
  if (began !== undefined) return overlay(wireOf(began), fields)
  const { id = "resp_holdfast", model = "unknown", createdAt = 0 } = start ?? {}
  const least = { id, object: "response", created_at: createdAt, status: "", error: null, incomplete_details: null }
  const rest = {
    model,
    output: [],
    parallel_tool_calls: true,
    tools: [],
    tool_choice: "auto",
    usage: null,
    metadata: {},
  }
  return overlay(write({ ...least, ...rest }), fields)
}

function endDraft(state: EncodeState): Draft {
  const reason = incompleteReason(state.stop ?? "other")
  const status = reason === undefined ? "completed" : "incomplete"
  const response = responseOf(state, {
    status: write(status),
    incomplete_details: write(reason === undefined ? null : { reason }),
    output: writeList(outputOf(state)),
    ...(state.usage === undefined ? {} : { usage: usageOf(state.usage) }),
  })
  return draft(`response.${status}`, { response })
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Wire {
  return write({
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  })
}

function errorFields(problem: Problem): Fields {
  const { message, type } = errorNames(problem, "server_error")
  return { code: write(type), message: write(message), param: write(null) }
}

// Items

const prefixes = { text: "msg", other: "msg", reasoning: "rs", "tool-call": "fc" } as const

/** Derived from the response id and the item's index, so that the same stream is always written the same. */
function itemId({ start }: EncodeState, { start: { part }, index }: WrittenPart): string {
  return `${prefixes[part]}_${(start?.id ?? "holdfast").replace(/^resp_/, "")}_${index}`
}

const textPart = (text: string): object => ({ type: "output_text", annotations: [], logprobs: [], text })

/** Writes an item of our own, at its start or done. */
function itemOf(part: WrittenPart, id: string, done: boolean): Wire {
  const status = done ? "completed" : "in_progress"
  const { start, text, input, signature } = part
  switch (start.part) {
    case "reasoning": {
      const seal = signature === undefined || !done ? {} : { encrypted_content: signature }
      return write({
        id,
        type: "reasoning",
        summary: done && text !== "" ? [{ type: "summary_text", text }] : [],
        ...seal,
      })
    }
    case "tool-call": {
      const named = { call_id: start.callId, name: start.tool }
      if (start.kind === "custom")
        return write({ id, type: "custom_tool_call", status, input: done ? input : "", ...named })
      return write({ id, type: "function_call", status, arguments: done ? input : "", ...named })
    }
    default:
      return write({ id, type: "message", status, content: done ? [textPart(text)] : [], role: "assistant" })
  }
}

/** Message text and reasoning summaries use the same events under different names. */
const contents = {
  text: { name: "content", text: "output_text", more: { logprobs: write([]) }, of: textPart },
  reasoning: {
    name: "reasoning_summary",
    text: "reasoning_summary_text",
    more: {},
    of: (text: string): object => ({ type: "summary_text", text }),
  },
} as const

const contentOf = ({ start }: WrittenPart) => contents[start.part === "reasoning" ? "reasoning" : "text"]

/** The position of a part's content: its item, and the index in it. */
function placeOf({ start, index }: WrittenPart, id: string): Fields {
  const at: Fields = { item_id: write(id), output_index: write(index) }
  if (start.part === "tool-call") return at
  return { ...at, [start.part === "reasoning" ? "summary_index" : "content_index"]: write(0) }
}

function partDrafts(part: WrittenPart, id: string, event: StreamEvent): readonly Draft[] {
  const { name, text, more, of } = contentOf(part)
  const place = placeOf(part, id)
  switch (event.type) {
    case "part-start": {
      const item = itemOf(part, id, false)
      const added = draft("response.output_item.added", { output_index: write(part.index), item })
      const content = draft(`response.${name}_part.added`, { ...place, part: write(of("")) })
      return part.start.part === "tool-call" ? [added] : [added, content]
    }
    case "text-delta":
    case "reasoning-delta":
      return [draft(`response.${text}.delta`, { ...place, delta: write(event.text), ...more })]
    case "input-delta":
      return [draft(`${inputName(part)}.delta`, { ...place, delta: write(event.text) })]
    default:
      return []
  }
}

const inputName = ({ start }: WrittenPart): string =>
  start.part === "tool-call" && start.kind === "custom"
    ? "response.custom_tool_call_input"
    : "response.function_call_arguments"

/** The events about the content before the item itself is done. */
function doneDrafts(part: WrittenPart, id: string): readonly Draft[] {
  const { start, input } = part
  const place = placeOf(part, id)
  if (start.part === "tool-call") {
    const whole: Fields =
      start.kind === "custom" ? { input: write(input) } : { arguments: write(input), name: write(start.tool) }
    return [draft(`${inputName(part)}.done`, { ...place, ...whole })]
  }
  const { name, text, more, of } = contentOf(part)
  return [
    draft(`response.${text}.done`, { ...place, text: write(part.text), ...more }),
    draft(`response.${name}_part.done`, { ...place, part: write(of(part.text)) }),
  ]
}

/** OpenAI Responses with `stream: true`, closed by `response.completed`, `.incomplete` or `.failed`. */
export const responsesStream: StreamCodec = {
  format: "openai-responses",
  read,
  readEnd: () => [],
  rewrite,
  write: writeOwn,
  assemble,
  canWrite: isClientPart,
  isNumbered: ({ data }) => data.includes('"sequence_number"'),
  collectsOthers: "none",
}

/** Returns the next sequence number: ours, or one more than that of the last event relayed unchanged. */
export function sequenceOf({ sequence, last }: EncodeState): number {
  if (sequence !== undefined) return sequence
  const before = last === undefined ? undefined : countIn(readJson(last.data, "response"), "sequence_number")
  return before === undefined ? 0 : before + 1
}

/** Renumbers events and items, and lists in the closing event the items that were really sent. */
function rewrite(state: EncodeState, { sse, body, first, kept }: KeptEvent): WrittenEvent {
  if (!isWritten(state, first, kept)) return [state, []]
  const part = writtenPart(state, first)
  const stop = kept.find((event) => event.type === "response-stop")
  const response = member(body, "response")
  const name = stop === undefined ? undefined : endName(stop.stop, stringIn(body, "type"))
  const sequence = sequenceOf(state)
  const isNumbered = !state.intact && countIn(body, "sequence_number") !== undefined
  const fields: Fields = {
    ...(name === undefined ? {} : { type: write(name) }),
    ...(isNumbered ? { sequence_number: write(sequence) } : {}),
    ...(part === undefined || countIn(body, "output_index") === undefined ? {} : { output_index: write(part.index) }),
    ...(response === undefined || !isObject(response.value)
      ? {}
      : { response: overlay(wireOf(response), responseFields(state, response, stop?.stop)) }),
  }
  const written = replaceData(
    sse,
    overlay(wireOf(body), fields),
    sse.name === undefined ? undefined : (name ?? sse.name),
  )
  return [isNumbered ? { ...state, sequence: sequence + 1 } : state, [written]]
}

/**
 * True if the event is written: not for a part that never started, for a second start, or for usage and stop reason without the end that
 * has them.
 */
function isWritten(state: EncodeState, first: StreamEvent, kept: readonly StreamEvent[]): boolean {
  if (first.type === "response-start") return first === state.start
  if (first.type === "usage" || first.type === "response-stop") {
    return kept.some((event) => event.type === "response-end")
  }
  return indexOf(first) === undefined || writtenPart(state, first) !== undefined
}

/** Returns the closing event's name for this stop reason, if it differs from the original. */
function endName(stop: StopReason, type: string | undefined): string | undefined {
  const wanted = incompleteReason(stop) === undefined ? "response.completed" : "response.incomplete"
  return wanted === type ? undefined : wanted
}

/** Only `length` and `refusal` are visible in this format; all other stop reasons mean a completed response. */
function incompleteReason(stop: StopReason): string | undefined {
  if (stop === "length" || stop === "context-window") return "max_output_tokens"
  return stop === "refusal" ? "content_filter" : undefined
}

function responseFields(state: EncodeState, response: Json, stop: StopReason | undefined): Fields {
  const { id } = state.start ?? {}
  const named: Fields = id === undefined || stringIn(response, "id") === undefined ? {} : { id: write(id) }
  if (stop === undefined) return named
  return {
    ...named,
    ...(state.intact ? {} : { output: writeList(outputOf(state)) }),
    ...statusFields(response, stop),
  }
}

function statusFields(response: Json, stop: StopReason): Fields {
  const reason = incompleteReason(stop)
  const was = stringIn(response, "status")
  const status = reason === undefined ? "completed" : "incomplete"
  if (was === status) return {}
  return { status: write(status), incomplete_details: write(reason === undefined ? null : { reason }) }
}

/** The items that were sent, in order. */
function outputOf({ ended }: EncodeState): readonly Wire[] {
  return ended.map((end) => (typeof end === "string" ? end : itemOfEvent(end)))
}

function itemOfEvent(end: SseEvent): Wire {
  const item = member(readJson(end.data, "response"), "item")
  return item === undefined ? write(null) : wireOf(item)
}

/** Assembles the response from the streamed items: its own list may be empty or outdated. */
function assemble({ parts, start, end }: CollectedStream): ModelResponse {
  const finished = member(wireJson(end), "response")
  const base = finished !== undefined && isObject(finished.value) ? wireOf(finished) : write({})
  const id = start?.id === undefined ? {} : { id: write(start.id) }
  const body = overlay(base, { ...id, output: writeList(parts.map(itemFrom)) })
  const { wire, ...answer } = readResponsesResponse(readJson(body, "response"))
  return finished === undefined || wire === undefined ? answer : { ...answer, wire }
}

/** Returns the finished item; if there is none, one built from the collected content. */
function itemFrom(draft: PartDraft, index: number): Wire {
  const done = member(wireJson(draft.end), "item")
  if (done !== undefined) return wireOf(done)
  const id = stringIn(member(wireJson(draft.start), "item"), "id")
  return itemOf({ ...draft, index, call: 0 }, id ?? `item_${index}`, true)
}
