import type { Arbitrary } from "fast-check"
import { callId, type Message, messageId, type Part, type Transcript } from "../../src/message/message.ts"
import { fc } from "./property.ts"

/**
 * One history after another, each made of the one before: some messages from its beginning, the last of them written anew, and more
 * behind them. What stays is the same object.
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

/** The same with ids of its own for each step, so that a history without a fault can go on without one. */
export const goodHistories = (transcript: Arbitrary<Transcript>): Arbitrary<readonly Transcript[]> =>
  histories(transcript, ({ id, role, parts }, step) => ({
    id: messageId(`${step}.${id}`),
    role,
    parts: parts.map((part): Part => {
      const isNamed = part.type === "tool-call" || part.type === "tool-result"
      return isNamed ? { ...part, callId: callId(`${step}.${part.callId}`) } : part
    }),
  }))

/** The same messages as objects that nobody has seen. */
export const unseen = (messages: Transcript): Transcript => messages.map((item) => ({ ...item }))
