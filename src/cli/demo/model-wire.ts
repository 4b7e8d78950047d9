import { countO200k } from "../../tokens/counter.ts"
import type { CacheUse, PromptPiece } from "../../tokens/prompt-cache.ts"
import { isObject } from "../../wire/json.ts"
import { createSseEvent } from "../../wire/sse.ts"

/** What the demo's model says to one request. */
export type ModelAnswer = {
  /** Unlike that of any other step of the story: calls are named by it, and a result says by its call which step comes next. */
  readonly step: string
  readonly text?: string
  readonly calls: readonly ScriptedCall[]
}

export type ScriptedCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }

type ModelUsage = CacheUse & { readonly outputTokens: number }

/** Calls of one step are told apart by their number. */
export const callIdOf = (step: string, n: number): string => `toolu_demo_${step}_${n}`

export const stepOfCall = (id: string): string | undefined => /^toolu_demo_(\w{1,20})_\d{1,3}$/.exec(id)?.[1]

const usageOf = ({ readTokens, writtenTokens, uncachedTokens, outputTokens }: ModelUsage) => ({
  input_tokens: uncachedTokens,
  cache_creation_input_tokens: writtenTokens,
  cache_read_input_tokens: readTokens,
  output_tokens: outputTokens,
})

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: ScriptedCall["input"] }

const blocksOf = ({ step, text, calls }: ModelAnswer): readonly Block[] => [
  ...(text === undefined ? [] : [{ type: "text", text } as const]),
  ...calls.map(({ tool, input }, n) => ({ type: "tool_use", id: callIdOf(step, n), name: tool, input }) as const),
]

const stopOf = ({ calls }: ModelAnswer): string => (calls.length > 0 ? "tool_use" : "end_turn")

const envelope = (model: string, id: number) => ({ id: `msg_demo_${id}`, type: "message", role: "assistant", model })

export const wholeAnswer = (answer: ModelAnswer, usage: ModelUsage, model: string, id: number): string =>
  JSON.stringify({
    ...envelope(model, id),
    content: blocksOf(answer),
    stop_reason: stopOf(answer),
    stop_sequence: null,
    usage: usageOf(usage),
  })

type WireEvent = { readonly type: string; readonly index?: number; readonly [field: string]: unknown }

/** The same as a stream of server-sent events, in the order that the API has. */
export function streamedAnswer(
  answer: ModelAnswer,
  usage: ModelUsage,
  model: string,
  id: number,
): readonly Uint8Array[] {
  const message = { ...envelope(model, id), content: [], stop_reason: null, stop_sequence: null }
  const { output_tokens: _, ...input } = usageOf(usage)
  return [
    { type: "message_start", message: { ...message, usage: { ...input, output_tokens: 1 } } },
    ...blocksOf(answer).flatMap(blockEvents),
    { type: "message_delta", delta: { stop_reason: stopOf(answer), stop_sequence: null }, usage: usageOf(usage) },
    { type: "message_stop" },
  ].map((event) => createSseEvent(JSON.stringify(event), event.type).raw)
}

function blockEvents(block: Block, index: number): readonly WireEvent[] {
  const empty = block.type === "text" ? { ...block, text: "" } : { ...block, input: {} }
  const deltas =
    block.type === "text"
      ? piecesOfAnswer(block.text).map((text) => ({ type: "text_delta", text }))
      : piecesOfAnswer(JSON.stringify(block.input)).map((partial) => ({
          type: "input_json_delta",
          partial_json: partial,
        }))
  const start = { type: "content_block_start", index, content_block: empty }
  return [
    start,
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]
}

/** Characters in one piece of a streamed text: some words. */
const pieceLength = 24

const piecesOfAnswer = (text: string): readonly string[] => {
  const points = Array.from(text)
  return Array.from({ length: Math.ceil(points.length / pieceLength) }, (_, n) =>
    points.slice(n * pieceLength, (n + 1) * pieceLength).join(""),
  )
}

/** An error in the words of the API. */
export const errorAnswer = (type: string, message: string): string =>
  JSON.stringify({ type: "error", error: { type, message } })

/** The blocks of an Anthropic request in the order of its cache: tools, system, messages. What cannot be read takes nothing. */
export function blocksInCacheOrder(body: unknown): readonly PromptPiece[] {
  if (!isObject(body)) return []
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : []
  return [
    ...requestBlocks(body.tools).map((tool) => pieceOf("tool", tool)),
    ...requestBlocks(body.system).map((block) => pieceOf("system", block)),
    ...messages.flatMap(({ role, content }) => requestBlocks(content).map((block) => pieceOf(String(role), block))),
  ]
}

/** A text stands for one block of text, as on the wire. */
const requestBlocks = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  typeof value === "string" ? [{ type: "text", text: value }] : Array.isArray(value) ? value.filter(isObject) : []

/** Breakpoints move from call to call; what they stand on is the same block. */
function pieceOf(
  place: string,
  { cache_control: breakpoint, ...block }: Readonly<Record<string, unknown>>,
): PromptPiece {
  const json = JSON.stringify(block)
  return {
    content: `${place} ${json}`,
    tokens: countO200k(json),
    isBreakpoint: breakpoint !== undefined && breakpoint !== null,
  }
}
