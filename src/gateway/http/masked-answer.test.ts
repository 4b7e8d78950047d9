import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { UpstreamAnswer } from "./transport.ts"
import { maskedAnswer } from "./upstream-answer.ts"

const key = "sk-abcabcd-abc"

/** The relayed bytes of a response with these chunks. */
function told(pieces: readonly Buffer[], apiKey: string | undefined): Buffer {
  const answer: UpstreamAnswer = {
    status: 401,
    headers: {},
    rawHeaders: [],
    attempts: 1,
    take: (taker) => {
      for (const piece of pieces) taker.data(piece)
      taker.end()
    },
    resume: () => {},
    drop: () => {},
  }
  const heard: Buffer[] = []
  const taker = { data: (piece: Buffer) => heard.push(piece) > 0, end: () => {}, fail: () => {} }
  maskedAnswer(answer, apiKey === undefined ? {} : { apiKey }).take(taker)
  return Buffer.concat(heard)
}

test("the key is masked in any chunking, and every other byte is relayed", () => {
  const piece = fc.oneof(
    fc.constantFrom(key, key.slice(0, 5), key.slice(5), "sk-abc", "sk-"),
    fc.string({ maxLength: 5 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 6 }), (texts, cuts) => {
      const whole = Buffer.from(texts.join(""))
      const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length]
      const pieces = at.slice(1).map((end, n) => whole.subarray(at[n], end))
      expect(told(pieces, key).toString()).toBe(whole.toString().replaceAll(key, "*".repeat(key.length)))
      expect(told(pieces, undefined).equals(whole)).toBe(true)
    }),
  )
})
