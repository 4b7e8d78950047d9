import type { Arbitrary } from "fast-check"
import { callId, type Message, messageId, type Part, type Transcript } from "../../src/message/message.ts"
import { fc } from "./property.ts"

/**
 * Generates successive histories, each made from the previous one: some messages from its beginning, the last of them rewritten, and more
 * appended. Unchanged messages are the same objects.
 */
export const histories = (
  transcript: Arbitrary<Transcript>,
  named: (item: Message, step: number) => Message = (item) => item,
): Arbitrary<readonly Transcript[]> =>
  fc
    .array(fc.record({ kept: fc.nat(40), rewritten: fc.nat(3), more: transcript }), { minLength: 2, maxLength: 6 })
    .map((steps) => {
      const made: Transcript[] = []
      for (const [step, { kept, rewritten, more }] of steps.entries()) {
        const before = (made.at(-1) ?? []).slice(0, kept)
        const from = before.length - rewritten
        const same = before.map((item, n) => (n < from ? item : { ...item }))
        made.push([...same, ...more.map((item) => named(item, step))])
      }
      return made
    })

/** The same with different ids in each step, so that a valid history can continue as a valid one. */
export const goodHistories = (transcript: Arbitrary<Transcript>): Arbitrary<readonly Transcript[]> =>
  histories(transcript, ({ id, role, parts }, step) => ({
    id: messageId(`${step}.${id}`),
    role,
    parts: parts.map((part): Part => {
      const isNamed = part.type === "tool-call" || part.type === "tool-result"
      return isNamed ? { ...part, callId: callId(`${step}.${part.callId}`) } : part
    }),
  }))

/** Returns copies of the messages, which no cache knows. */
export const unseen = (messages: Transcript): Transcript => messages.map((item) => ({ ...item }))
