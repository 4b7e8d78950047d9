import type { Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { countIn, refuse, requireObject, requireString, stringIn } from "../expect.ts"
import { elements, type Json, member, readJson, wireOf } from "../json.ts"
import type { SseEvent } from "../sse.ts"
import type { Said } from "../stream.ts"
import type { DecodeState, OpenPart, Read } from "../stream-codec.ts"
import {
  type Begun,
  closePart,
  endOf,
  errorOf,
  feedPart,
  invalid,
  openPart,
  pieces,
  requirePart,
  stopPiece,
  usagePieces,
} from "../stream-read.ts"
import { readMessage } from "./read.ts"
import { readUsage, stopOf } from "./response.ts"

/** The deltas that feed an item, and what they feed it with. */
const deltas: ReadonlyMap<string, "text-delta" | "reasoning-delta" | "input-delta"> = new Map([
  ["response.output_text.delta", "text-delta"],
  ["response.refusal.delta", "text-delta"],
  ["response.reasoning_summary_text.delta", "reasoning-delta"],
  ["response.reasoning_text.delta", "reasoning-delta"],
  ["response.function_call_arguments.delta", "input-delta"],
  ["response.custom_tool_call_input.delta", "input-delta"],
])

/** What one event says. Each output item is a part; event types that we do not know are relayed. */
export function read(state: DecodeState, sse: SseEvent): Read {
  const json = requireObject(readJson(sse.data, "response"))
  const type = stringIn(json, "type") ?? sse.name ?? ""
  const delta = deltas.get(type)
  if (delta !== undefined) return readDelta(state, json, delta)
  switch (type) {
    case "response.created":
      return readStart(state, responseIn(json))
    case "response.output_item.added":
      return readAdded(state, json)
    case "response.output_item.done":
      return readDone(state, json)
    case "response.completed":
    case "response.incomplete":
      return readEnd(state, responseIn(json))
    case "response.failed":
      return [{ ...state, closed: true }, pieces(errorOf(member(responseIn(json), "error")))]
    case "error":
      return [{ ...state, closed: true }, pieces(errorOf(member(json, "error") ?? json))]
    default:
      return [state, pieces({ type: "other", ...present({ index: state.open.get(keyIn(json))?.start.index }) })]
  }
}

const responseIn = (json: Json): Json =>
  requireObject(member(json, "response") ?? refuse(json, "an object", "response"))

const keyIn = (json: Json): string => String(countIn(json, "output_index"))
const keyOf = (json: Json): string =>
  String(countIn(json, "output_index") ?? refuse(json, "a whole number", "output_index"))

function readStart(state: DecodeState, response: Json): Read {
  if (state.started) return [state, []]
  const names = {
    id: stringIn(response, "id"),
    model: stringIn(response, "model"),
    createdAt: countIn(response, "created_at"),
  }
  return [{ ...state, started: true }, pieces({ type: "response-start", ...present(names) })]
}

const itemIn = (json: Json): Json => requireObject(member(json, "item") ?? refuse(json, "an object", "item"))

/** An item is whatever the reader of whole answers takes it for. */
function begun(item: Json): Begun {
  if (stringIn(item, "type") === "message") return { part: "text" }
  const part: Part | undefined = readMessage(item, []).parts[0]
  if (part?.type === "tool-call") {
    return { part: "tool-call", callId: part.callId, tool: part.tool, kind: part.kind }
  }
  return { part: part?.type === "reasoning" ? "reasoning" : "other" }
}

function readAdded(state: DecodeState, json: Json): Read {
  const [next, start] = openPart(state, keyOf(json), begun(itemIn(json)))
  return [next, pieces(start)]
}

function readDelta(state: DecodeState, json: Json, type: "text-delta" | "reasoning-delta" | "input-delta"): Read {
  const key = keyOf(json)
  const open = requirePart(state, key)
  const text = requireString(json, "delta")
  return [feedPart(state, key, open), pieces({ type, index: open.start.index, text })]
}

/** What was not streamed is told when the item is done: an item may come whole, without a delta or even a beginning. */
function readDone(state: DecodeState, json: Json): Read {
  const key = keyOf(json)
  const item = itemIn(json)
  const known = state.open.get(key)
  const whole = begun(item)
  const { parts } = readMessage(item, [])
  if (known !== undefined && !isSame(whole, known)) throw invalid(state, "the item that began", "another")
  const [opened, start] = known === undefined ? openPart(state, key, whole) : [state, known.start]
  const open: OpenPart = known ?? { start, fed: false }
  const said: Said[] = known === undefined ? [start] : []
  if (!open.fed) said.push(...wholeContent(item, parts, open))
  const seal = stringIn(item, "encrypted_content")
  if (start.part === "reasoning" && seal !== undefined) {
    said.push({ type: "signature-delta", index: start.index, signature: seal })
  }
  return [closePart(opened, key), pieces(...said, { type: "part-end", index: start.index })]
}

/** A call keeps its id and name: one that changes them could pass a check as one tool and run as another. */
function isSame(begun: Begun, { start }: OpenPart): boolean {
  if (begun.part !== "tool-call" || start.part !== "tool-call") return begun.part === start.part
  return begun.callId === start.callId && begun.tool === start.tool && begun.kind === start.kind
}

function wholeContent(item: Json, parts: readonly Part[], { start }: OpenPart): readonly Said[] {
  const { index } = start
  if (start.part === "tool-call") {
    const input = ["arguments", "input", "action", "operation"].flatMap((name) => member(item, name) ?? [])[0]
    if (input === undefined) return []
    return [{ type: "input-delta", index, text: typeof input.value === "string" ? input.value : wireOf(input) }]
  }
  const texts = parts.flatMap((part) => (part.type === "text" || part.type === "reasoning" ? part.text : []))
  const text = texts.join("")
  if (text === "" || start.part === "other") return []
  return [{ type: start.part === "text" ? "text-delta" : "reasoning-delta", index, text }]
}

/** A backend may leave the finished answer's output out; whether it calls tools is known from what was streamed. */
function readEnd(state: DecodeState, response: Json): Read {
  const [counted, said] = usagePieces(state, readUsage(member(response, "usage")))
  const output = member(response, "output")
  const listed = output !== undefined && Array.isArray(output.value) && output.value.length > 0
  const items = listed ? elements(output) : state.calls > 0 ? [readJson(someCall, "response")] : []
  const messages = items.map((item) => readMessage(item, []))
  const [stopped, stop] = stopPiece(counted, stopOf(response, messages))
  return [{ ...stopped, closed: true }, pieces(...said, stop, endOf(stopped))]
}

/** Stands for the calls that were streamed: all that matters is that there was one. */
const someCall = '{"type":"function_call","call_id":"","name":"","arguments":""}'
