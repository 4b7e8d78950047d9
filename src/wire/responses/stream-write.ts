import type { Wire } from "../../message/ids.ts"
import type { StopReason } from "../../message/request.ts"
import { countIn, stringIn } from "../expect.ts"
import { isObject, type Json, member, readJson, wireOf } from "../json.ts"
import { type Fields, write as json, overlay, writeList } from "../overlay.ts"
import type { SseEvent } from "../sse.ts"
import { replaceData } from "../sse-write.ts"
import { indexOf, type StreamEvent } from "../stream.ts"
import type { EncodeState, Written } from "../stream-codec.ts"

/** The number of the next event: ours, or one more than the last that was relayed as it came. */
export function sequenceOf({ sequence, last }: EncodeState): number {
  if (sequence !== undefined) return sequence
  const before = last === undefined ? undefined : countIn(readJson(last.data, "response"), "sequence_number")
  return before === undefined ? 0 : before + 1
}

/** Number events and items anew, and let the finished answer list what was really sent. */
export function rewrite(state: EncodeState, kept: readonly StreamEvent[]): Written {
  const [first] = kept
  const sse = first?.wire?.sse
  if (first === undefined || sse === undefined || !isLeft(state, kept)) return [state, []]
  const body = readJson(sse.data, "response")
  const index = indexOf(first)
  const part = index === undefined ? undefined : state.open.get(index)
  const stop = kept.find((event) => event.type === "response-stop")
  const response = member(body, "response")
  const name = stop === undefined ? undefined : endName(stop.stop, stringIn(body, "type"))
  const sequence = sequenceOf(state)
  const isNumbered = !state.intact && countIn(body, "sequence_number") !== undefined
  const fields: Fields = {
    ...(name === undefined ? {} : { type: json(name) }),
    ...(isNumbered ? { sequence_number: json(sequence) } : {}),
    ...(part === undefined || countIn(body, "output_index") === undefined ? {} : { output_index: json(part.index) }),
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

/** A part that never began goes unmentioned, an answer begins once, and its end is not told twice over by its usage. */
function isLeft(state: EncodeState, kept: readonly StreamEvent[]): boolean {
  const [first] = kept
  if (first === undefined) return false
  if (first.type === "response-start") return first === state.start
  if (first.type === "usage" || first.type === "response-stop") {
    return kept.some((event) => event.type === "response-end")
  }
  const index = indexOf(first)
  return index === undefined || state.open.has(index)
}

/** The closing event for that stop, where the one that came says another. */
function endName(stop: StopReason, type: string | undefined): string | undefined {
  const wanted = incompleteReason(stop) === undefined ? "response.completed" : "response.incomplete"
  return wanted === type ? undefined : wanted
}

/** Only a length or a refusal shows on this wire; all other stops are a completed answer. */
export function incompleteReason(stop: StopReason): string | undefined {
  if (stop === "length" || stop === "context-window") return "max_output_tokens"
  return stop === "refusal" ? "content_filter" : undefined
}

function responseFields(state: EncodeState, response: Json, stop: StopReason | undefined): Fields {
  const { id } = state.start ?? {}
  const named: Fields = id === undefined || stringIn(response, "id") === undefined ? {} : { id: json(id) }
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
  return { status: json(status), incomplete_details: json(reason === undefined ? null : { reason }) }
}

/** The items that went out, in order. */
export function outputOf({ ended }: EncodeState): readonly Wire[] {
  return ended.map((end) => (typeof end === "string" ? end : itemOf(end)))
}

function itemOf(end: SseEvent): Wire {
  const item = member(readJson(end.data, "response"), "item")
  return item === undefined ? json(null) : wireOf(item)
}
