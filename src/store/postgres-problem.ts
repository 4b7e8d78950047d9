import { HoldfastError, type Problem } from "../message/errors.ts"

/** What an error of the database means, and whether trying again can help. */
export type Failure = {
  readonly problem: Problem
  /**
   * `undone`: nothing happened, and the next try may succeed. `unknown`: the connection was lost, and nobody knows what was done before.
   * `final`: nothing happened, and trying again at once would change nothing.
   */
  readonly outcome: "undone" | "unknown" | "final"
}

/** A serialization failure and a deadlock: rolled back, and meant to be tried again. */
const rolledBack = /^40(001|P01)$/

/** The server starts, stops, has no connection left, or has become a read-only copy. */
const awayForNow = /^(57P03|53300|53400|25006)$/

/** Refused while connecting: no address, no route, nobody there. */
const neverConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/

/** The connection broke: the errors of the network, SQLSTATE class 08, and a server that was told to stop. */
const connectionLost = /^(ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|08...|57P0[1245])$/

/** The code of a system or database error: it names neither host nor user, unlike its message. */
const codeShape = /^[A-Z0-9_]{2,48}$/

/** Read an error of `pg`. Its message is never told: it may quote the address, the user or a value. */
export function readFailure(error: unknown, connected: boolean, waitedMs: number): Failure {
  if (error instanceof HoldfastError) return { problem: error.problem, outcome: "final" }
  const code = codeOf(error)
  const unavailable = (reason: string): Problem => ({ code: "store-unavailable", store: "postgres", reason })
  if (code === undefined) {
    const reason = connected
      ? "the connection was lost or gave no answer in time"
      : "no connection could be made in time"
    return { problem: unavailable(reason), outcome: connected ? "unknown" : "undone" }
  }
  const named = unavailable(code)
  if (rolledBack.test(code))
    return { problem: { code: "store-locked", store: "postgres", waitedMs }, outcome: "undone" }
  if (awayForNow.test(code) || neverConnected.test(code)) return { problem: named, outcome: "undone" }
  if (connectionLost.test(code)) return { problem: named, outcome: connected ? "unknown" : "undone" }
  return { problem: finalProblem(code, waitedMs) ?? named, outcome: "final" }
}

function finalProblem(code: string, waitedMs: number): Problem | undefined {
  switch (code) {
    case "53100":
      return { code: "store-full", store: "postgres" }
    case "55P03":
    case "57014":
      return { code: "store-locked", store: "postgres", waitedMs }
    case "XX001":
    case "XX002":
      return { code: "store-corrupt", store: "postgres", session: "(unknown)", reason: code }
    default:
      return undefined
  }
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined
  return typeof code === "string" && codeShape.test(code) ? code : undefined
}
