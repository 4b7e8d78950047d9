import { createSseEvent } from "../../wire/sse.ts"
import type { CompactedWhole } from "./compact-whole.ts"
import type { OwnAnswer } from "./own-answer.ts"
import { ownResponseId } from "./own-item.ts"

/** No model was asked, so nothing was used. */
const usage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

export type AnswerFacts = {
  /** What tells this answer from any other. */
  readonly seed: string
  readonly atMs: number
  readonly model?: string
}

const secondsOf = ({ atMs }: AnswerFacts): number => Math.floor(atMs / 1000)

/** The answer to `POST /v1/responses/compact`: the user's messages, then the item that stands for all the rest. */
export function compactedResponse({ item, kept }: CompactedWhole, facts: AnswerFacts): OwnAnswer {
  const body = {
    id: ownResponseId(facts.seed),
    object: "response.compaction",
    created_at: secondsOf(facts),
    output: [...kept, item],
    usage,
  }
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
}

/** The response of a request that ended in a `compaction_trigger`: the one item. */
export function triggeredResponse({ item }: CompactedWhole, facts: AnswerFacts): object {
  return { ...responseOf(facts, "completed"), output: [item], usage }
}

const responseOf = (facts: AnswerFacts, status: "in_progress" | "completed"): object => ({
  id: ownResponseId(facts.seed),
  object: "response",
  created_at: secondsOf(facts),
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: facts.model ?? "",
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: null,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: null,
  truncation: "disabled",
  usage: null,
  metadata: {},
})

/** The same as an answer, whole or as a stream. */
export function triggeredAnswer(compacted: CompactedWhole, facts: AnswerFacts, stream: boolean): OwnAnswer {
  const response = triggeredResponse(compacted, facts)
  if (!stream) return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(response) }
  const begun = responseOf(facts, "in_progress")
  const { item } = compacted
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ].map(({ type, ...rest }, n) => createSseEvent(JSON.stringify({ type, sequence_number: n, ...rest }), type).raw)
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: Buffer.concat(events).toString("utf8"),
  }
}
