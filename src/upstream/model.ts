import { HoldfastError, type Problem } from "../errors.ts"
import type { Format } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import { present } from "../message/present.ts"
import type { ModelResponse, StopReason, Usage } from "../message/request.ts"
import { decodeResponse } from "../wire/decode.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { type ModelOptions, type Question, readBaseUrl, writeQuestion } from "./question.ts"
import { readLimited } from "./read-limited.ts"
import { createMask } from "./secret.ts"
import { withinMs } from "./within-ms.ts"

/** A model's words, whole and not empty. */
export type Answer = { readonly text: string; readonly stop: StopReason; readonly usage?: Usage }

/** A model that answers one question at a time; whatever goes wrong is a `HoldfastError`, and no key is ever in it. */
export type Model = {
  readonly ask: (question: Question & { readonly signal?: AbortSignal }) => Promise<Answer>
}

/** Of an error's words so much is told: enough for a person, too little for a page of HTML. */
const longestMessage = 300

export function createModel(options: ModelOptions): Model {
  const { host, password, searchParams } = readBaseUrl(options.baseUrl)
  const mask = createMask([options.apiKey, password, ...searchParams.values(), ...Object.values(options.headers ?? {})])
  const short = (text: string): string => mask(text).replace(/\s+/g, " ").trim().slice(0, longestMessage)

  const send = async (question: Question, signal: AbortSignal): Promise<Answer> => {
    const { url, headers, body } = writeQuestion(options, question)
    const reach = (cause: unknown): never => fail({ code: "upstream-unreachable", host, reason: causeOf(cause) })
    // A redirect would carry the key to wherever it points.
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal,
      redirect: "manual",
    }).catch(reach)
    const text = await readLimited(response, options.maxResponseBytes).catch(reach)
    if (text === undefined) return fail({ code: "upstream-too-large", host, limitBytes: options.maxResponseBytes })
    const failure = failureIn(text, response, short)
    return failure === undefined ? answerIn(read(options.format, text), options) : fail(failure)
  }

  return {
    ask: ({ system, user, signal }) =>
      withinMs(
        (late) => send({ system, user }, late),
        options.timeoutMs,
        () => ({ code: "upstream-timeout", host, limitMs: options.timeoutMs }),
        signal === undefined ? undefined : { signal, onStop: () => ({ code: "upstream-stopped", host }) },
      ),
  }
}

function fail(problem: Problem): never {
  throw new HoldfastError(problem)
}

/** The system's own word for what broke. Never the error's message: it may quote a header. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  return typeof code === "string" && /^[A-Z_]{2,40}$/.test(code) ? code : "the connection failed or could not be made"
}

/** What the API says went wrong, by its status or, as some proxies do it, in an answer of status 200. */
function failureIn(
  text: string,
  { ok, status }: Response,
  short: (text: string) => string,
): Extract<Problem, { code: "upstream-error" }> | undefined {
  const body = tryParse(text)
  const first: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(first) ? first.error : undefined
  if (ok && !isObject(error)) return undefined
  const type = isObject(error) ? (error.type ?? error.status ?? error.code) : undefined
  const message = isObject(error) ? error.message : (error ?? text)
  return {
    code: "upstream-error",
    type: typeof type === "string" ? short(type) : "error",
    message: short(typeof message === "string" ? message : text) || "no message",
    status,
  }
}

function read(format: Format, text: string): ModelResponse {
  try {
    return decodeResponse(format, text)
  } catch (error) {
    // The parser's own words quote the body.
    if (!(error instanceof HoldfastError) || !error.problem.code.startsWith("json-")) throw error
    return fail({ code: "response-invalid", path: "the body", expected: "JSON", found: "text that is not JSON" })
  }
}

function answerIn(response: ModelResponse, { model, maxOutputTokens }: ModelOptions): Answer {
  const parts = response.messages.filter(({ role }) => role === "assistant").flatMap((message) => message.parts)
  const text = parts
    .flatMap((part) => (part.type === "text" && !isRefusal(part) ? [part.text] : []))
    .join("")
    .trim()
  if (response.stop === "refusal" || (text === "" && refuses(response))) return fail({ code: "answer-refused", model })
  if (response.stop === "length" || response.stop === "context-window") {
    return fail({ code: "answer-cut", model, limitTokens: maxOutputTokens })
  }
  if (text === "") return fail({ code: "answer-empty", model })
  return { text, stop: response.stop, ...present({ usage: response.usage }) }
}

/** OpenAI puts a refusal where the text would be: a field of the message, or a part of a type of its own. */
function refuses({ messages }: ModelResponse): boolean {
  return messages.some(({ wire, parts }) => {
    const message = wire === undefined ? undefined : tryParse(wire)
    const said = isObject(message) ? message.refusal : undefined
    return (typeof said === "string" && said !== "") || parts.some(isRefusal)
  })
}

function isRefusal({ wire }: Part): boolean {
  const block = wire === undefined ? undefined : tryParse(wire)
  return isObject(block) && block.type === "refusal"
}
