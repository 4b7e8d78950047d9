import type { CallId } from "./ids.ts"
import type { Transcript } from "./message.ts"
import type { CallKind, ToolCallPart, ToolResultPart } from "./part.ts"

/** Where a call or a result stands: message and part, by position. */
export type Place = {
  readonly callId: CallId
  readonly message: number
  readonly part: number
  readonly kind: CallKind
}

export type Pairing = {
  readonly pairs: readonly { readonly call: Place; readonly result: Place }[]
  /** Calls without a result. */
  readonly open: readonly Place[]
  /** Results without a call before them, or with one that was answered already. */
  readonly orphans: readonly Place[]
}

/** Tie each result to the newest open call before it that has its id. Positions count from the start of the transcript; reading starts at `from`. */
export function pairCalls(messages: Transcript, from = 0): Pairing {
  const pairs: { readonly call: Place; readonly result: Place }[] = []
  const orphans: Place[] = []
  const open = new Map<string, Place[]>()
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
export const pairKey = ({ callId, kind }: Pick<Place, "callId" | "kind">): string =>
  kind === "provider" ? `provider ${callId}` : `client ${callId}`

function placeOf({ callId, kind }: ToolCallPart | ToolResultPart, message: number, part: number): Place {
  return { callId, message, part, kind }
}
