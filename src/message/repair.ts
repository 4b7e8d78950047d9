import { assert } from "./assert.ts"
import type { CheckOptions } from "./check.ts"
import type { CallId, MessageId } from "./ids.ts"
import type { Mend } from "./mend.ts"
import type { Transcript } from "./message.ts"
import { present } from "./present.ts"
import { performMends } from "./repair-perform.ts"
import { repairPlans } from "./repair-plan.ts"

/** A mend that was made: where, in ids, and in which step of the repair. */
export type RepairEvent = Mend & { readonly step: number; readonly messageId: MessageId; readonly callId?: CallId }

export type Repaired = { readonly messages: Transcript; readonly events: readonly RepairEvent[] }

/**
 * Make a transcript that came from outside fit to send: every call with its result, every id once, no empty message. No text is
 * lost: what cannot stand where it is becomes a quotation there. A good transcript comes back as the same object.
 */
export function repair(messages: Transcript, options: CheckOptions = {}): Repaired {
  const events: RepairEvent[] = []
  let repaired = messages
  let step = 0
  for (const plan of repairPlans) {
    // Putting one result in its place may part another from its call: again, until nothing is left to do.
    for (let mends = plan(repaired, options); mends.length > 0; mends = plan(repaired, options)) {
      assert(step <= messages.length + repairPlans.length, "a repair that does not end")
      const before = repaired
      events.push(...mends.flatMap((mend) => eventOf(before, mend, step)))
      repaired = performMends(before, mends)
      step++
    }
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
  return [...Map.groupBy(events, ({ step }) => step).values()].reduce(performMends, messages)
}
