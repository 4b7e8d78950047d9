import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { saysTooLong } from "../model/too-long.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { type ContextRefusal, numbersIn } from "./context-error-wordings.ts"
import { errorBody, errorHeaders, type Said, type Shape, type WireError } from "./wire-error-shape.ts"

/** How much a request needs, and how much there is. */
export type ContextNeed = { readonly neededTokens: number; readonly windowTokens: number }

/** Each provider's own words for a request that is too long: clients know them, and compact when they read them. */
const words: Readonly<Record<Format, (need: ContextNeed) => Omit<Said, "status">>> = {
  "anthropic-messages": ({ neededTokens, windowTokens }) => ({
    message: `prompt is too long: ${neededTokens} tokens > ${windowTokens} maximum`,
  }),
  "openai-chat": ({ neededTokens, windowTokens }) => ({
    message: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${neededTokens} tokens. Please reduce the length of the messages.`,
    code: "context_length_exceeded",
    param: "messages",
  }),
  "openai-responses": () => ({
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    code: "context_length_exceeded",
    param: "input",
  }),
  gemini: ({ neededTokens, windowTokens }) => ({
    message: `The input token count (${neededTokens}) exceeds the maximum number of tokens allowed (${windowTokens}).`,
  }),
}

/** What a wire says of a request that is too long. */
export const contextSaid = (format: Format, need: ContextNeed): Said => ({ status: 400, ...words[format](need) })

/** The context error of a wire, to the letter. */
export function contextError(format: Format, need: ContextNeed, shape: Shape = {}): WireError {
  const said = contextSaid(format, need)
  return {
    status: said.status,
    headers: errorHeaders(format, shape, { pointless: true }),
    body: errorBody(format, said, shape),
  }
}

/** An error is a few lines; what is longer is something else. */
const maxBodyLength = 1_000_000
const maxMessageLength = 4000

/** Statuses that a refused request comes with; an error in a stream has none. */
const statuses: ReadonlySet<number | undefined> = new Set([undefined, 400, 413, 422])

/** Read an upstream's refusal of a request that is too long, in whichever provider's words; nothing if it says something else. */
export function readContextError(
  format: Format,
  status: number | undefined,
  bodyText: string,
): ContextRefusal | undefined {
  if (!statuses.has(status) || bodyText.length > maxBodyLength) return undefined
  const { type, message } = errorIn(format, bodyText)
  const read = numbersIn(message)
  if (read !== undefined) return read
  const problem = { code: "upstream-error", type, message, ...present({ status }) } as const
  return saysTooLong(problem) ? {} : undefined
}

/** The words of an error in any of the shapes that errors come in; what is no JSON is taken as it is. */
function errorIn(format: Format, bodyText: string): { readonly type: string; readonly message: string } {
  const parsed = tryParse(bodyText)
  const body = Array.isArray(parsed) ? parsed[0] : parsed
  const failed = format === "openai-responses" && isObject(body) ? body.response : undefined
  const response = isObject(failed) ? failed : body
  const error = isObject(response) ? (response.error ?? response.detail ?? response) : bodyText
  if (typeof error === "string") return { type: "", message: error.slice(0, maxMessageLength) }
  if (!isObject(error)) return { type: "", message: "" }
  const type = [error.type, error.code, error.status].filter((one) => typeof one === "string").join(" ")
  const message = typeof error.message === "string" ? error.message : ""
  return { type: type.slice(0, maxMessageLength), message: message.slice(0, maxMessageLength) }
}
