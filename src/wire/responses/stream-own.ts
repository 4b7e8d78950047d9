import { describe, type Problem } from "../../message/errors.ts"
import type { Wire } from "../../message/ids.ts"
import type { Usage } from "../../message/request.ts"
import { member, readJson, wireOf } from "../json.ts"
import { type Fields, write as json, overlay, writeList, writeObject } from "../overlay.ts"
import type { SseEvent } from "../sse.ts"
import { createSseEvent } from "../sse-write.ts"
import { indexOf, type StreamEvent } from "../stream.ts"
import type { EncodeState, Written, WrittenPart } from "../stream-codec.ts"
import { incompleteReason, outputOf, sequenceOf } from "./stream-write.ts"

/** An event that has no number yet. */
type Draft = { readonly type: string; readonly fields: Fields }

const draft = (type: string, fields: Fields): Draft => ({ type, fields })

/** Write an event of our own: all that this wire wants said about it, numbered on from what went before. */
export function write(state: EncodeState, event: StreamEvent): Written {
  const [next, drafts] = draftsOf(state, event)
  const first = sequenceOf(state)
  const events = drafts.map(({ type, fields }, n): SseEvent => {
    return createSseEvent(writeObject({ type: json(type), sequence_number: json(first + n), ...fields }), type)
  })
  return [{ ...next, sequence: first + events.length }, events]
}

function draftsOf(state: EncodeState, event: StreamEvent): readonly [EncodeState, readonly Draft[]] {
  switch (event.type) {
    case "response-start": {
      if (event !== state.start) return [state, []]
      const response = responseOf(state, { status: json("in_progress"), output: json([]) })
      return [state, [draft("response.created", { response }), draft("response.in_progress", { response })]]
    }
    case "response-end":
      return [state, [endDraft(state)]]
    case "error":
      return [state, [draft("error", errorFields(event.problem))]]
    default: {
      const index = indexOf(event)
      const part = index === undefined ? undefined : state.open.get(index)
      if (part === undefined) return [state, []]
      if (event.type !== "part-end") return [state, partDrafts(part, itemId(state, part), event)]
      const item = itemOf(part, itemId(state, part), true)
      const done = draft("response.output_item.done", { output_index: json(part.index), item })
      return [{ ...state, ended: [...state.ended, item] }, [...doneDrafts(part, itemId(state, part)), done]]
    }
  }
}

// The answer

/** The response object as the answer began with it, or the least that clients look for. */
function responseOf({ start }: EncodeState, fields: Fields): Wire {
  const began = start?.wire === undefined ? undefined : member(readJson(start.wire.sse.data, "response"), "response")
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
  return overlay(json({ ...least, ...rest }), fields)
}

function endDraft(state: EncodeState): Draft {
  const reason = incompleteReason(state.stop ?? "other")
  const status = reason === undefined ? "completed" : "incomplete"
  const response = responseOf(state, {
    status: json(status),
    incomplete_details: json(reason === undefined ? null : { reason }),
    output: writeList(outputOf(state)),
    ...(state.usage === undefined ? {} : { usage: usageOf(state.usage) }),
  })
  return draft(`response.${status}`, { response })
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Wire {
  return json({
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  })
}

function errorFields(problem: Problem): Fields {
  const upstream = problem.code === "upstream-error"
  const message = upstream ? problem.message : describe(problem).sentence
  return { code: json(upstream ? problem.type : "server_error"), message: json(message), param: json(null) }
}

// Items

const prefixes = { text: "msg", other: "msg", reasoning: "rs", "tool-call": "fc" } as const

/** Derived from the answer's id and the item's place, so that the same stream is written the same way twice. */
function itemId({ start }: EncodeState, { start: { part }, index }: WrittenPart): string {
  return `${prefixes[part]}_${(start?.id ?? "holdfast").replace(/^resp_/, "")}_${index}`
}

const textPart = (text: string): object => ({ type: "output_text", annotations: [], logprobs: [], text })

/** An item of our own, as it begins or done. */
export function itemOf(part: WrittenPart, id: string, done: boolean): Wire {
  const status = done ? "completed" : "in_progress"
  const { start, text, input, signature } = part
  switch (start.part) {
    case "reasoning": {
      const seal = signature === undefined || !done ? {} : { encrypted_content: signature }
      return json({
        id,
        type: "reasoning",
        summary: done && text !== "" ? [{ type: "summary_text", text }] : [],
        ...seal,
      })
    }
    case "tool-call": {
      const named = { call_id: start.callId, name: start.tool }
      if (start.kind === "custom")
        return json({ id, type: "custom_tool_call", status, input: done ? input : "", ...named })
      return json({ id, type: "function_call", status, arguments: done ? input : "", ...named })
    }
    default:
      return json({ id, type: "message", status, content: done ? [textPart(text)] : [], role: "assistant" })
  }
}

function partDrafts(part: WrittenPart, id: string, event: StreamEvent): readonly Draft[] {
  const at: Fields = { item_id: json(id), output_index: json(part.index) }
  switch (event.type) {
    case "part-start": {
      const added = draft("response.output_item.added", {
        output_index: json(part.index),
        item: itemOf(part, id, false),
      })
      if (part.start.part === "tool-call") return [added]
      if (part.start.part === "reasoning") {
        const fields = { ...at, summary_index: json(0), part: json({ type: "summary_text", text: "" }) }
        return [added, draft("response.reasoning_summary_part.added", fields)]
      }
      return [added, draft("response.content_part.added", { ...at, content_index: json(0), part: json(textPart("")) })]
    }
    case "text-delta": {
      const fields = { ...at, content_index: json(0), delta: json(event.text), logprobs: json([]) }
      return [draft("response.output_text.delta", fields)]
    }
    case "reasoning-delta": {
      const fields = { ...at, summary_index: json(0), delta: json(event.text) }
      return [draft("response.reasoning_summary_text.delta", fields)]
    }
    case "input-delta":
      return [draft(`${inputName(part)}.delta`, { ...at, delta: json(event.text) })]
    default:
      return []
  }
}

const inputName = ({ start }: WrittenPart): string =>
  start.part === "tool-call" && start.kind === "custom"
    ? "response.custom_tool_call_input"
    : "response.function_call_arguments"

/** What is said about the content before the item itself is done. */
function doneDrafts(part: WrittenPart, id: string): readonly Draft[] {
  const { start, text, input, index } = part
  const at: Fields = { item_id: json(id), output_index: json(index) }
  if (start.part === "tool-call") {
    const whole: Fields =
      start.kind === "custom" ? { input: json(input) } : { arguments: json(input), name: json(start.tool) }
    return [draft(`${inputName(part)}.done`, { ...at, ...whole })]
  }
  if (start.part === "reasoning") {
    const place = { ...at, summary_index: json(0) }
    return [
      draft("response.reasoning_summary_text.done", { ...place, text: json(text) }),
      draft("response.reasoning_summary_part.done", { ...place, part: json({ type: "summary_text", text }) }),
    ]
  }
  const place = { ...at, content_index: json(0) }
  return [
    draft("response.output_text.done", { ...place, text: json(text), logprobs: json([]) }),
    draft("response.content_part.done", { ...place, part: json(textPart(text)) }),
  ]
}
