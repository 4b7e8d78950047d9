import type { Problem } from "../message/errors.ts"
import { callId, type ModelResponse, type Part, type Usage, type Wire, wireText } from "../message/message.ts"
import { present } from "../message/present.ts"
import { stopNames } from "./codec.ts"
import { geminiStop, memberSpelled, readGeminiResponse, readGeminiUsage } from "./gemini.ts"
import {
  elements,
  isObject,
  isTrue,
  type Json,
  member,
  readJson,
  requireObject,
  requireString,
  stringIn,
  tryParse,
  wireOf,
} from "./json.ts"
import { type Fields, overlay, write, writeList, writeObject, writeOptional } from "./json-write.ts"
import { createSseEvent, replaceData, type SseEvent } from "./sse.ts"
import {
  type BegunPart,
  becomesChunk,
  type CollectedStream,
  type EncodeState,
  type EventReading,
  endOf,
  errorNames,
  isClientPart,
  type KeptEvent,
  type PartDraft,
  type StreamCodec,
  type StreamEvent,
  type WrittenEvent,
  type WrittenPart,
  wireJson,
  writtenPart,
} from "./stream.ts"

/** Reads one chunk, a piece in the shape of a complete response. Consecutive texts of one kind are one part; a call arrives complete. */
function read(reading: EventReading, chunk: Json): void {
  const error = member(chunk, "error")
  if (error !== undefined) {
    reading.error(error)
    return
  }
  const candidate = candidateOf(chunk)
  const blocked =
    stringIn(memberSpelled(chunk, "promptFeedback"), "blockReason") !== undefined && candidate === undefined
  readStart(reading, chunk)
  for (const [slot, part] of partsOf(candidate).entries()) {
    reading.slot = slot
    readPart(reading, requireObject(part))
  }
  reading.slot = undefined
  reading.usage(readGeminiUsage(memberSpelled(chunk, "usageMetadata")))
  readFinish(reading, candidate, blocked)
}

/** Returns the first candidate; the others are relayed unread. */
function candidateOf(chunk: Json): Json | undefined {
  const [first] = elements(member(chunk, "candidates"))
  return first === undefined || !isObject(first.value) ? undefined : first
}

const partsOf = (candidate: Json | undefined): readonly Json[] =>
  elements(member(member(candidate, "content"), "parts"))

/** The response starts with the first chunk that belongs to one: other objects may come before it. */
function readStart(reading: EventReading, chunk: Json): void {
  const isChunk = ["candidates", "responseId", "promptFeedback"].some(
    (name) => memberSpelled(chunk, name) !== undefined,
  )
  if (reading.state.started || !isChunk) return
  reading.start({ id: stringIn(chunk, "responseId"), model: stringIn(chunk, "modelVersion") })
}

/** Values that a proxy may send where the API omits the field. */
const unfinished: ReadonlySet<string> = new Set(["", "FINISH_REASON_UNSPECIFIED"])

function readFinish(reading: EventReading, candidate: Json | undefined, blocked: boolean): void {
  const named = candidate === undefined ? undefined : memberSpelled(candidate, "finishReason")?.value
  const reason = typeof named === "string" && !unfinished.has(named) ? named : undefined
  if (reason === undefined && !blocked) return
  endText(reading)
  const stop = reason === undefined ? "refusal" : geminiStop(reason, [])
  reading.stop(stop === "end" && reading.state.calls > 0 ? "tool-calls" : stop)
}

/** Ends the open text unless the next one is of the same kind. It belongs to no slot of this chunk. */
function endText(reading: EventReading, continues?: string): void {
  const { slot } = reading
  reading.slot = undefined
  for (const key of reading.state.open.keys()) if (key !== continues) reading.close(key)
  reading.slot = slot
}

function readPart(reading: EventReading, part: Json): void {
  const named = memberSpelled(part, "thoughtSignature")?.value
  const signature = typeof named === "string" ? named : undefined
  if (member(part, "text") === undefined) readWhole(reading, part, signature)
  else readText(reading, part, signature)
}

/** Reads a part other than text, which arrives complete in one chunk. */
function readWhole(reading: EventReading, part: Json, signature: string | undefined): void {
  endText(reading)
  const { part: kind, input } = readPartStart(reading, part)
  const { index } = reading.open("part", kind)
  if (input !== undefined) reading.say({ type: "input-delta", index, text: input })
  if (signature !== undefined) reading.say({ type: "signature-delta", index, signature })
  reading.close("part")
}

/** A signature ends the text before it: what follows is another part. */
function readText(reading: EventReading, part: Json, signature: string | undefined): void {
  const text = requireString(part, "text")
  const kind = isTrue(part, "thought") ? "reasoning" : "text"
  if (text === "" && signature === undefined) {
    reading.say({ type: "other" })
    return
  }
  endText(reading, kind)
  const { index } = reading.state.open.get(kind)?.start ?? reading.open(kind, { part: kind })
  if (text !== "") reading.text(kind, index, text)
  if (signature === undefined) return
  reading.say({ type: "signature-delta", index, signature })
  reading.close(kind)
}

function readPartStart(reading: EventReading, part: Json): { readonly part: BegunPart; readonly input?: string } {
  const place = `m0.${reading.state.parts}`
  const call = memberSpelled(part, "functionCall")
  if (call !== undefined) {
    const partial = memberSpelled(call, "partialArgs") !== undefined || isTrue(call, "willContinue")
    if (partial) throw reading.invalid("a whole function call", "a piece of one")
    const id = callId(stringIn(call, "id") ?? place)
    const args = member(call, "args")
    const input = args === undefined ? undefined : wireOf(args)
    return {
      part: { part: "tool-call", callId: id, tool: requireString(call, "name"), kind: "function" },
      ...present({ input }),
    }
  }
  const code = memberSpelled(part, "executableCode")
  if (code === undefined) return { part: { part: "other" } }
  const id = callId(stringIn(code, "id") ?? place)
  return { part: { part: "tool-call", callId: id, tool: "code_execution", kind: "provider" }, input: wireOf(code) }
}

// Rewriting upstream events

/** Writes what is kept of a chunk: its parts, the final stop reason, the id of the first chunk. */
function rewrite(state: EncodeState, { sse, body: chunk, first, kept }: KeptEvent): WrittenEvent {
  const left = kept.filter((event) => becomesChunk(state, event))
  const idle = left.every(({ type }) => type === "usage") && (first.wire?.pieces ?? 0) > kept.length
  if (left.length === 0 || idle) return [state, []]
  const candidates = elements(member(chunk, "candidates"))
  const { id } = state.start ?? {}
  const fields: Fields = {
    ...(id === undefined || stringIn(chunk, "responseId") === undefined ? {} : { responseId: write(id) }),
    ...(candidateOf(chunk) === undefined
      ? {}
      : { candidates: writeList(candidates.map((one, n) => (n === 0 ? rewriteCandidate(one, left) : wireOf(one)))) }),
  }
  return [state, [replaceData(sse, overlay(wireOf(chunk), fields))]]
}

function rewriteCandidate(candidate: Json, left: readonly StreamEvent[]): Wire {
  const slots = new Set(left.flatMap((event) => event.wire?.slot ?? []))
  const content = member(candidate, "content")
  const parts = partsOf(candidate)
  const some = parts.filter((_, slot) => slots.has(slot)).map(wireOf)
  const shown = content === undefined || some.length === parts.length
  return overlay(wireOf(candidate), {
    ...(shown ? {} : { content: overlay(wireOf(content), { parts: writeList(some) }) }),
    ...rewriteFinish(candidate, left),
  })
}

function rewriteFinish(candidate: Json, left: readonly StreamEvent[]): Fields {
  const reason = stringIn(candidate, "finishReason")
  if (reason === undefined) return {}
  const stop = left.find((event) => event.type === "response-stop")
  if (stop === undefined) return { finishReason: undefined }
  return stop.stop === stop.wire?.stop ? {} : { finishReason: write(stopNames.gemini[stop.stop]) }
}

// Events of our own

function writeEvents(state: EncodeState, event: StreamEvent): readonly SseEvent[] {
  if (event.type === "error") return [createSseEvent(writeObject({ error: errorEvent(event.problem) }))]
  if (event.type === "response-stop") {
    const finish = { finishReason: write(stopNames.gemini[event.stop]) }
    return [chunkOf(state, write({ text: "" }), finish, usageFields(state.usage))]
  }
  const part = writtenPart(state, event)
  if (part === undefined) return []
  const wire = partOf(part, event)
  return wire === undefined ? [] : [chunkOf(state, wire)]
}

/** Texts are written as they come; a call is complete, so it is written when it ends. */
function partOf(part: WrittenPart, event: StreamEvent): Wire | undefined {
  const thought = part.start.part === "reasoning" ? { thought: true } : {}
  if (part.start.part === "tool-call") return event.type === "part-end" ? callOf(part) : undefined
  if (event.type === "text-delta" || event.type === "reasoning-delta") return write({ text: event.text, ...thought })
  if (event.type === "signature-delta") return write({ text: "", ...thought, thoughtSignature: event.signature })
  return undefined
}

/** Writes a call of our own; an id derived from a position means nothing to the client. */
function callOf({ start, input, signature }: Pick<WrittenPart, "start" | "input" | "signature">): Wire {
  if (start.part !== "tool-call") return write({})
  const args = isObject(tryParse(input)) ? wireText(input) : write({})
  const id = /^m\d+\.\d+$/.test(start.callId) ? {} : { id: write(start.callId) }
  const call = writeObject({ ...id, name: write(start.tool), args })
  return writeObject({ functionCall: call, thoughtSignature: writeOptional(signature) })
}

/** Builds a chunk in the envelope of the first one. */
function chunkOf({ start }: EncodeState, part: Wire, finish: Fields = {}, usage: Fields = {}): SseEvent {
  const content = writeObject({ parts: writeList([part]), role: write("model") })
  const candidates = writeList([writeObject({ content, ...finish, index: write(0) })])
  const began = wireJson(start)
  if (began !== undefined)
    return createSseEvent(overlay(wireOf(began), { candidates, usageMetadata: undefined, ...usage }))
  const { id, model } = start ?? {}
  const named = { modelVersion: writeOptional(model), responseId: writeOptional(id) }
  return createSseEvent(writeObject({ candidates, ...usage, ...named }))
}

function usageFields(usage: Usage | undefined): Fields {
  if (usage === undefined) return {}
  const { inputTokens, outputTokens, cacheReadTokens } = usage
  const counts = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
    cachedContentTokenCount: cacheReadTokens,
  }
  return { usageMetadata: write(counts) }
}

function errorEvent(problem: Problem): Wire {
  const { message, type: status } = errorNames(problem, "INTERNAL")
  const code = problem.code === "upstream-error" ? (problem.status ?? 500) : 500
  return write({ code, message, status })
}

/** Gemini's `:streamGenerateContent`. It has no closing event: after a finish reason the connection may end. */
export const geminiStream: StreamCodec = {
  format: "gemini",
  read,
  readEnd: (state) => (state.stop === undefined ? [] : [endOf(state)]),
  rewrite,
  write: (state, event) => [state, writeEvents(state, event)],
  assemble,
  canWrite: isClientPart,
  isNumbered: () => false,
  collectsOthers: "none",
}

/** Assembles the response; a blocked prompt has no message, as in a complete response. */
function assemble({ parts, stop }: CollectedStream): ModelResponse {
  const content = writeObject({ parts: writeList(parts.map(partFrom)), role: write("model") })
  const blocked = parts.length === 0 && stop === "refusal"
  const body = writeObject({ candidates: blocked ? write([]) : writeList([writeObject({ content })]) })
  const { wire: _, ...answer } = readGeminiResponse(readJson(body, "response"))
  return { ...answer, messages: answer.messages.map((message) => ({ ...message, parts: named(message.parts, parts) })) }
}

/** A call without an id keeps the id from its position in the whole response, even if it is collected alone. */
function named(parts: readonly Part[], drafts: readonly PartDraft[]): readonly Part[] {
  return parts.map((part, n) => {
    const start = drafts[n]?.start
    return part.type === "tool-call" && start?.part === "tool-call" ? { ...part, callId: start.callId } : part
  })
}

/** Builds the part from its first chunk, with the collected text and signature. */
function partFrom(draft: PartDraft): Wire {
  const { start, text, signature } = draft
  const began = partIn(start)
  if (start.part === "tool-call" || start.part === "other") return began === undefined ? callOf(draft) : wireOf(began)
  const thought: Fields = start.part === "reasoning" ? { thought: write(true) } : {}
  const spelled = began !== undefined && memberSpelled(began, "thoughtSignature")?.key === "thought_signature"
  const seal: Fields =
    signature === undefined ? {} : { [spelled ? "thought_signature" : "thoughtSignature"]: write(signature) }
  return overlay(began === undefined ? undefined : wireOf(began), { text: write(text), ...thought, ...seal })
}

function partIn(event: StreamEvent): Json | undefined {
  const [chunk, slot] = [wireJson(event), event.wire?.slot]
  return chunk === undefined || slot === undefined ? undefined : partsOf(candidateOf(chunk))[slot]
}
