import { abandonedCalls, type CheckOptions, isEmpty, isMisplaced } from "./check.ts"
import { createFreshIds } from "./fresh.ts"
import { callId, messageId } from "./ids.ts"
import type { Mend } from "./mend.ts"
import type { Message, Transcript } from "./message.ts"
import { pairCalls, pairKey } from "./pair.ts"
import { findParted } from "./parted.ts"

function planRenames(messages: Transcript): readonly Mend[] {
  const fresh = createFreshIds(messages.map(({ id }) => id))
  const seen = new Set<string>()
  return messages.flatMap(({ id }, message): readonly Mend[] => {
    const repeated = seen.has(id)
    seen.add(id)
    if (!repeated) return []
    const to = messageId(fresh(id))
    return [{ type: "message-renamed", message, to, reason: "message-id-repeated" }]
  })
}

function planCallRenames(messages: Transcript): readonly Mend[] {
  const { pairs, open } = pairCalls(messages)
  const resultOf = new Map(pairs.map(({ call, result }) => [`${call.message}.${call.part}`, result]))
  const calls = [...pairs.map(({ call }) => call), ...open].sort(
    (one, other) => one.message - other.message || one.part - other.part,
  )
  const fresh = createFreshIds(calls.map((call) => call.callId))
  const seen = new Set<string>()
  return calls.flatMap((call): readonly Mend[] => {
    const repeated = seen.has(call.callId)
    seen.add(call.callId)
    if (!repeated) return []
    const to = callId(fresh(call.callId))
    const result = resultOf.get(`${call.message}.${call.part}`)
    return [call, ...(result === undefined ? [] : [result])].map(({ message, part }) => {
      return { type: "call-renamed", message, part, to, reason: "call-id-repeated" }
    })
  })
}

/**
 * Words of the model or of the system between calls and their results go before the calls. Were the results moved instead, a request that
 * ends with them would end with such words, and the model would be asked nothing.
 */
function planSpeech(messages: Transcript, { adjacent }: CheckOptions): readonly Mend[] {
  if (adjacent === undefined) return []
  const parted = pairCalls(messages)
    .pairs.filter(findParted(messages, adjacent))
    .toSorted((one, other) => one.call.message - other.call.message)
  const goal = new Map<number, number>()
  let seen = 0
  for (const { call, result } of parted) {
    const isOurs = messages[call.message]?.role === "assistant"
    // The calls may stand behind others, and go before those themselves.
    const before = goal.get(call.message) ?? call.message
    for (seen = Math.max(seen, call.message + 1); isOurs && seen < result.message; seen++) {
      const message = messages[seen]
      if (message !== undefined && isSpeech(message)) goal.set(seen, before)
    }
  }
  return [...goal].map(([message, to]) => ({
    type: "message-moved",
    message,
    before: to,
    reason: "result-not-adjacent",
  }))
}

/** What asks the user's side for nothing: a provider answers its own calls. */
const isSpeech = ({ role, parts }: Message): boolean =>
  role === "system" ||
  (role === "assistant" && parts.every((part) => part.type !== "tool-call" || part.kind === "provider"))

/** Results go to their calls where there is one to go to; the rest is quoted where it stands. */
function planPlaces(messages: Transcript, { adjacent }: CheckOptions): readonly Mend[] {
  const { pairs, open, orphans } = pairCalls(messages)
  const asked = open.filter(({ message }) => messages[message]?.role === "assistant")
  const waiting = new Map(asked.map((call) => [pairKey(call), call]))
  const answered = new Set(pairs.map(({ call }) => pairKey(call)))
  const events: Mend[] = []
  for (const [message, { role, parts }] of messages.entries()) {
    for (const [part, content] of parts.entries()) {
      if (content.type === "tool-call" && role !== "assistant")
        events.push({ type: "call-quoted", message, part, reason: "call-misplaced" })
    }
  }
  for (const place of orphans) {
    const { message, part } = place
    const key = pairKey(place)
    const call = waiting.get(key)
    waiting.delete(key)
    if (call !== undefined)
      events.push({ type: "result-moved", message, part, after: call.message, reason: "result-before-call" })
    else
      events.push({
        type: "result-quoted",
        message,
        part,
        reason: answered.has(key) ? "result-repeated" : "result-without-call",
      })
  }
  const isParted = adjacent === undefined ? () => false : findParted(messages, adjacent)
  for (const pair of pairs) {
    const { call, result } = pair
    const place = { message: result.message, part: result.part }
    if (messages[call.message]?.role !== "assistant")
      events.push({ type: "result-quoted", ...place, reason: "result-without-call" })
    else if (isMisplaced(messages, pair))
      events.push({ type: "result-moved", ...place, after: call.message, reason: "result-misplaced" })
    else if (isParted(pair))
      events.push({ type: "result-moved", ...place, after: call.message, reason: "result-not-adjacent" })
  }
  return events
}

function planResults(messages: Transcript, { ended = false }: CheckOptions): readonly Mend[] {
  return abandonedCalls(messages, pairCalls(messages).open, ended).map(({ message, part, kind }) => {
    const type = kind === "provider" || kind === "other" ? "call-quoted" : "result-added"
    return { type, message, part, reason: "call-without-result" }
  })
}

function planRemovals(messages: Transcript): readonly Mend[] {
  return messages.flatMap((content, message): readonly Mend[] =>
    isEmpty(content) ? [{ type: "message-removed", message, reason: "message-empty" }] : [],
  )
}

/** What is wrong, as mends: ids first, then places, then what is missing, which may part others; last what is empty. */
export const repairPlans: readonly ((messages: Transcript, options: CheckOptions) => readonly Mend[])[] = [
  planRenames,
  planCallRenames,
  planSpeech,
  planPlaces,
  planResults,
  planSpeech,
  planPlaces,
  planRemovals,
]
