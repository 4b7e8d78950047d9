import { HoldfastError, type Problem } from "../message/errors.ts"
import type { Format, ModelResponse } from "../message/message.ts"
import { decodeResponse } from "../wire/decode.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { readBaseUrl, type Whereabouts } from "./address.ts"
import { createMask } from "./secret.ts"

/** The longest error message that is reported: enough for a person, too short for a page of HTML. */
const longestMessage = 300

/** Makes a server's text fit for a message: one line, short, and without the secrets of the call. */
export function createTelling({ baseUrl, apiKey, headers }: Whereabouts): (text: string) => string {
  const { password, searchParams } = readBaseUrl(baseUrl)
  const mask = createMask([apiKey, password, ...searchParams.values(), ...Object.values(headers ?? {})])
  return (text) => mask(text).replace(/\s+/g, " ").trim().slice(0, longestMessage)
}

export function fail(problem: Problem): never {
  throw new HoldfastError(problem)
}

/** The system's error code. Never the error's message: it may quote a header. */
export function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  return typeof code === "string" && /^[A-Z_]{2,40}$/.test(code) ? code : "the connection failed or could not be made"
}

/** The error that the API reports, by its status or, as some proxies do, in a body with status 200. */
export function failureIn(
  text: string,
  { ok, status }: Response,
  tell: (text: string) => string,
): Extract<Problem, { code: "upstream-error" }> | undefined {
  const body = tryParse(text)
  const first: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(first) ? first.error : undefined
  if (ok && !isObject(error)) return undefined
  const type = isObject(error) ? (error.type ?? error.status ?? error.code) : undefined
  const message = isObject(error) ? error.message : (error ?? text)
  return {
    code: "upstream-error",
    type: typeof type === "string" ? tell(type) : "error",
    message: tell(typeof message === "string" ? message : text) || "no message",
    status,
  }
}

/** Reads a whole answer; text that is not JSON is a Problem that does not quote it. */
export function readModelResponse(format: Format, text: string): ModelResponse {
  try {
    return decodeResponse(format, text)
  } catch (error) {
    // The JSON parser's message quotes the body.
    if (!(error instanceof HoldfastError) || !error.problem.code.startsWith("json-")) throw error
    return fail({ code: "response-invalid", path: "the body", expected: "JSON", found: "text that is not JSON" })
  }
}
