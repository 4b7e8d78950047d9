import type { CallId, CallKind, Message, ToolCallPart, ToolResultPart, Transcript } from "./message.ts"

/** Where a call or a result stands: message and part, by position. */
export type PartPlace = {
  readonly callId: CallId
  readonly message: number
  readonly part: number
  readonly kind: CallKind
}

export type Pairing = {
  readonly pairs: readonly { readonly call: PartPlace; readonly result: PartPlace }[]
  /** Calls without a result. */
  readonly open: readonly PartPlace[]
  /** Results without a call before them, or with one that was answered already. */
  readonly orphans: readonly PartPlace[]
}

/** Tie each result to the newest open call before it that has its id. Positions count from the start of the transcript; reading starts at `from`. */
export function pairCalls(messages: Transcript, from = 0): Pairing {
  const pairs: { readonly call: PartPlace; readonly result: PartPlace }[] = []
  const orphans: PartPlace[] = []
  const open = new Map<string, PartPlace[]>()
  for (let message = from; message < messages.length; message++) {
    for (const [part, content] of (messages[message]?.parts ?? []).entries()) {
      if (content.type !== "tool-call" && content.type !== "tool-result") continue
      const place = placeOf(content, message, part)
      const waiting = open.get(pairKey(place))
      if (content.type === "tool-call") {
        if (waiting === undefined) open.set(pairKey(place), [place])
        else waiting.push(place)
        continue
      }
      const call = waiting?.pop()
      if (call === undefined) orphans.push(place)
      else pairs.push({ call, result: place })
    }
  }
  return { pairs, open: [...open.values()].flat(), orphans }
}

/** What a call and its result have in common: the id, and that the provider runs it or does not. */
export const pairKey = ({ callId, kind }: Pick<PartPlace, "callId" | "kind">): string =>
  kind === "provider" ? `provider ${callId}` : `client ${callId}`

function placeOf({ callId, kind }: ToolCallPart | ToolResultPart, message: number, part: number): PartPlace {
  return { callId, message, part, kind }
}

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
