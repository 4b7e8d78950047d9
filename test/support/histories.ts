import type { Arbitrary } from "fast-check"
import type { Transcript } from "../../src/message/message.ts"
import { fc } from "./property.ts"

/**
 * One history after another, each made of the one before: some messages from its beginning, the last of them written anew, and more
 * behind them. What stays is the same object.
 */
export const histories = (transcript: Arbitrary<Transcript>): Arbitrary<readonly Transcript[]> =>
  fc
    .array(fc.record({ kept: fc.nat(40), rewritten: fc.nat(3), more: transcript }), { minLength: 2, maxLength: 6 })
    .map((steps) => {
      const made: Transcript[] = []
      for (const { kept, rewritten, more } of steps) {
        const before = (made.at(-1) ?? []).slice(0, kept)
        const from = before.length - rewritten
        made.push([...before.map((item, n) => (n < from ? item : { ...item })), ...more])
      }
      return made
    })

/** The same messages as objects that nobody has seen. */
export const unseen = (messages: Transcript): Transcript => messages.map((item) => ({ ...item }))
