import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { brokenTranscript, goodTranscript, message, result, text } from "../../../test/support/transcripts.ts"
import { callId, type Message, messageId, type Transcript, textOf, tokens } from "../../message/message.ts"
import { type Fact, quoteValue } from "./fact.ts"
import { fitLedger } from "./fit.ts"
import { buildLedger, extendLedger, mergeLedgers } from "./ledger.ts"
import { parseLedger } from "./parse.ts"
import { renderFacts } from "./render.ts"

const count = (written: string) => tokens(Math.ceil(written.length / 4))

const piece = fc.constantFrom(
  ...[
    "W-1042",
    "src/a/total.py:42",
    "$500",
    "The cap is $800",
    "cap: $900",
    "ana@example.com",
    "May 20th",
    "Ines Moreau",
  ],
  ...[
    "订单号是ORD12345",
    "заказ-1042",
    "`a b`",
    "--x=y_1",
    "\n",
    "\u2028",
    "| id | n |\n|--|--|\n| A-17 | 4 |",
    "\ud800",
    "<b>",
    "1.10",
  ],
)
const prose = fc.array(fc.oneof(piece, fc.string({ maxLength: 8 })), { maxLength: 8 }).map((pieces) => pieces.join(" "))
const output = fc.oneof(
  prose,
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.record({ id: piece, status: piece, total: fc.nat() }).map((value) => JSON.stringify([value])),
)

const turn = fc.oneof(
  prose.map((said) => (n: number): readonly Message[] => [message(`u${n}`, "user", text(said))]),
  prose.map((said) => (n: number): readonly Message[] => [message(`a${n}`, "assistant", text(said))]),
  fc.tuple(piece, output).map(([argument, said]) => (n: number): readonly Message[] => [
    message(`c${n}`, "assistant", {
      ...{ type: "tool-call", callId: callId(`${n}`), tool: "shell", kind: "function" },
      input: { command: argument, nested: { note: said } },
    }),
    message(`r${n}`, "user", result(`${n}`, said)),
  ]),
)
const telling = fc.array(turn, { maxLength: 8 }).map((turns): Transcript => turns.flatMap((make, n) => make(n)))
const transcripts = fc.oneof({ weight: 4, arbitrary: telling }, goodTranscript)

const holds = ({ parts }: Message, value: string): boolean => {
  const said = parts.map(textOf).join("\n")
  return (
    said.includes(value) ||
    said.includes(JSON.stringify(value).slice(1, -1)) ||
    said.includes(JSON.stringify(JSON.stringify(value)).slice(3, -3))
  )
}

test("every value stands verbatim in the message it names, on one line", () => {
  fc.assert(
    fc.property(transcripts, (messages) => {
      for (const { value, first, source } of buildLedger(messages).facts.values()) {
        const at = messages[first]
        expect(at?.id).toBe(source.messageId)
        expect(at !== undefined && holds(at, value), value).toBe(true)
        expect(value).not.toMatch(/[\n\r\u2028\u2029]/)
      }
    }),
  )
})

test("reading on is reading the whole, wherever the reading paused", () => {
  fc.assert(
    fc.property(fc.oneof(transcripts, brokenTranscript), fc.nat(16), (messages, at) => {
      expect(extendLedger(buildLedger(messages.slice(0, at)), messages.slice(at))).toEqual(buildLedger(messages))
    }),
  )
})

test("merging twice is merging once, a part adds nothing to the whole, and the order of merging does not matter", () => {
  fc.assert(
    fc.property(transcripts, fc.nat(16), fc.nat(16), (messages, one, other) => {
      const whole = buildLedger(messages)
      const a = buildLedger(messages.slice(0, one))
      const b = buildLedger(messages.slice(0, other))
      expect(mergeLedgers(whole, whole)).toEqual(whole)
      expect(mergeLedgers(a, whole)).toEqual(whole)
      expect(mergeLedgers(a, mergeLedgers(b, whole))).toEqual(mergeLedgers(mergeLedgers(a, b), whole))
      expect(mergeLedgers(a, b).facts).toEqual(mergeLedgers(b, a).facts)
    }),
  )
})

test("a fitted ledger keeps to its budget, holds every value it claims, and is the same each time", () => {
  fc.assert(
    fc.property(transcripts, fc.nat(200), (messages, budget) => {
      const ledger = buildLedger(messages)
      const fitted = fitLedger(ledger, budget, { count })
      expect(fitted.tokens).toBe(count(fitted.text))
      expect(fitted.tokens).toBeLessThanOrEqual(budget)
      for (const { value } of fitted.facts) expect(fitted.text).toContain(quoteValue(value))
      expect(fitted.text.split(/[\n\r\u2028\u2029\u0085]/).length).toBeLessThanOrEqual(1 + 2 * fitted.facts.length)
      expect(fitLedger(buildLedger(messages), budget, { count })).toEqual(fitted)
    }),
  )
})

const at = { messageId: messageId("digest"), position: 0 }
const saidOf = ({ value, label, subject, state, givenByUser }: Fact): string =>
  JSON.stringify([value, label, subject ?? "", state, givenByUser])
const saidIn = (facts: Iterable<Fact>): readonly string[] => [...new Set([...facts].map(saidOf))].sort()

test("for any transcript, reading what was printed gives the values, labels, subjects, states and givers that were printed", () => {
  fc.assert(
    fc.property(transcripts, fc.nat(400), (transcript, budget) => {
      const { facts, text: fitted } = fitLedger(buildLedger(transcript), budget, { count })
      expect(saidIn(parseLedger(fitted, at).facts.values())).toEqual(saidIn(facts))
    }),
  )
})

test("any text parses, and what was read is printed so that it reads the same again", () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "a: b",
      "of `x y`: a b",
      "  K1: a b; c d",
      "x: y (a b)",
      "From the user",
      "a: ``",
      "of : x",
      "a: `b",
      "b: c (failed)",
    ),
  )
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const once = parseLedger(lines.join("\n"), at)
      const again = parseLedger(renderFacts([...once.facts.values()]), at)
      expect(saidIn(again.facts.values())).toEqual(saidIn(once.facts.values()))
    }),
  )
})
