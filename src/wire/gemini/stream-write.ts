import { describe, type Problem } from "../../message/errors.ts"
import { type Wire, wireText } from "../../message/ids.ts"
import type { StopReason, Usage } from "../../message/request.ts"
import { stringIn } from "../expect.ts"
import { elements, isObject, type Json, member, readJson, tryParse, wireOf } from "../json.ts"
import { type Fields, write as json, overlay, writeList, writeObject } from "../overlay.ts"
import type { SseEvent } from "../sse.ts"
import { createSseEvent, replaceData } from "../sse-write.ts"
import { indexOf, type StreamEvent } from "../stream.ts"
import type { EncodeState, Written, WrittenPart } from "../stream-codec.ts"
import { candidateOf, partsOf } from "./stream-read.ts"

// Relayed events

/** Keep of the chunk what is left: its parts, the stop that holds, the id that the answer began with. */
export function rewrite(state: EncodeState, kept: readonly StreamEvent[]): Written {
  const wire = kept[0]?.wire
  if (wire === undefined) return [state, []]
  const left = kept.filter((event) => isLeft(state, event))
  const idle = left.every(({ type }) => type === "usage") && wire.pieces > kept.length
  if (left.length === 0 || idle) return [state, []]
  const chunk = readJson(wire.sse.data, "response")
  const candidates = member(chunk, "candidates")
  const candidate = candidateOf(chunk)
  const { id } = state.start ?? {}
  const fields: Fields = {
    ...(id === undefined || stringIn(chunk, "responseId") === undefined ? {} : { responseId: json(id) }),
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

/** Parts end without a word on this wire, and an answer begins once. */
function isLeft(state: EncodeState, event: StreamEvent): boolean {
  if (event.type === "part-end") return false
  if (event.type === "response-start") return event === state.start
  const index = indexOf(event)
  return index === undefined || state.open.has(index)
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
  return stop.stop === stop.wire?.stop ? {} : { finishReason: json(finishReasons[stop.stop]) }
}

// Events of our own

export function write(state: EncodeState, event: StreamEvent): Written {
  return [state, writeEvents(state, event)]
}

function writeEvents(state: EncodeState, event: StreamEvent): readonly SseEvent[] {
  if (event.type === "error") return [createSseEvent(writeObject({ error: errorOf(event.problem) }))]
  if (event.type === "response-stop") {
    const finish = { finishReason: json(finishReasons[event.stop]) }
    return [chunkOf(state, json({ text: "" }), finish, usageFields(state.usage))]
  }
  const index = indexOf(event)
  const part = index === undefined ? undefined : state.open.get(index)
  if (part === undefined) return []
  const wire = partOf(part, event)
  return wire === undefined ? [] : [chunkOf(state, wire)]
}

/** Texts go out as they come; a call is whole, so it goes out when it ends. */
function partOf(part: WrittenPart, event: StreamEvent): Wire | undefined {
  const thought = part.start.part === "reasoning" ? { thought: true } : {}
  if (part.start.part === "tool-call") return event.type === "part-end" ? callOf(part) : undefined
  if (event.type === "text-delta" || event.type === "reasoning-delta") return json({ text: event.text, ...thought })
  if (event.type === "signature-delta") return json({ text: "", ...thought, thoughtSignature: event.signature })
  return undefined
}

/** A call of our own as a part; an id that we gave by position means nothing to the client. */
export function callOf({ start, input, signature }: Pick<WrittenPart, "start" | "input" | "signature">): Wire {
  if (start.part !== "tool-call") return json({})
  const args = isObject(tryParse(input)) ? wireText(input) : json({})
  const id = /^m\d+\.\d+$/.test(start.callId) ? {} : { id: json(start.callId) }
  const call = writeObject({ ...id, name: json(start.tool), args })
  return writeObject({ functionCall: call, ...(signature === undefined ? {} : { thoughtSignature: json(signature) }) })
}

/** A chunk in the envelope that the answer began with. */
function chunkOf({ start }: EncodeState, part: Wire, finish: Fields = {}, usage: Fields = {}): SseEvent {
  const content = writeObject({ parts: writeList([part]), role: json("model") })
  const candidates = writeList([writeObject({ content, ...finish, index: json(0) })])
  if (start?.wire !== undefined) {
    const began = wireOf(readJson(start.wire.sse.data, "response"))
    return createSseEvent(overlay(began, { candidates, usageMetadata: undefined, ...usage }))
  }
  const { id, model } = start ?? {}
  return createSseEvent(
    writeObject({
      candidates,
      ...usage,
      ...(model === undefined ? {} : { modelVersion: json(model) }),
      ...(id === undefined ? {} : { responseId: json(id) }),
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
  return { usageMetadata: json(counts) }
}

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  pause: "STOP",
  compaction: "STOP",
  "context-window": "MAX_TOKENS",
  other: "OTHER",
}

function errorOf(problem: Problem): Wire {
  if (problem.code !== "upstream-error") {
    return json({ code: 500, message: describe(problem).sentence, status: "INTERNAL" })
  }
  return json({ code: problem.status ?? 500, message: problem.message, status: problem.type })
}
