import type { Wire } from "../message/message.ts"
import { present } from "../message/present.ts"
import { decodeRequest } from "../wire/decode.ts"
import { encodeRequest } from "../wire/encode.ts"
import { addedTokens, type CompactionDraft, pinEdits } from "./draft.ts"
import type { GateEvent } from "./gate/gate-summary.ts"
import type { Scene } from "./scene.ts"
import { rejoin } from "./stack/rejoin.ts"
import { separate } from "./stack/separate.ts"
import { applyEdits, type Edit } from "./stages/edit.ts"
import type { MemoryEntry } from "./state/flush.ts"
import type { SummaryEvent } from "./summary/model-write.ts"
import type { Digest } from "./summary/summary.ts"
import { type Acceptance, tokensBeside, type VerifiedContext, type VerifyFailure, verify } from "./verify.ts"

/**
 * What is tried, cheapest first: add missing rules; shorten tool results; replace groups by a digest; as a last resort keep only the digest
 * and the last messages.
 */
export type Remedy = "pins" | "micro" | "summary" | "fallback"

export type RemedyEvent =
  | { readonly type: "remedy-rejected"; readonly remedy: Remedy; readonly failures: readonly VerifyFailure[] }
  | {
      readonly type: "remedy-installed"
      readonly remedy: Remedy
      readonly beforeTokens: number
      readonly afterTokens: number
    }

export type CompactEvent = Edit | GateEvent | SummaryEvent | RemedyEvent

/** A context that passed its acceptance test, as text, with every change that led to it. */
export type Compacted = {
  readonly wire: Wire
  readonly remedy: Remedy
  readonly events: readonly CompactEvent[]
  readonly digest?: Digest
  /** Who wrote the digest's summary, if there is one. */
  readonly writer: "extractive" | "model" | "custom" | "none"
  readonly context: VerifiedContext
  /** Entries for the durable memory. */
  readonly memory: readonly MemoryEntry[]
  readonly beforeTokens: number
  readonly afterTokens: number
}

/** One compaction in progress: its input, and the events so far. */
export type Attempt = Scene & { readonly events: CompactEvent[] }

/**
 * Encodes a draft as it would be sent, decodes it again and runs the acceptance test. Undefined if it fails: the failures are recorded as
 * an event, and the caller tries the next remedy.
 */
export async function install(
  attempt: Attempt,
  remedy: Remedy,
  draft: CompactionDraft,
  limitTokens: number,
): Promise<Compacted | undefined> {
  const { format, meter, choices, waiting, events } = attempt
  const wire = writeEdits(attempt, draft.edits)
  await attempt.pause?.()
  const context = outgoingContext(attempt, wire)
  await attempt.pause?.()
  const before = incomingContext(attempt)
  const failures = verify(before, context, {
    ...{ format, meter, limitTokens, waiting, pins: choices.pins },
    ...unreadIn(attempt, draft.edits),
    lines: draft.digest?.summary.sections.flatMap(({ lines }) => lines.map(({ text }) => text)) ?? [],
    addedTokens: Math.max(0, addedTokens(pinEdits(attempt), meter)),
    onlyAdds: remedy === "pins",
  })
  if (failures.length > 0) {
    events.push({ type: "remedy-rejected", remedy, failures: failures.slice(0, maxFailures) })
    return undefined
  }
  const [beforeTokens, afterTokens] = [attempt.outsideTokens, tokensBeside(before, context, meter)]
  return {
    wire,
    remedy,
    events: [...events, ...draft.edits, { type: "remedy-installed", remedy, beforeTokens, afterTokens }],
    context,
    memory: [],
    writer: draft.digest === undefined || choices.digest === "none" ? "none" : (draft.writer ?? "extractive"),
    beforeTokens,
    afterTokens,
    ...present({ digest: draft.digest }),
  }
}

/**
 * Returns the unread results that have to be whole, which are all but those that an edit shortened for lack of space, and whether the
 * user's latest message was shortened.
 */
function unreadIn(
  { conversation, unanswered, unread }: Scene,
  edits: readonly Edit[],
): Pick<Acceptance, "unread" | "wordsShortened"> {
  const cut = edits.filter((edit) => "reason" in edit && edit.reason === "no-room")
  const shortened = new Set(cut.flatMap((edit) => (edit.type === "result-shortened" ? edit.callId : [])))
  const results = conversation
    .slice(unanswered)
    .flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"))
  return {
    unread: results.filter(({ callId }) => unread.has(callId) && !shortened.has(callId)),
    wordsShortened: cut.some(({ type }) => type === "part-replaced"),
  }
}

/** Maximum number of recorded failures: a broken draft has one kind of failure or thousands, and the first few show which. */
const maxFailures = 8

/** Encodes the request with the edits applied to its conversation, and its instructions and documents back in their places. */
export function writeEdits({ request, separation }: Scene, edits: readonly Edit[]): Wire {
  const { messages } = rejoin(separation, applyEdits(separation.conversation, edits))
  return encodeRequest(request, { messages })
}

export const incomingContext = ({
  messages,
  separation: { infrastructure, conversation },
}: Scene): VerifiedContext => ({
  messages,
  infrastructure,
  conversation,
})

export function outgoingContext({ format, separation }: Scene, wire: Wire): VerifiedContext {
  const sent = decodeRequest(format, wire)
  const standing = new Set(separation.infrastructure.documents.map(({ hash }) => hash))
  const { infrastructure, conversation } = separate(sent, { standing })
  return { messages: sent.messages, infrastructure, conversation }
}
