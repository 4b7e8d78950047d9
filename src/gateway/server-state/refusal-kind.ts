import type { Format } from "../../message/message.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/** A request that an upstream refused: with what, in its own words. */
export type Refused = { readonly status: number; readonly body: string }

/**
 * What an upstream misses or minds, where that can be mended: it does not have the answer that the request goes on from, or an item
 * that it names; or it minds reasoning whose surroundings changed.
 */
export type RefusalKind = "previous-unknown" | "item-unknown" | "reasoning"

/** An error is a few lines; what is longer is something else. */
const maxLength = 100_000
const maxMessage = 4000

type Said = { readonly code: string; readonly message: string; readonly param: string }

function saidIn(body: string): Said {
  const parsed = body.length > maxLength ? undefined : tryParse(body)
  const outer = isObject(parsed) ? (parsed.error ?? parsed.detail ?? parsed) : body
  const error = isObject(outer) ? outer : { message: outer }
  const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, maxMessage) : "")
  return { code: text(error.code), message: text(error.message), param: text(error.param) }
}

export function refusalKind(format: Format, { status, body }: Refused): RefusalKind | undefined {
  if (status !== 400 && status !== 404 && status !== 422) return undefined
  const { code, message } = saidIn(body)
  const words = message.toLowerCase()
  if (format === "openai-responses") {
    const isMissing = words.includes("not found") || words.includes("does not exist")
    if (code === "previous_response_not_found" || isNotTaken(words, "previous_response_id")) return "previous-unknown"
    if (isMissing && words.includes("response with id")) return "previous-unknown"
    if (isMissing && words.includes("previous response")) return "previous-unknown"
    if ((isMissing && /\bitems?\b/.test(words)) || isNotTaken(words, "item_reference")) return "item-unknown"
  }
  return status !== 404 && mindsReasoning(words) ? "reasoning" : undefined
}

/** Words of upstreams that keep nothing for their clients. */
const notTakenWords = [
  "not supported",
  "unsupported",
  "invalid",
  "unknown",
  "not allowed",
  "not permitted",
  "unrecognized",
]

const isNotTaken = (words: string, name: string): boolean =>
  words.includes(name) && notTakenWords.some((word) => words.includes(word))

const reasoningWords = [
  "thinking",
  "reasoning",
  "encrypted content",
  "encrypted_content",
  "thought signature",
  "thought_signature",
]
const mindedWords = [
  "signature",
  "cannot be modified",
  "could not be verified",
  "could not be decrypted",
  "without its required",
  "binding",
  "bound to",
  "prefix",
  "invalid",
  "not valid",
  "corrupted",
  "expected `thinking`",
  "must start with a thinking block",
]

const mindsReasoning = (words: string): boolean =>
  reasoningWords.some((word) => words.includes(word)) && mindedWords.some((word) => words.includes(word))

/** Does an upstream say that it knows nothing of compacting: no such endpoint, no such item? */
export function knowsNoCompaction({ status, body }: Refused): boolean {
  if (status === 405 || status === 501) return true
  const { code, message, param } = saidIn(body)
  if (status === 404) return code !== "model_not_found" && code !== "previous_response_not_found"
  if (status !== 400 && status !== 422) return false
  return `${message} ${param}`.includes("compaction") || body.slice(0, maxLength).includes("compaction_trigger")
}
