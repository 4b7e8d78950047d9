import { type ChatMessage, type Count, countMessage, roundStart } from "./chat.ts"

/** Baselines that anyone would write in ten lines, with exact counts and whole tool rounds. */

/** Returns the start index of the longest tail of whole rounds that takes at most `budget` tokens. */
function tailFrom(messages: readonly ChatMessage[], budget: number, count: Count): number {
  let start = messages.length
  for (let left = budget; start > 0; start--) {
    const message = messages[start - 1]
    left -= message === undefined ? 0 : countMessage(message, count)
    if (left < 0) break
  }
  return roundStart(messages, start)
}

function splitSystem(
  messages: readonly ChatMessage[],
  count: Count,
): readonly [head: readonly ChatMessage[], rest: readonly ChatMessage[], headTokens: number] {
  const at = messages.findIndex(({ role }) => role !== "system")
  const head = messages.slice(0, at < 0 ? messages.length : at)
  return [head, messages.slice(head.length), head.reduce((total, message) => total + countMessage(message, count), 0)]
}

/** Keeps the system messages and the newest of the others. */
export function keepNewest(messages: readonly ChatMessage[], budget: number, count: Count): readonly ChatMessage[] {
  const [system, rest, systemTokens] = splitSystem(messages, count)
  return [...system, ...rest.slice(tailFrom(rest, budget - systemTokens, count))]
}

/** Share of the room beside the system messages that goes to the oldest messages. */
const headShare = 0.3

/** Keeps the system messages, and the oldest and the newest of the others. */
export function keepHeadAndTail(
  messages: readonly ChatMessage[],
  budget: number,
  count: Count,
): readonly ChatMessage[] {
  const [system, rest, systemTokens] = splitSystem(messages, count)
  const room = Math.max(0, budget - systemTokens)
  let end = 0
  let headTokens = 0
  for (let at = 0, sum = 0; at < rest.length; at++) {
    const message = rest[at]
    sum += message === undefined ? 0 : countMessage(message, count)
    if (sum > headShare * room) break
    if (rest[at + 1]?.role === "tool") continue
    end = at + 1
    headTokens = sum
  }
  return [...system, ...rest.slice(0, end), ...rest.slice(Math.max(end, tailFrom(rest, room - headTokens, count)))]
}
