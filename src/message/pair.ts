import type { CallId, CallKind, Message, ToolCallPart, ToolResultPart, Transcript } from "./message.ts"

/** Position of a call or a result: message and part. */
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

/** Match each result with the latest unanswered call of the same id before it. Reading starts at message `from`. */
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

/** The key that a call and its result share: the id, and whether the provider runs the call. */
export const pairKey = ({ callId, kind }: Pick<PartPlace, "callId" | "kind">): string =>
  kind === "provider" ? `provider ${callId}` : `client ${callId}`

function placeOf({ callId, kind }: ToolCallPart | ToolResultPart, message: number, part: number): PartPlace {
  return { callId, message, part, kind }
}

/** Where results must follow: directly behind the message with the call (`own`), or behind the whole assistant turn with the call (`turn`). */
export type Adjacency = "own" | "turn"

/** Whether anything between a call and its result does not belong there. One pass over the messages, then O(1) per pair. */
export function findParted(messages: Transcript, adjacent: Adjacency): (pair: Pairing["pairs"][number]) => boolean {
  // Prefix count of messages that may not be between a call and its result.
  const strange = [0]
  // Prefix count of calls that directly follow a result, where a new turn begins.
  const restarts = [0]
  for (const [at, message] of messages.entries()) {
    const calls = adjacent === "turn" && !isAnswers(message) && isCalls(message)
    const before = messages[at - 1]
    strange.push((strange[at] ?? 0) + (isAnswers(message) || calls ? 0 : 1))
    restarts.push((restarts[at] ?? 0) + (calls && before !== undefined && isAnswers(before) ? 1 : 0))
  }
  const between = (sums: readonly number[], from: number, to: number): number => (sums[to] ?? 0) - (sums[from] ?? 0)
  return ({ call, result }) => {
    if (call.message === result.message) return false
    const before = messages[result.message]?.parts.slice(0, result.part) ?? []
    if (before.some(({ type }) => type !== "tool-result")) return true
    const first = call.message + 1
    return between(strange, first, result.message) > 0 || between(restarts, first, result.message) > 0
  }
}

const isAnswers = ({ parts }: Message): boolean => parts.every(({ type }) => type === "tool-result")

const isCalls = ({ parts }: Message): boolean => parts.every(({ type }) => type === "tool-call" || type === "reasoning")
