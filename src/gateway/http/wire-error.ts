import { describe, type Problem } from "../../message/errors.ts"
import type { Format } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { contextSaid } from "./context-error.ts"
import { statusOf } from "./problem-status.ts"
import { errorBody, errorHeaders, type Said, type Shape, type WireError } from "./wire-error-shape.ts"

export type WireErrorOptions = Shape & { readonly retryAfterSeconds?: number }

/** A message may quote what a client or an upstream wrote. */
const maxMessageLength = 4000

/** Locks are let go and stores come back within moments; a client may try as soon as that. */
const usualRetrySeconds = 1

/** These end the same way however often they are tried. */
const lasting: ReadonlySet<Problem["code"]> = new Set([
  "response-invalid",
  "stream-invalid",
  "stream-event-too-large",
  "upstream-too-large",
  "prompty-invalid",
  "stack-invalid",
  "source-unreadable",
  "store-newer",
  "package-missing",
  "turn-too-long",
])

/** What a problem says on a wire. One that means a context too long says so in the provider's own words. */
export function saidOf(format: Format | undefined, problem: Problem): Said {
  if (problem.code === "floor-exceeds-window") {
    return tooLong(format, problem, problem.floorTokens, problem.windowTokens)
  }
  if (problem.code === "budget-impossible") {
    return tooLong(format, problem, problem.neededTokens, problem.budgetTokens)
  }
  return plainly(problem)
}

const tooLong = (format: Format | undefined, problem: Problem, neededTokens: number, windowTokens: number): Said =>
  format === undefined ? plainly(problem) : contextSaid(format, { neededTokens, windowTokens })

const pathCodes = ["store-full", "store-unavailable", "store-locked", "store-newer"] as const
type WithPath = Extract<Problem, { readonly code: (typeof pathCodes)[number] }>
const hasStorePath = (problem: Problem): problem is WithPath => pathCodes.some((code) => code === problem.code)

/** Where the store lies is told to the operator, not to clients. */
function withoutStorePath(problem: Problem): Problem {
  if (!hasStorePath(problem)) return problem
  const { path: _path, ...rest } = problem
  return rest
}

function plainly(problem: Problem): Said {
  const { sentence, next } = describe(withoutStorePath(problem))
  const theirs = problem.code === "upstream-error" || problem.code === "access-refused" ? (problem.status ?? 0) : 0
  const status = Number.isInteger(theirs) && theirs >= 400 && theirs <= 599 ? theirs : statusOf[problem.code]
  return { status, message: `${sentence} ${next}`.slice(0, maxMessageLength).toWellFormed(), code: problem.code }
}

/** A problem as the answer of the provider whose format the request is in; without a format as OpenAI's. */
export function wireError(format: Format | undefined, problem: Problem, options: WireErrorOptions = {}): WireError {
  return answer(format, saidOf(format, problem), lasting.has(problem.code), options)
}

/** A refusal that is no problem of ours (a path, a host, a token) in the same shapes. */
export function wireRefusal(
  format: Format | undefined,
  { status, message }: Pick<Said, "status" | "message">,
  options: WireErrorOptions = {},
): WireError {
  return answer(format, { status, message }, false, options)
}

function answer(format: Format | undefined, said: Said, isLasting: boolean, options: WireErrorOptions): WireError {
  const pointless = isLasting || (said.status < 500 && said.status !== 408 && said.status !== 429)
  const waits = said.status === 429 || said.status === 503
  const afterSeconds = options.retryAfterSeconds ?? (waits && !pointless ? usualRetrySeconds : undefined)
  return {
    status: said.status,
    headers: errorHeaders(format, options, { pointless, ...present({ afterSeconds }) }),
    body: errorBody(format, said, options),
  }
}
