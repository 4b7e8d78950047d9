import type { Problem } from "../message/errors.ts"

/** Statuses that a refused request comes with; an error in a stream has none. */
const statuses: ReadonlySet<number | undefined> = new Set([undefined, 400, 413, 422])

const words =
  /\b(?:prompt|input|request|context|message) (?:is |was )?too (?:long|large)|\bcontext[ _](?:length|window|size|limit)|\bmaximum context|\bmaximum number of (?:input )?tokens|\btoo many (?:input )?tokens|\btoken (?:count|limit) .{0,40}exceed|\brequest_too_large\b/i

/** Does the provider say that the request is longer than the model can read? Each says it in words of its own, and those change. */
export const saysTooLong = (problem: Problem): boolean =>
  problem.code === "upstream-error" && statuses.has(problem.status) && words.test(`${problem.type} ${problem.message}`)
