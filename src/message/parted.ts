import type { Message, Transcript } from "./message.ts"
import type { Pairing } from "./pair.ts"

/** How closely results must follow: directly behind the message that calls (`own`), or behind the turn that calls, however many messages that is (`turn`). */
export type Adjacency = "own" | "turn"

/** Tells whether anything stands between a call and its result that does not belong there. One pass over the messages; then each pair costs O(1). */
export function findParted(messages: Transcript, adjacent: Adjacency): (pair: Pairing["pairs"][number]) => boolean {
  // How many messages before each place end the way from a call to its result.
  const strange = [0]
  // How many calls before each place directly follow a result: a new turn has begun there.
  const restarts = [0]
  for (const [at, message] of messages.entries()) {
    const calls = adjacent === "turn" && !isAnswers(message) && isCalls(message)
    const before = messages[at - 1]
    strange.push((strange[at] ?? 0) + (isAnswers(message) || calls ? 0 : 1))
    restarts.push((restarts[at] ?? 0) + (calls && before !== undefined && isAnswers(before) ? 1 : 0))
  }
  const between = (sums: readonly number[], from: number, to: number): number =>
    (sums[to] ?? 0) - (sums[Math.min(from, to)] ?? 0)
  return ({ call, result }) => {
    if (call.message === result.message) return false
    const before = messages[result.message]?.parts.slice(0, result.part) ?? []
    if (before.some(({ type }) => type !== "tool-result")) return true
    const first = call.message + 1
    return between(strange, first, result.message) > 0 || between(restarts, first + 1, result.message) > 0
  }
}

const isAnswers = ({ parts }: Message): boolean => parts.every(({ type }) => type === "tool-result")

const isCalls = ({ parts }: Message): boolean => parts.every(({ type }) => type === "tool-call" || type === "reasoning")
