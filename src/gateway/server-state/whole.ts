import { wireText } from "../../message/ids.ts"
import type { ModelRequest } from "../../message/request.ts"
import { isObject, overlay, tryParse } from "../../wire/json.ts"
import { bodyFields } from "../identity/body-fields.ts"
import type { Chain } from "./chain.ts"
import { elementTexts, withElements } from "./element-texts.ts"
import { type Expanded, expandElements, type Items } from "./expand-elements.ts"

/** A request with everything that it stands for: what the provider holds, what it names by id, what a compaction of ours holds. */
export type Whole = {
  /** As the client sent it. */
  readonly request: ModelRequest
  /** The body as it would be if the client carried all of it itself. The client's own text where it does. */
  readonly text: string
  /** What it goes on from. */
  readonly before?: Chain
  readonly expanded: readonly Expanded[]
  /** Is the provider to keep the answer, so that the client may go on from it? */
  readonly stores: boolean
}

export function wholeOf(request: ModelRequest, before: Chain | undefined, items: Items): Whole {
  const expanded = expandElements(elementTexts(request), request.format === "openai-responses" ? items : noItems)
  const stores = storesAnswer(request)
  const isPlain = before === undefined && expanded.every(({ type }) => type === "itself")
  if (isPlain) return { request, text: request.wire, expanded, stores }
  const text = bodyOf(request, before, [...(before?.elements ?? []), ...expanded.flatMap(({ texts }) => texts)])
  return { request, text, expanded, stores, ...(before === undefined ? {} : { before }) }
}

/** Only on OpenAI Responses are items named by their ids. */
const noItems: Items = { find: () => undefined, isLost: () => false }

/** All elements of the whole: what it goes on from, and what is new. */
export const wholeElements = ({ before, expanded }: Whole): readonly string[] => [
  ...(before?.elements ?? []),
  ...expanded.flatMap(({ texts }) => texts),
]

function bodyOf(request: ModelRequest, before: Chain | undefined, elements: readonly string[]): string {
  if (request.format === "anthropic-messages")
    return withElements(request.format, before?.frame ?? request.wire, elements)
  const wire =
    before === undefined ? request.wire : overlay(wireText(request.wire), { previous_response_id: undefined })
  return withElements(request.format, wire, elements)
}

/** Responses are kept unless the client says otherwise; of Anthropic's messages only those of a thread are. */
export function storesAnswer(request: ModelRequest): boolean {
  const fields = bodyFields(request)
  if (request.format === "openai-responses") return fields.store !== false
  return request.format === "anthropic-messages" && isObject(fields.thread)
}

/** The last element asks for the conversation to be compacted. */
export function asksToCompact({ format, messages }: ModelRequest): boolean {
  const [only] = messages.at(-1)?.parts ?? []
  return format === "openai-responses" && only?.type === "opaque" && only.kind === "compaction_trigger"
}

/** The whole without the element that asks for a compaction. */
export function withoutTrigger(whole: Whole): Whole {
  if (!asksToCompact(whole.request)) return whole
  const expanded = whole.expanded.slice(0, -1)
  const text = bodyOf(whole.request, whole.before, wholeElements({ ...whole, expanded }))
  return { ...whole, expanded, text }
}

/** The body's system part and tools, which a thread keeps, as one text. */
export function frameText(wire: string): string {
  const body = tryParse(wire)
  return isObject(body) ? JSON.stringify([body.system ?? null, body.tools ?? null]) : ""
}
