import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { type Message, messageId, tokens } from "../message/message.ts"
import { createMeter } from "./meter.ts"
import { createTally, extendTally, tailStart, tallyTranscript, tokensBetween } from "./tally.ts"

const meter = createMeter({ model: "gpt-4o" })
const message = (text: string, n = 0): Message => ({
  id: messageId(`m${n}`),
  role: "user",
  parts: [{ type: "text", text }],
})
const sizes = (messages: readonly Message[]): number => messages.reduce((total, one) => total + meter.message(one), 0)
const transcripts = fc.array(fc.lorem({ maxCount: 3 }), { maxLength: 200 }).map((texts) => texts.map(message))

test("any stretch of any history is the sum of its messages, however it was put together", () => {
  fc.assert(
    fc.property(transcripts, fc.nat(200), fc.nat(200), (messages, one, other) => {
      const [from = 0, end = 0] = [Math.min(one, messages.length), Math.min(other, messages.length)].sort(
        (a, b) => a - b,
      )
      const first = extendTally(createTally(meter), messages.slice(0, from))
      const whole = tallyTranscript(first, messages)
      expect(whole.total).toBe(sizes(messages))
      expect(tokensBetween(whole, from, end)).toBe(sizes(messages.slice(from, end)))
      expect(first.total).toBe(sizes(messages.slice(0, from)))
    }),
    { seed: 20_261_115, numRuns: 300 },
  )
})

test("two futures of one history do not disturb each other", () => {
  const past = extendTally(createTally(meter), [message("hello"), message("there")])
  const one = extendTally(past, [message("a longer future than the other one")])
  const other = extendTally(past, [message("short")])
  expect(one.total).toBe(past.total + meter.message(message("a longer future than the other one")))
  expect(other.total).toBe(past.total + meter.message(message("short")))
  expect(tokensBetween(one, 2, 3)).toBe(one.total - past.total)
})

test("a history that was rewritten is counted from the start", () => {
  const past = extendTally(createTally(meter), [message("one"), message("two"), message("three")])
  const rewritten = [message("summary"), message("three")]
  expect(tallyTranscript(past, rewritten).total).toBe(sizes(rewritten))
})

test("a message changed in the middle is counted anew, though the ends are the same objects", () => {
  const [first, second, third] = [message("one", 1), message("two", 2), message("three", 3)]
  const past = extendTally(createTally(meter), [first, second, third])
  const changed = [first, message("a much longer second message", 2), third]
  expect(tallyTranscript(past, changed).total).toBe(sizes(changed))
  expect(past.total).toBe(sizes([first, second, third]))
})

test("appending asks the meter for the new messages only", () => {
  const asked: Message[] = []
  const watch = (one: Message) => {
    asked.push(one)
    return meter.message(one)
  }
  const watched = { ...meter, message: watch }
  const past = extendTally(
    createTally(watched),
    Array.from({ length: 5000 }, (_, n) => message("x", n)),
  )
  const added = message("new")
  asked.length = 0
  extendTally(past, [added])
  expect(asked).toEqual([added])
})

test.each([
  [0, 3],
  [14, 1],
  [15, 1],
  [1000, 0],
])("with %i tokens the tail begins at message %i", (budget, start) => {
  const tally = extendTally(createTally(meter), [message("one two three four"), message("one two"), message("one two")])
  const fits = tokensBetween(tally, start, 3)
  expect(tailStart(tally, tokens(budget))).toBe(start)
  expect(fits).toBeLessThanOrEqual(Math.max(budget, 0))
})
