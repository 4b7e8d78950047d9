import type { Format, ModelResponse, StopReason, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { noteRead } from "./codec.ts"
import { codecOf, streamCodecs } from "./codecs.ts"
import {
  indexOf,
  type LinkedList,
  listOf,
  type PartDraft,
  type ResponseStart,
  type StreamEvent,
  withDelta,
} from "./stream.ts"

/** A part while it is being collected, and its place among the parts. */
type Draft = Omit<PartDraft, "others"> & { readonly others: LinkedList<StreamEvent>; readonly place: number }

/** Where the collecting of an answer stands. Texts grow by appending, which costs no copy until they are read. */
export type CollectState = {
  readonly format: Format
  readonly start?: StreamEvent & ResponseStart
  /** By the number that each part came with. */
  readonly open: ReadonlyMap<number, Draft>
  readonly begun: number
  readonly ended: LinkedList<Draft>
  readonly others: LinkedList<StreamEvent>
  readonly stop?: StopReason
  readonly usage?: Usage
  readonly end?: StreamEvent
}

export function startCollect(format: Format): CollectState {
  codecOf(format) // refuses a name that is none
  return { format, open: new Map(), begun: 0, ended: undefined, others: undefined }
}

/** Take in one event, of an upstream or of our own. */
export function collectStep(state: CollectState, event: StreamEvent): CollectState {
  switch (event.type) {
    case "response-start":
      return state.start === undefined ? { ...state, start: event } : state
    case "part-start": {
      const draft = { start: event, text: "", input: "", others: undefined, place: state.begun }
      const before = state.open.get(event.index)
      const ended = before !== undefined && isText(before) ? { item: before, before: state.ended } : state.ended
      return { ...state, ended, begun: state.begun + 1, open: new Map(state.open).set(event.index, draft) }
    }
    case "part-end":
      return endPart(state, event)
    case "usage":
      return { ...state, usage: event.usage }
    case "response-stop":
      return { ...state, stop: event.stop }
    case "response-end":
      return { ...state, stop: event.stop, end: event, ...present({ usage: event.usage }) }
    case "error":
      return state
    default:
      return grow(state, event)
  }
}

/** May it be kept even if it never ended? */
const isText = ({ start }: Draft): boolean => start.part === "text" || start.part === "reasoning"

function endPart(state: CollectState, event: StreamEvent & { readonly index: number }): CollectState {
  const draft = state.open.get(event.index)
  if (draft === undefined) return state
  const open = new Map(state.open)
  open.delete(event.index)
  return { ...state, open, ended: { item: { ...draft, end: event }, before: state.ended } }
}

function grow(state: CollectState, event: StreamEvent): CollectState {
  const index = indexOf(event)
  const { collectsOthers } = streamCodecs[state.format]
  if (index === undefined) {
    const kept = collectsOthers === "all" && event.wire?.sse.type === "event" && event.wire.sse.data !== ""
    return kept ? { ...state, others: { item: event, before: state.others } } : state
  }
  const draft = state.open.get(index)
  if (draft === undefined || (event.type === "other" && collectsOthers === "none")) return state
  const others = event.type === "other" ? { item: event, before: draft.others } : draft.others
  return { ...state, open: new Map(state.open).set(index, { ...withDelta(draft, event), others }) }
}

/**
 * The answer so far, equal to the one read whole: same parts, and as its wire what a client sends back in its next request.
 * Text that was cut off is kept; a tool call that did not end is not, for it must not be acted on.
 */
export function collectEnd({ format, open, ended, stop, usage, ...state }: CollectState): ModelResponse {
  const cut = [...open.values()].filter(isText)
  const drafts = [...listOf(ended), ...cut].sort((one, other) => one.place - other.place)
  const parts = drafts.map(({ place: _, others, ...draft }): PartDraft => ({ ...draft, others: listOf(others) }))
  const others = listOf(state.others)
  const { start, end } = state
  const said = { stop: stop ?? "other", ...present({ usage }) }
  const answer = streamCodecs[format].assemble({ parts, others, ...said, ...present({ start, end }) })
  for (const message of answer.messages) noteRead(message.parts)
  return { ...answer, ...said, ...present({ id: start?.id, model: start?.model }) }
}

/** Collect a whole stream, or the held events of one part. */
export function collect(format: Format, events: Iterable<StreamEvent>): ModelResponse {
  let state = startCollect(format)
  for (const event of events) state = collectStep(state, event)
  return collectEnd(state)
}
