import type { Problem } from "../message/errors.ts"
import { callId, type ModelResponse, type Part, type Usage, type Wire, wireText } from "../message/message.ts"
import { present } from "../message/present.ts"
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
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"
import { createSseEvent, replaceData, type SseEvent } from "./sse.ts"
import {
  type Begun,
  type Collected,
  closePart,
  type DecodeState,
  type EncodeState,
  endOf,
  errorNames,
  errorOf,
  hasChunk,
  invalid,
  isClientPart,
  openPart,
  type PartDraft,
  pieces,
  type Read,
  type StreamCodec,
  type StreamEvent,
  type StreamStatement,
  stopNames,
  stopPiece,
  usagePieces,
  type WireStatement,
  type WrittenEvent,
  type WrittenPart,
  writtenPart,
} from "./stream.ts"

/** What one chunk says: a piece of an answer in the shape of a whole one. Texts of one kind in a row are one part, a call comes whole. */
function read(state: DecodeState, sse: SseEvent): Read {
  const chunk = requireObject(readJson(sse.data, "response"))
  const error = member(chunk, "error")
  if (error !== undefined) return [{ ...state, closed: true }, pieces(errorOf(error))]
  const candidate = candidateOf(chunk)
  const blocked =
    stringIn(memberSpelled(chunk, "promptFeedback"), "blockReason") !== undefined && candidate === undefined
  const [started, start] = readStart(state, chunk)
  const [told, content] = readParts(started, partsOf(candidate))
  const [counted, usage] = usagePieces(told, readGeminiUsage(memberSpelled(chunk, "usageMetadata")))
  const [next, finish] = readFinish(counted, candidate, blocked)
  return [next, [...start, ...content, ...pieces(...usage, ...finish)]]
}

/** Candidates but the first are relayed unread. */
function candidateOf(chunk: Json): Json | undefined {
  const [first] = elements(member(chunk, "candidates"))
  return first === undefined || !isObject(first.value) ? undefined : first
}

const partsOf = (candidate: Json | undefined): readonly Json[] =>
  elements(member(member(candidate, "content"), "parts"))

/** The answer begins with the first chunk that is one: other objects may come before it. */
function readStart(state: DecodeState, chunk: Json): Read {
  const isChunk = ["candidates", "responseId", "promptFeedback"].some(
    (name) => memberSpelled(chunk, name) !== undefined,
  )
  if (state.started || !isChunk) return [state, []]
  const names = { id: stringIn(chunk, "responseId"), model: stringIn(chunk, "modelVersion") }
  return [{ ...state, started: true }, pieces({ type: "response-start", ...present(names) })]
}

/** What a proxy may write out where the API leaves the field out. */
const unfinished: ReadonlySet<string> = new Set(["", "FINISH_REASON_UNSPECIFIED"])

function readFinish(
  state: DecodeState,
  candidate: Json | undefined,
  blocked: boolean,
): readonly [DecodeState, readonly StreamStatement[]] {
  const named = candidate === undefined ? undefined : memberSpelled(candidate, "finishReason")?.value
  const reason = typeof named === "string" && !unfinished.has(named) ? named : undefined
  if (reason === undefined && !blocked) return [state, []]
  const [closed, ends] = endText(state)
  const stop = reason === undefined ? "refusal" : geminiStop(reason, [])
  const [next, said] = stopPiece(closed, stop === "end" && state.calls > 0 ? "tool-calls" : stop)
  return [next, [...ends, said]]
}

function readParts(state: DecodeState, parts: readonly Json[]): Read {
  let now = state
  const all: WireStatement[] = []
  for (const [slot, part] of parts.entries()) {
    const [next, said] = readPart(now, requireObject(part))
    now = next
    all.push(...said.map((one) => (one.type === "part-end" && said[0] === one ? { said: one } : { said: one, slot })))
  }
  return [now, all]
}

type Told = readonly [DecodeState, readonly StreamStatement[]]

/** End the text that is open, unless it is of the kind that goes on. */
function endText(state: DecodeState, continues?: string): Told {
  let now = state
  const said: StreamStatement[] = []
  for (const [key, { start }] of state.open) {
    if (key === continues) continue
    now = closePart(now, key)
    said.push({ type: "part-end", index: start.index })
  }
  return [now, said]
}

function readPart(state: DecodeState, part: Json): Told {
  if (member(part, "text") !== undefined) return readText(state, part, requireString(part, "text"))
  const [closed, ends] = endText(state)
  const begun = beginning(closed, part)
  const [opened, start] = openPart(closed, "part", begun.part)
  const { index } = start
  const said: StreamStatement[] = [...ends, start]
  if (begun.input !== undefined) said.push({ type: "input-delta", index, text: begun.input })
  const signature = memberSpelled(part, "thoughtSignature")?.value
  if (typeof signature === "string") said.push({ type: "signature-delta", index, signature })
  return [closePart(opened, "part"), [...said, { type: "part-end", index }]]
}

/** A signature seals the text before it: what follows is another part. */
function readText(state: DecodeState, part: Json, text: string): Told {
  const kind = isTrue(part, "thought") ? "reasoning" : "text"
  const signature = memberSpelled(part, "thoughtSignature")?.value
  if (text === "" && typeof signature !== "string") return [state, [{ type: "other" }]]
  const [ready, ends] = endText(state, kind)
  const open = ready.open.get(kind)
  const [opened, start] = open === undefined ? openPart(ready, kind, { part: kind }) : [ready, open.start]
  const { index } = start
  const said: StreamStatement[] = open === undefined ? [...ends, start] : [...ends]
  if (text !== "") said.push({ type: kind === "text" ? "text-delta" : "reasoning-delta", index, text })
  if (typeof signature !== "string") return [opened, said]
  return [
    closePart(opened, kind),
    [...said, { type: "signature-delta", index, signature }, { type: "part-end", index }],
  ]
}

function beginning(state: DecodeState, part: Json): { readonly part: Begun; readonly input?: string } {
  const place = `m0.${state.parts}`
  const call = memberSpelled(part, "functionCall")
  if (call !== undefined) {
    const partial = memberSpelled(call, "partialArgs") !== undefined || isTrue(call, "willContinue")
    if (partial) throw invalid(state, "a whole function call", "a piece of one")
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

// Relayed events

/** Keep of the chunk what is left: its parts, the stop that holds, the id that the answer began with. */
function rewrite(state: EncodeState, kept: readonly StreamEvent[]): WrittenEvent {
  const wire = kept[0]?.wire
  if (wire === undefined) return [state, []]
  const left = kept.filter((event) => hasChunk(state, event))
  const idle = left.every(({ type }) => type === "usage") && wire.pieces > kept.length
  if (left.length === 0 || idle) return [state, []]
  const chunk = readJson(wire.sse.data, "response")
  const candidates = member(chunk, "candidates")
  const candidate = candidateOf(chunk)
  const { id } = state.start ?? {}
  const fields: Fields = {
    ...(id === undefined || stringIn(chunk, "responseId") === undefined ? {} : { responseId: write(id) }),
    ...(candidates === undefined || candidate === undefined
      ? {}
      : {
          candidates: writeList(
            elements(candidates).map((one, n) => (n === 0 ? rewriteCandidate(one, left) : wireOf(one))),
          ),
        }),
  }
  return [state, [replaceData(wire.sse, overlay(wireOf(chunk), fields))]]
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

/** Texts go out as they come; a call is whole, so it goes out when it ends. */
function partOf(part: WrittenPart, event: StreamEvent): Wire | undefined {
  const thought = part.start.part === "reasoning" ? { thought: true } : {}
  if (part.start.part === "tool-call") return event.type === "part-end" ? callOf(part) : undefined
  if (event.type === "text-delta" || event.type === "reasoning-delta") return write({ text: event.text, ...thought })
  if (event.type === "signature-delta") return write({ text: "", ...thought, thoughtSignature: event.signature })
  return undefined
}

/** A call of our own as a part; an id that we gave by position means nothing to the client. */
function callOf({ start, input, signature }: Pick<WrittenPart, "start" | "input" | "signature">): Wire {
  if (start.part !== "tool-call") return write({})
  const args = isObject(tryParse(input)) ? wireText(input) : write({})
  const id = /^m\d+\.\d+$/.test(start.callId) ? {} : { id: write(start.callId) }
  const call = writeObject({ ...id, name: write(start.tool), args })
  return writeObject({ functionCall: call, ...(signature === undefined ? {} : { thoughtSignature: write(signature) }) })
}

/** A chunk in the envelope that the answer began with. */
function chunkOf({ start }: EncodeState, part: Wire, finish: Fields = {}, usage: Fields = {}): SseEvent {
  const content = writeObject({ parts: writeList([part]), role: write("model") })
  const candidates = writeList([writeObject({ content, ...finish, index: write(0) })])
  if (start?.wire !== undefined) {
    const began = wireOf(readJson(start.wire.sse.data, "response"))
    return createSseEvent(overlay(began, { candidates, usageMetadata: undefined, ...usage }))
  }
  const { id, model } = start ?? {}
  return createSseEvent(
    writeObject({
      candidates,
      ...usage,
      ...(model === undefined ? {} : { modelVersion: write(model) }),
      ...(id === undefined ? {} : { responseId: write(id) }),
    }),
  )
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

/** Gemini's `:streamGenerateContent`. It has no closing event: a stream that has named its finish reason ends where it ends. */
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

/** A refused prompt has no message, as in an answer read whole. */
function assemble({ parts, stop }: Collected): ModelResponse {
  const content = writeObject({ parts: writeList(parts.map(partFrom)), role: write("model") })
  const blocked = parts.length === 0 && stop === "refusal"
  const body = writeObject({ candidates: blocked ? write([]) : writeList([writeObject({ content })]) })
  const { wire: _, ...answer } = readGeminiResponse(readJson(body, "response"))
  return { ...answer, messages: answer.messages.map((message) => ({ ...message, parts: named(message.parts, parts) })) }
}

/** A call without an id keeps the name that its place in the whole answer gave it, also when it is collected alone. */
function named(parts: readonly Part[], drafts: readonly PartDraft[]): readonly Part[] {
  return parts.map((part, n) => {
    const start = drafts[n]?.start
    return part.type === "tool-call" && start?.part === "tool-call" ? { ...part, callId: start.callId } : part
  })
}

/** The part as it began, with the text and signature that it came to. */
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

function partIn({ wire }: StreamEvent): Json | undefined {
  if (wire?.slot === undefined) return undefined
  return partsOf(candidateOf(readJson(wire.sse.data, "response")))[wire.slot]
}
