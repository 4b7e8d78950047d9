import { callId, type Wire } from "../../message/ids.ts"
import type { CallKind } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { Usage } from "../../message/request.ts"
import { countIn, refuse, requireObject, requireString, stringIn } from "../expect.ts"
import { isObject, type Json, member, readJson, wireOf } from "../json.ts"
import { overlay } from "../overlay.ts"
import type { SseEvent } from "../sse.ts"
import type { Said } from "../stream.ts"
import type { DecodeState, Read } from "../stream-codec.ts"
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
import { readBlock } from "./read.ts"
import { readUsage, stopOf } from "./response.ts"

/** What one event says. Blocks are numbered on the wire; types that we do not know are relayed. */
export function read(state: DecodeState, sse: SseEvent): Read {
  const json = requireObject(readJson(sse.data, "response"))
  switch (stringIn(json, "type") ?? sse.name) {
    case "message_start":
      return readStart(state, requireObject(member(json, "message") ?? refuse(json, "an object", "message")))
    case "content_block_start":
      return readBlockStart(state, json)
    case "content_block_delta":
      return readDelta(state, json)
    case "content_block_stop":
      return readBlockStop(state, json)
    case "message_delta":
      return readMessageDelta(state, json)
    case "message_stop":
      return [{ ...state, closed: true }, pieces(endOf(state))]
    case "error":
      return [{ ...state, closed: true }, pieces(errorOf(member(json, "error")))]
    default:
      return [state, pieces({ type: "other" })]
  }
}

function readStart(state: DecodeState, message: Json): Read {
  if (state.started) throw invalid(state, "one beginning", "a second one")
  const start: Said = {
    type: "response-start",
    ...present({ id: stringIn(message, "id"), model: stringIn(message, "model") }),
  }
  const [next, said] = readUsageSoFar({ ...state, started: true }, member(message, "usage"))
  return [next, pieces(start, ...said)]
}

/** Later counts replace earlier ones; those that are left out or null still hold. */
function readUsageSoFar(state: DecodeState, usage: Json | undefined): readonly [DecodeState, readonly Said[]] {
  if (usage === undefined || !isObject(usage.value)) return [state, []]
  const fields: Record<string, Wire> = {}
  for (const [name, value] of Object.entries(usage.value)) {
    const field = member(usage, name)
    if (value !== null && field !== undefined) fields[name] = wireOf(field)
  }
  const usageWire = overlay(state.usageWire, fields)
  const total: Usage | undefined = readUsage(readJson(usageWire, "response"))
  return usagePieces({ ...state, usageWire }, total)
}

const callKinds: ReadonlyMap<string, CallKind> = new Map([
  ["tool_use", "function"],
  ["server_tool_use", "provider"],
  ["mcp_tool_use", "provider"],
])

const keyOf = (json: Json): string => String(countIn(json, "index") ?? refuse(json, "a whole number", "index"))

function begun(block: Json): Begun {
  const type = requireString(block, "type")
  const kind = callKinds.get(type)
  if (kind !== undefined) {
    return { part: "tool-call", callId: callId(requireString(block, "id")), tool: requireString(block, "name"), kind }
  }
  if (type === "text") return { part: "text" }
  if (type === "thinking" || type === "redacted_thinking") return { part: "reasoning" }
  readBlock(block) // refuses here, and not when the answer is put together, what it cannot read
  return { part: "other" }
}

/** Text that stands in the beginning already counts as the first delta; input that stands there only if no delta follows. */
function readBlockStart(state: DecodeState, json: Json): Read {
  const block = requireObject(member(json, "content_block") ?? refuse(json, "an object", "content_block"))
  const part = begun(block)
  const input = part.part === "tool-call" ? member(block, "input") : undefined
  const [next, start] = openPart(state, keyOf(json), part, input === undefined ? undefined : wireOf(input))
  const { index } = start
  const text = stringIn(block, part.part === "text" ? "text" : "thinking")
  const signature = stringIn(block, "signature")
  const said: Said[] = [start]
  if (part.part === "text" && text) said.push({ type: "text-delta", index, text })
  if (part.part === "reasoning" && text) said.push({ type: "reasoning-delta", index, text })
  if (part.part === "reasoning" && signature) said.push({ type: "signature-delta", index, signature })
  return [next, pieces(...said)]
}

function readDelta(state: DecodeState, json: Json): Read {
  const key = keyOf(json)
  const open = requirePart(state, key)
  const { index, part } = open.start
  const delta = requireObject(member(json, "delta") ?? refuse(json, "an object", "delta"))
  const type = stringIn(delta, "type")
  if (type === "text_delta" && part === "text")
    return [state, pieces({ type: "text-delta", index, text: requireString(delta, "text") })]
  if (type === "thinking_delta" && part === "reasoning")
    return [state, pieces({ type: "reasoning-delta", index, text: requireString(delta, "thinking") })]
  if (type === "signature_delta" && part === "reasoning")
    return [state, pieces({ type: "signature-delta", index, signature: requireString(delta, "signature") })]
  if (type === "input_json_delta" && part === "tool-call") {
    const text = requireString(delta, "partial_json")
    return [text === "" ? state : feedPart(state, key, open), pieces({ type: "input-delta", index, text })]
  }
  return [state, pieces({ type: "other", index })]
}

function readBlockStop(state: DecodeState, json: Json): Read {
  const key = keyOf(json)
  const { start, fed, input } = requirePart(state, key)
  const { index } = start
  const whole: readonly Said[] = fed || input === undefined ? [] : [{ type: "input-delta", index, text: input }]
  return [closePart(state, key), pieces(...whole, { type: "part-end", index })]
}

function readMessageDelta(state: DecodeState, json: Json): Read {
  const [counted, said] = readUsageSoFar(state, member(json, "usage"))
  const reason = stringIn(member(json, "delta"), "stop_reason")
  if (reason === undefined) return [counted, pieces(...said)]
  const [stopped, stop] = stopPiece(counted, stopOf(reason))
  return [stopped, pieces(...said, stop)]
}
