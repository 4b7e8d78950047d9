import type { Problem } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { isObject, tryParse } from "../wire/json.ts"

/** HTTP statuses of such a refusal; an error in a stream has none. */
const statuses: ReadonlySet<number | undefined> = new Set([undefined, 400, 413, 422])

const words =
  /\b(?:prompt|input|request|context|message) (?:is |was )?too (?:long|large)|\bcontext[ _](?:length|window|size|limit)|\bmaximum context|\bmaximum number of (?:input )?tokens|\btoo many (?:input )?tokens|\btoken (?:count|limit) .{0,40}exceed|\brequest_too_large\b/i

/**
 * True if the provider says that the request is longer than the model's window. Each provider has its own wording, and wordings change.
 */
export const saysTooLong = (problem: Problem): boolean =>
  problem.code === "upstream-error" && statuses.has(problem.status) && words.test(`${problem.type} ${problem.message}`)

/** Maximum length of an error body; an error has a few lines. */
const maxBodyLength = 1_000_000
const maxReadLength = 4000

/** Reads an upstream's refusal of a request that is too long, in any provider's wording; undefined for other errors. */
export function readContextError(
  format: Format,
  status: number | undefined,
  bodyText: string,
): ContextRefusal | undefined {
  if (!statuses.has(status) || bodyText.length > maxBodyLength) return undefined
  const { message, ...error } = readErrorBody(format, bodyText)
  const read = numbersIn(message)
  if (read !== undefined) return read
  const type = [error.type, error.code, error.status].filter((word) => word !== "").join(" ")
  const problem = { code: "upstream-error", type, message, ...present({ status }) } as const
  return saysTooLong(problem) ? {} : undefined
}

/** The error of a body in any of the known shapes; a body that is not JSON is the message itself. */
export function readErrorBody(format: Format, bodyText: string) {
  const parsed = tryParse(bodyText)
  const body = Array.isArray(parsed) ? parsed[0] : parsed
  const failed = format === "openai-responses" && isObject(body) ? body.response : undefined
  const response = isObject(failed) ? failed : body
  const outer = isObject(response) ? (response.error ?? response.detail ?? response) : bodyText
  const error = isObject(outer) ? outer : { message: outer }
  const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, maxReadLength) : "")
  const [type, code, status] = [error.type, error.code, error.status].map(text)
  return { type, code, status, message: text(error.message), param: text(error.param) }
}

/** The sizes that an upstream states when it refuses a request as too long, as far as it states them. */
export type ContextRefusal = {
  readonly windowTokens?: number
  readonly neededTokens?: number
  /** The input fits; only the requested answer of this many tokens does not. */
  readonly answerTokens?: number
}

/**
 * The known wordings, most specific first: `window`, `input` and `output` are token counts, `total` is input and output. Gaps between words
 * are bounded, so that no text makes a pattern slow.
 */
const wordings: readonly RegExp[] = [
  // Anthropic: input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000
  /context limit: (?<input>\d+) \+ (?<output>\d+) > (?<window>\d+)/i,
  // OpenAI, OpenRouter, vLLM, SGLang: … you requested 5000 tokens (4000 in the messages, 1000 in the completion)
  /maximum context length (?:is|of) (?<window>\d+) tokens?.{0,60}? requested (?:about |a total of )?(?<total>\d+) tokens?.{0,12}?(?<input>\d+) .{0,60}?(?<output>\d+) .{0,20}?(?:completion|output)/i,
  // vLLM: 'max_tokens' … is too large: 9000. This model's maximum context length is 8192 tokens and your request has 500 input tokens
  /is too large: (?<output>\d+)\..{0,30}maximum context length is (?<window>\d+) tokens.{0,30}has (?<input>\d+) input/i,
  // TGI: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4076 `inputs` tokens and 100 `max_new_tokens`
  /must be <= (?<window>\d+)\. Given: (?<input>\d+) .{0,20}tokens and (?<output>\d+) /i,
  // Anthropic: prompt is too long: 50123 tokens > 45000 maximum
  /too long: (?<input>\d+) tokens > (?<window>\d+)/i,
  // OpenAI: maximum context length is 45000 tokens. However, your messages resulted in 50123 tokens; xAI: maximum prompt length is …
  /(?:maximum|max) (?:context|prompt|model) length (?:is|of) (?<window>\d+).{0,80}?(?:resulted in|requested|contains|has)(?: about)? (?<input>\d+)/i,
  /configured limit of (?<window>\d+) tokens.{0,40}?resulted in (?<input>\d+)/i,
  // Gemini, Vertex, Copilot: token count (50123) exceeds the maximum number of tokens allowed (45000)
  /token count (?:is |of )?\(?(?<input>\d+)\)? (?:exceeds|but).{0,60}? \(?(?<window>\d+)\)?/i,
  /token count exceeds the maximum number of tokens allowed \(?(?<window>\d+)/i,
  // llama.cpp, SGLang, vLLM: (50123 tokens) exceeds the available context size (45000 tokens); (length 50123) is longer than … 45000
  /\((?:length )?(?<input>\d+)(?: tokens)?\) (?:exceeds|is longer than).{0,50}?(?:context|length|size).{0,20}?(?<window>\d+)/i,
  // Mistral: Prompt contains 50123 tokens …, too large for model with 45000 maximum context length
  /contains (?<input>\d+) tokens.{0,40}?too large for model with (?<window>\d+)/i,
  // Cohere: the prompt cannot exceed 128000 - received 130000; Kimi: token limit: 262144 (requested: 291351)
  /tokens.{0,40}? cannot exceed (?<window>\d+).{0,12}?received (?<input>\d+)/i,
  /token limit: (?<window>\d+) \(requested: (?<input>\d+)/i,
  /maximum context length (?:is|of) (?<window>\d+)/i,
]

/** Returns the token counts in an error message with a known wording. */
function numbersIn(message: string): ContextRefusal | undefined {
  const plain = message.replace(/(\d)[,_](?=\d{3})/g, "$1")
  for (const wording of wordings) {
    const found = wording.exec(plain)?.groups
    if (found === undefined) continue
    const [windowTokens, input, output, total] = [found.window, found.input, found.output, found.total].map(countOf)
    const needed = total ?? (input === undefined ? undefined : input + (output ?? 0))
    const onlyOutput = output !== undefined && windowTokens !== undefined && (input ?? 0) < windowTokens
    return present({ windowTokens, neededTokens: needed, answerTokens: onlyOutput ? output : undefined })
  }
  return undefined
}

function countOf(digits: string | undefined): number | undefined {
  const count = digits === undefined ? Number.NaN : Number(digits)
  return Number.isSafeInteger(count) ? count : undefined
}
