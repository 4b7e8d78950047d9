import { callId } from "../../message/ids.ts"
import { present } from "../../message/present.ts"
import { isTrue, requireObject, requireString, stringIn } from "../expect.ts"
import { elements, isObject, type Json, member, memberOf, readJson, wireOf } from "../json.ts"
import type { SseEvent } from "../sse.ts"
import type { Said } from "../stream.ts"
import type { DecodeState, Piece, Read } from "../stream-codec.ts"
import { type Begun, closePart, errorOf, invalid, openPart, pieces, stopPiece, usagePieces } from "../stream-read.ts"
import { spellings } from "./read.ts"
import { readUsage, stopOf } from "./response.ts"

export const inside = (json: Json, name: string): Json | undefined => memberOf(json, spellings(name))

/** What one chunk says: a piece of an answer in the shape of a whole one. Texts of one kind in a row are one part, a call comes whole. */
export function read(state: DecodeState, sse: SseEvent): Read {
  const chunk = requireObject(readJson(sse.data, "response"))
  const error = member(chunk, "error")
  if (error !== undefined) return [{ ...state, closed: true }, pieces(errorOf(error))]
  const candidate = candidateOf(chunk)
  const blocked = stringIn(inside(chunk, "promptFeedback"), "blockReason") !== undefined && candidate === undefined
  const [started, start] = readStart(state, chunk)
  const [told, content] = readParts(started, candidate === undefined ? [] : partsOf(candidate))
  const [counted, usage] = usagePieces(told, readUsage(inside(chunk, "usageMetadata")))
  const [next, finish] = readFinish(counted, candidate, blocked)
  return [next, [...start, ...content, ...pieces(...usage, ...finish)]]
}

/** Candidates but the first are relayed unread. */
export function candidateOf(chunk: Json): Json | undefined {
  const candidates = member(chunk, "candidates")
  const first = candidates === undefined ? undefined : elements(candidates)[0]
  return first === undefined || !isObject(first.value) ? undefined : first
}

export function partsOf(candidate: Json): readonly Json[] {
  const content = member(candidate, "content")
  const parts = content === undefined ? undefined : member(content, "parts")
  return parts === undefined ? [] : elements(parts)
}

/** The answer begins with the first chunk that is one: other objects may come before it. */
function readStart(state: DecodeState, chunk: Json): Read {
  const isChunk = ["candidates", "responseId", "promptFeedback"].some((name) => inside(chunk, name) !== undefined)
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
): readonly [DecodeState, readonly Said[]] {
  const named = candidate === undefined ? undefined : inside(candidate, "finishReason")?.value
  const reason = typeof named === "string" && !unfinished.has(named) ? named : undefined
  if (reason === undefined && !blocked) return [state, []]
  const [closed, ends] = endText(state)
  const stop = reason === undefined ? "refusal" : stopOf(reason, [])
  const [next, said] = stopPiece(closed, stop === "end" && state.calls > 0 ? "tool-calls" : stop)
  return [next, [...ends, said]]
}

function readParts(state: DecodeState, parts: readonly Json[]): Read {
  let now = state
  const all: Piece[] = []
  for (const [slot, part] of parts.entries()) {
    const [next, said] = readPart(now, requireObject(part))
    now = next
    all.push(...said.map((one) => (one.type === "part-end" && said[0] === one ? { said: one } : { said: one, slot })))
  }
  return [now, all]
}

type Told = readonly [DecodeState, readonly Said[]]

/** End the text that is open, unless it is of the kind that goes on. */
function endText(state: DecodeState, goesOn?: string): Told {
  let now = state
  const said: Said[] = []
  for (const [key, { start }] of state.open) {
    if (key === goesOn) continue
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
  const said: Said[] = [...ends, start]
  if (begun.input !== undefined) said.push({ type: "input-delta", index, text: begun.input })
  const signature = inside(part, "thoughtSignature")?.value
  if (typeof signature === "string") said.push({ type: "signature-delta", index, signature })
  return [closePart(opened, "part"), [...said, { type: "part-end", index }]]
}

/** A signature seals the text before it: what follows is another part. */
function readText(state: DecodeState, part: Json, text: string): Told {
  const kind = isTrue(part, "thought") ? "reasoning" : "text"
  const signature = inside(part, "thoughtSignature")?.value
  if (text === "" && typeof signature !== "string") return [state, [{ type: "other" }]]
  const [ready, ends] = endText(state, kind)
  const open = ready.open.get(kind)
  const [opened, start] = open === undefined ? openPart(ready, kind, { part: kind }) : [ready, open.start]
  const { index } = start
  const said: Said[] = open === undefined ? [...ends, start] : [...ends]
  if (text !== "") said.push({ type: kind === "text" ? "text-delta" : "reasoning-delta", index, text })
  if (typeof signature !== "string") return [opened, said]
  return [
    closePart(opened, kind),
    [...said, { type: "signature-delta", index, signature }, { type: "part-end", index }],
  ]
}

function beginning(state: DecodeState, part: Json): { readonly part: Begun; readonly input?: string } {
  const place = `m0.${state.parts}`
  const call = inside(part, "functionCall")
  if (call !== undefined) {
    const partial = inside(call, "partialArgs") !== undefined || isTrue(call, "willContinue")
    if (partial) throw invalid(state, "a whole function call", "a piece of one")
    const id = callId(stringIn(call, "id") ?? place)
    const args = member(call, "args")
    const input = args === undefined ? undefined : wireOf(args)
    return {
      part: { part: "tool-call", callId: id, tool: requireString(call, "name"), kind: "function" },
      ...present({ input }),
    }
  }
  const code = inside(part, "executableCode")
  if (code === undefined) return { part: { part: "other" } }
  const id = callId(stringIn(code, "id") ?? place)
  return { part: { part: "tool-call", callId: id, tool: "code_execution", kind: "provider" }, input: wireOf(code) }
}
