import { type CommandRefusal, describe, HoldfastError, type Problem } from "../../message/errors.ts"
import { statusOf } from "../http/wire-error.ts"
import type { ToldProblem } from "./answers.ts"
import table from "./refusals.json" with { type: "json" }

/** Limit on a request body; a signed command has some hundred bytes. */
export const maxCommandBytes = 64 * 1024

type Refusal = ToldProblem & { readonly status: number; readonly headers?: Readonly<Record<string, string>> }

/** Refusals that are decided before a session or the operator is involved. */
export const refusals = {
  ...table,
  size: { ...table.size, sentence: `A command of more than ${maxCommandBytes / 1024} KB is not read.` },
} satisfies Readonly<Record<string, Refusal>>

export function refusalResponse({ status, headers = {}, code, sentence, next }: Refusal): Response {
  return Response.json({ error: { code, sentence, next } }, { status, headers })
}

export const refuseMethod = (allow: string): Response =>
  refusalResponse({
    ...{ status: 405, code: "method-wrong", headers: { allow } },
    ...{ sentence: `Only ${allow} is answered here.`, next: `Ask with ${allow}.` },
  })

/** In the admin API an invalid policy is one in the operator's directory, and blocks every command. */
const ownStatuses: Readonly<Partial<Record<Problem["code"], number>>> = {
  "policy-invalid": 409,
  "policy-missing": 503,
  "key-invalid": 409,
}

const commandStatuses: Readonly<Record<CommandRefusal, number>> = {
  malformed: 400,
  "key-unknown": 403,
  "signature-wrong": 403,
  "audience-wrong": 403,
  "sequence-used": 409,
  expired: 409,
  "not-yet-valid": 409,
  impossible: 409,
}

const statusHere = (problem: Problem): number =>
  problem.code === "command-refused"
    ? commandStatuses[problem.reason]
    : (ownStatuses[problem.code] ?? statusOf[problem.code])

/** A problem in words, under its code. */
export const describeProblem = (problem: Problem): ToldProblem => ({ code: problem.code, ...describe(problem) })

export const refuseProblem = (problem: Problem): Response =>
  refusalResponse({ status: statusHere(problem), ...describeProblem(problem) })

/** The response to a thrown error: a problem is described; any other error is a bug, and the client gets no details. */
export function refuseError(error: unknown, onFault: (error: unknown) => void): Response {
  if (error instanceof HoldfastError) return refuseProblem(error.problem)
  onFault(error)
  return refusalResponse(refusals.fault)
}
