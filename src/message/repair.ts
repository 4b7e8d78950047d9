import type { Ended } from "./check.ts"
import type { CallId, MessageId } from "./ids.ts"
import type { Mend } from "./mend.ts"
import type { Transcript } from "./message.ts"
import { present } from "./present.ts"
import { performMends } from "./repair-perform.ts"
import { repairSteps } from "./repair-plan.ts"

/** A mend that was made: where, in ids, and in which step of the repair. */
export type RepairEvent = Mend & { readonly step: number; readonly messageId: MessageId; readonly callId?: CallId }

export type Repaired = { readonly messages: Transcript; readonly events: readonly RepairEvent[] }

/**
 * Make a transcript that came from outside fit to send: every call with its result, every id once, no empty message. No text is
 * lost: what cannot stand where it is becomes a quotation there. A good transcript comes back as the same object.
 */
export function repair(messages: Transcript, { ended = false }: Ended = {}): Repaired {
  const events: RepairEvent[] = []
  let repaired = messages
  for (const [step, plan] of repairSteps.entries()) {
    const mends = plan(repaired, ended)
    if (mends.length === 0) continue
    events.push(...mends.flatMap((mend) => eventOf(repaired, mend, step)))
    repaired = performMends(repaired, mends)
  }
  return { messages: repaired, events }
}

function eventOf(messages: Transcript, mend: Mend, step: number): readonly RepairEvent[] {
  const message = messages[mend.message]
  if (message === undefined) return []
  const part = "part" in mend ? message.parts[mend.part] : undefined
  const call = part?.type === "tool-call" || part?.type === "tool-result" ? part.callId : undefined
  return [{ ...mend, step, messageId: message.id, ...present({ callId: call }) }]
}

/** Do the mends of one repair again: the same messages and events give the same transcript. */
export function replayRepair(messages: Transcript, events: readonly RepairEvent[]): Transcript {
  return repairSteps.reduce((repaired: Transcript, _plan, at) => {
    const mends = events.filter(({ step }) => step === at)
    return mends.length === 0 ? repaired : performMends(repaired, mends)
  }, messages)
}
