import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { ModelResponse, Usage } from "../message/request.ts"
import { decodeResponse } from "../wire/decode.ts"
import { isObject } from "../wire/json.ts"
import { appendAnswer } from "./ingest.ts"
import type { Live } from "./live.ts"
import { type EntryBody, entryId } from "./log/entry.ts"
import type { Trace } from "./log/trace.ts"
import { learn } from "./open-live.ts"
import { durability } from "./prepare.ts"

/** What came of a call: the answer's entries, and what the provider says it took. */
export type Recorded = {
  readonly entries: readonly string[]
  readonly durable: boolean
  readonly trace: Trace
  /** Of the tokens that were sent: read from the provider's cache, written to it, and neither. Only what was reported. */
  readonly usage?: Usage & { readonly uncachedTokens: number }
}

/** A whole answer: as it was read, as its text or value on the wire, or its messages alone. */
export type ResponseLike = ModelResponse | string | object

export async function record(live: Live, response: ResponseLike, reported?: Usage): Promise<Recorded> {
  const answer = readResponse(response, live.frame?.format ?? live.client?.format ?? live.options.format)
  const usage = reported ?? answer.usage
  const report = reportOf(live, usage)
  const beside = report === undefined ? [] : [report]
  const { placed } = await appendAnswer(live, answer.messages, beside)
  // Of a history that the provider holds we saw only the end.
  if (report !== undefined && live.sent?.held === false) learn(live, report)
  const read = present({ inputTokens: usage?.inputTokens, cacheReadTokens: usage?.cacheReadTokens })
  live.emit({ type: "answer-recorded", ...read })
  return {
    entries: placed.map(entryId),
    durable: live.journal.isDurable(),
    trace: durability(live),
    ...present({ usage: usage === undefined ? undefined : { ...usage, uncachedTokens: uncached(usage) } }),
  }
}

type Report = Extract<EntryBody, { type: "usage-reported" }>

const reportOf = ({ sent }: Live, usage: Usage | undefined): Report | undefined =>
  usage === undefined || sent === undefined
    ? undefined
    : { type: "usage-reported", model: sent.model, estimatedTokens: sent.tokens, usage }

const uncached = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)

export function readResponse(response: ResponseLike, format: Format | undefined): ModelResponse {
  if (isAnswer(response)) return response
  if (format === undefined) {
    const expected = "a format, said by prepare() or in the options, to read the answer in"
    throw new HoldfastError({ code: "option-invalid", option: "format", expected, found: "nothing" })
  }
  return decodeResponse(format, typeof response === "string" ? response : JSON.stringify(response))
}

/** Read already, by us: our messages have parts and ids. */
function isAnswer(value: ResponseLike): value is ModelResponse {
  if (!isObject(value) || !Array.isArray(value.messages)) return false
  return value.messages.every(
    (message) => isObject(message) && typeof message.id === "string" && Array.isArray(message.parts),
  )
}
