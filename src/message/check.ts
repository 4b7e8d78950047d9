import { assert } from "./assert.ts"
import { groupTurns } from "./group.ts"
import type { CallId, MessageId } from "./ids.ts"
import type { Message, Transcript } from "./message.ts"
import { type Place, pairCalls } from "./pair.ts"

/** Something that no provider should be sent, by name and place. */
export type Fault = {
  readonly code:
    | "call-without-result"
    | "result-without-call"
    | "result-before-call"
    | "result-repeated"
    | "result-not-adjacent"
    | "call-id-repeated"
    | "call-misplaced"
    | "message-id-repeated"
    | "message-empty"
  readonly messageId: MessageId
  readonly callId?: CallId
}

export type CheckOptions = Ended & {
  /** Also name results that do not follow their calls at once: wrong by the letter of most APIs, accepted by many. */
  readonly adjacent?: boolean
}

export type Ended = {
  /** Nobody will answer any more: a request about to be sent, a finished recording. Otherwise the last calls may still run. */
  readonly ended?: boolean
}

/** Everything that is wrong with a transcript; nothing for a good one. Calls of the last group may still wait for their results. */
export function checkTranscript(
  messages: Transcript,
  { adjacent = false, ended = false }: CheckOptions = {},
): readonly Fault[] {
  return [
    ...repeatedIds(messages),
    ...pairFaults(messages, ended),
    ...misplacedCalls(messages),
    ...(adjacent ? partedResults(messages) : []),
  ]
}

/** A broken transcript inside the house is a bug: name the step that made it. */
export function assertTranscript(messages: Transcript, step: string): void {
  const [fault] = checkTranscript(messages)
  assert(fault === undefined, `${step}: ${fault?.code} at ${fault?.messageId} ${fault?.callId ?? ""}`)
}

const idAt = (messages: Transcript, at: number): MessageId => {
  const message = messages[at]
  assert(message !== undefined, `no message at ${at}`)
  return message.id
}

function repeatedIds(messages: Transcript): readonly Fault[] {
  const seen = new Set<MessageId>()
  const calls = new Set<CallId>()
  const faults: Fault[] = []
  for (const { id, parts } of messages) {
    if (seen.has(id)) faults.push({ code: "message-id-repeated", messageId: id })
    seen.add(id)
    for (const part of parts) {
      if (part.type !== "tool-call") continue
      if (calls.has(part.callId)) faults.push({ code: "call-id-repeated", messageId: id, callId: part.callId })
      calls.add(part.callId)
    }
  }
  return faults
}

function pairFaults(messages: Transcript, ended: boolean): readonly Fault[] {
  const { pairs, open, orphans } = pairCalls(messages)
  const opened = new Set(open.map(({ callId }) => callId))
  const answered = new Set(pairs.map(({ call }) => call.callId))
  const unanswered = abandonedCalls(messages, open, ended)
  return [
    ...unanswered.map(
      ({ callId, message }): Fault => ({ code: "call-without-result", messageId: idAt(messages, message), callId }),
    ),
    ...orphans.map(({ callId, message }): Fault => {
      const code = opened.has(callId)
        ? "result-before-call"
        : answered.has(callId)
          ? "result-repeated"
          : "result-without-call"
      return { code, messageId: idAt(messages, message), callId }
    }),
    ...messages.filter(isEmpty).map(({ id }): Fault => ({ code: "message-empty", messageId: id })),
  ]
}

/** The open calls that will get no result: all but those of the last group, if nobody has spoken since. What the provider or a person still decides may wait in any case. */
export function abandonedCalls(messages: Transcript, open: readonly Place[], ended: boolean): readonly Place[] {
  const last = groupTurns(messages).at(-1)
  const spoken = messages.findLastIndex(
    ({ role, parts }) => role !== "assistant" && parts.some((part) => part.type !== "tool-result"),
  )
  const waitingFrom = Math.max(last?.start ?? 0, spoken + 1)
  return open.filter(
    ({ message, kind }) => message < waitingFrom || (ended && kind !== "provider" && kind !== "approval"),
  )
}

/** Nothing to say: no parts, or texts without a character. */
export const isEmpty = ({ parts }: Message): boolean => parts.every((part) => part.type === "text" && part.text === "")

function misplacedCalls(messages: Transcript): readonly Fault[] {
  return messages.flatMap(({ id, role, parts }) =>
    parts.flatMap((part): readonly Fault[] => {
      const wrong = part.type === "tool-call" && role !== "assistant"
      return wrong ? [{ code: "call-misplaced", messageId: id, callId: part.callId }] : []
    }),
  )
}

/** Results with anything but results and the calls' own turn between them and their call. */
function partedResults(messages: Transcript): readonly Fault[] {
  return pairCalls(messages).pairs.flatMap(({ call, result }): readonly Fault[] => {
    for (let at = call.message + 1; at < result.message; at++) {
      const between = messages[at]
      const belongs = between?.parts.every(
        (part) => part.type === "tool-result" || part.type === "tool-call" || part.type === "reasoning",
      )
      if (belongs !== true)
        return [{ code: "result-not-adjacent", messageId: idAt(messages, result.message), callId: call.callId }]
    }
    return []
  })
}
