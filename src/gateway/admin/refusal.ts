import { type CommandRefusal, describe, HoldfastError, type Problem } from "../../message/errors.ts"
import { statusOf } from "../http/wire-error.ts"
import type { ToldProblem } from "./answers.ts"

/** Limit on a request body; a signed command has some hundred bytes. */
export const maxCommandBytes = 64 * 1024

type Refusal = ToldProblem & { readonly status: number; readonly headers?: Readonly<Record<string, string>> }

const refusal = (status: number, code: string, sentence: string, next: string): Refusal => ({
  status,
  code,
  sentence,
  next,
})

/** Refusals that are decided before a session or the operator is involved. */
export const refusals = {
  off: refusal(
    403,
    "admin-off",
    "The admin API is off, because no admin token is set.",
    "Set one of at least 16 characters in the gateway's configuration (admin.token), and start the gateway again.",
  ),
  token: {
    ...refusal(
      401,
      "token-wrong",
      "The admin API wants its token.",
      "Send it as a header: Authorization: Bearer ADMIN-TOKEN. It is read from nowhere else.",
    ),
    headers: { "www-authenticate": "Bearer" },
  },
  page: refusal(
    403,
    "page-refused",
    "Pages of that origin may not call the admin API.",
    "List the page's origin in the gateway's configuration (admin.origins), if it is yours.",
  ),
  signIn: refusal(
    401,
    "code-wrong",
    "That code does not sign in: it was used, is too old, or was never given.",
    "Ask for a new one: holdfast open",
  ),
  key: refusal(
    400,
    "key-wrong",
    "A page signs in with the public half of an Ed25519 key.",
    "Open the page in a browser that has Ed25519 in WebCrypto.",
  ),
  code: refusal(403, "code-refused", "Only the admin token gives codes.", "Ask for one with: holdfast open"),
  unsigned: refusal(
    403,
    "change-unsigned",
    "A change has to be signed by a browser that is signed in.",
    "Sign in with holdfast open, or use the command line: holdfast sessions undo ID, holdfast pin, holdfast unpin.",
  ),
  change: refusal(
    409,
    "change-refused",
    "The change was refused: it does not say what is to be changed.",
    "Load the page again, and try once more.",
  ),
  path: refusal(404, "path-unknown", "There is nothing at that path.", "See GET /admin for what there is."),
  type: refusal(
    415,
    "content-type-wrong",
    "A command is read from application/json alone.",
    'Send {"command": "hf1.…"} with Content-Type: application/json.',
  ),
  size: refusal(
    413,
    "body-too-large",
    `A command of more than ${maxCommandBytes / 1024} KB is not read.`,
    "Put a policy of that size into a file of the policy directory.",
  ),
  trace: refusal(
    404,
    "trace-unknown",
    "No exchange of that id is known.",
    "See GET /admin/traces: the newest exchanges are kept, of this process alone.",
  ),
  operator: refusal(
    404,
    "operator-missing",
    "This gateway has no operator's channel.",
    "Give it a policy directory or a trusted key, and start it again.",
  ),
  busy: {
    ...refusal(503, "admin-busy", "Too much of this is under way already.", "Ask again in a moment."),
    headers: { "retry-after": "1" },
  },
  fault: refusal(500, "fault", "Something went wrong that is our fault.", "See the gateway's own log, and report it."),
} as const satisfies Readonly<Record<string, Refusal>>

export function refusalResponse({ status, headers = {}, code, sentence, next }: Refusal): Response {
  return Response.json({ error: { code, sentence, next } }, { status, headers })
}

/** Refuse a method that this path does not support. */
export const refuseMethod = (allow: string): Response =>
  refusalResponse({
    ...refusal(405, "method-wrong", `Only ${allow} is answered here.`, `Ask with ${allow}.`),
    headers: { allow },
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
export const tellProblem = (problem: Problem): ToldProblem => ({ code: problem.code, ...describe(problem) })

export const refuseProblem = (problem: Problem): Response =>
  refusalResponse({ status: statusHere(problem), ...tellProblem(problem) })

/** The response to a thrown error: a problem is described; any other error is a bug, and the client gets no details. */
export function refuseError(error: unknown, onFault: (error: unknown) => void): Response {
  if (error instanceof HoldfastError) return refuseProblem(error.problem)
  onFault(error)
  return refusalResponse(refusals.fault)
}
