import { createdAt } from "./ids.ts"
import { modelJson } from "./json.ts"
import { itemId, itemOf, responseOf, statusOf, textPart } from "./responses-items.ts"
import { deltas, type Piece, type Reply, type WireEvent } from "./wire.ts"

/** An event without a sequence number. */
type Draft = { readonly type: string; readonly fields: object; readonly holds?: "arguments" | "text" }

const draft = (type: string, fields: object, holds?: "arguments" | "text"): Draft => ({
  type,
  fields,
  ...(holds === undefined ? {} : { holds }),
})

function reasoningDrafts(text: string, item_id: string, output_index: number): readonly Draft[] {
  const at = { item_id, output_index, summary_index: 0 }
  const part = (text: string) => ({ part: { type: "summary_text", text } })
  return [
    draft("response.reasoning_summary_part.added", { ...at, ...part("") }),
    ...deltas(text).map((delta) => draft("response.reasoning_summary_text.delta", { ...at, delta }, "text")),
    draft("response.reasoning_summary_text.done", { ...at, text }),
    draft("response.reasoning_summary_part.done", { ...at, ...part(text) }),
  ]
}

function textDrafts(text: string, item_id: string, output_index: number): readonly Draft[] {
  const at = { item_id, output_index, content_index: 0 }
  return [
    draft("response.content_part.added", { ...at, part: textPart("") }),
    ...deltas(text).map((delta) => draft("response.output_text.delta", { ...at, delta, logprobs: [] }, "text")),
    draft("response.output_text.done", { ...at, text, logprobs: [] }),
    draft("response.content_part.done", { ...at, part: textPart(text) }),
  ]
}

function callDrafts(input: string, item_id: string, output_index: number): readonly Draft[] {
  const at = { item_id, output_index }
  return [
    ...deltas(input).map((delta) => draft("response.function_call_arguments.delta", { ...at, delta }, "arguments")),
    draft("response.function_call_arguments.done", { ...at, arguments: input }),
  ]
}

function contentDrafts(piece: Piece, n: number, reply: Reply): readonly Draft[] {
  switch (piece.type) {
    case "reasoning":
      return reasoningDrafts(piece.text, itemId(piece, n, reply), n)
    case "text":
      return textDrafts(piece.text, itemId(piece, n, reply), n)
    case "call":
      return callDrafts(modelJson(piece.input), itemId(piece, n, reply), n)
    case "block":
      return []
  }
}

const itemDrafts = (piece: Piece, n: number, reply: Reply): readonly Draft[] => [
  draft("response.output_item.added", { output_index: n, item: itemOf(piece, n, reply, "in_progress") }),
  ...contentDrafts(piece, n, reply),
  draft("response.output_item.done", { output_index: n, item: itemOf(piece, n, reply, "completed") }),
]

/** Numbers the drafts in order, starting at `first`. */
export const numbered = (drafts: readonly Draft[], first: number): readonly WireEvent[] =>
  drafts.map(({ type, fields, holds }, n) => ({
    name: type,
    data: JSON.stringify({ type, sequence_number: first + n, ...fields }),
    ...(holds === undefined ? {} : { holds }),
  }))

/** Returns the whole stream of one response. */
export function responsesEvents(reply: Reply): readonly WireEvent[] {
  const created = createdAt(reply.index)
  const begun = { response: responseOf(reply, "in_progress", created) }
  const status = statusOf(reply)
  const drafts = [
    draft("response.created", begun),
    draft("response.in_progress", begun),
    ...reply.pieces.flatMap((piece, n) => itemDrafts(piece, n, reply)),
    draft(`response.${status}`, { response: responseOf(reply, status, created) }),
  ]
  return numbered(drafts, 0)
}
