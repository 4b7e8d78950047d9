import { HoldfastError, type Problem } from "../message/errors.ts"

/** What went wrong, as a Problem. A fault of our own is told where faults are told, and the client hears no more than that there was one. */
export function problemOf(error: unknown, onFault: (error: unknown) => void): Problem {
  if (error instanceof HoldfastError) return error.problem
  onFault(error)
  return { code: "gateway-fault" }
}
