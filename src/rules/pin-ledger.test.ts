import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import type { Channel } from "../message/message.ts"
import { carryPins, type Pin, type RuleKind } from "./pin.ts"
import { pinLedger } from "./pin-ledger.ts"

const pin = (id: string, text: string, more: Partial<Pin> = {}): Pin => ({
  id,
  text,
  hash: "",
  channel: "user",
  by: "found",
  kind: "prohibition",
  scope: "session",
  ...more,
})
const states = (...pins: readonly Pin[]): readonly string[] => pinLedger(pins).map(({ state }) => state)

describe("how rules stand to one another", () => {
  const cap = "Never spend more than $500."
  const more = "Never spend more than $800."
  const cases: readonly [why: string, earlier: Partial<Pin>, later: Partial<Pin>, states: readonly string[]][] = [
    ["the latest of one channel wins", {}, {}, ["superseded", "in-force"]],
    ["a tool takes no user's place", {}, { channel: "tool" }, ["in-force", "in-force"]],
    ["nor the user the operator's", { channel: "operator", by: "operator" }, {}, ["in-force", "in-force"]],
    [
      "nor one operator's rule another's",
      { channel: "operator", by: "operator" },
      { channel: "operator", by: "operator" },
      ["in-force", "in-force"],
    ],
    ["what was found takes no place of what was asked for", { by: "asked" }, {}, ["in-force", "in-force"]],
    ["what is asked for takes the place of what was found", {}, { by: "asked" }, ["superseded", "in-force"]],
    [
      "one tool takes no other's place",
      { channel: "tool", source: "a" },
      { channel: "tool", source: "b" },
      ["in-force", "in-force"],
    ],
    [
      "a tool takes its own",
      { channel: "tool", source: "a" },
      { channel: "tool", source: "a" },
      ["superseded", "in-force"],
    ],
  ]
  test.each(cases)("%s", (_why, earlier, later, expected) => {
    expect(states(pin("a", cap, earlier), pin("b", more, later))).toEqual(expected)
  })

  test("rules of two channels that cannot both be kept are named to one another", () => {
    const [one, two] = pinLedger([pin("a", cap), pin("b", more, { channel: "tool" })])
    expect([one?.conflicts, two?.conflicts]).toEqual([["b"], ["a"]])
  })

  test("the same words twice stand once, by whoever has more say", () => {
    expect(states(pin("a", cap), pin("b", cap))).toEqual(["in-force", "repeated"])
    expect(states(pin("a", cap, { channel: "tool" }), pin("b", cap))).toEqual(["repeated", "in-force"])
    expect(states(pin("a", cap), pin("b", cap, { by: "asked" }))).toEqual(["repeated", "in-force"])
  })
})

const channels: readonly Channel[] = ["operator", "system", "user", "document", "memory", "tool"]
const kinds: readonly RuleKind[] = ["prohibition", "obligation", "permission-limit", "permission", "preference"]
const texts = [
  "Never spend more than $500.",
  "Never spend more than $800.",
  "You may spend whatever you like.",
  "The spending rule no longer applies.",
  "Always write in English.",
  "From now on write in Spanish.",
  "Never send mail to strangers.",
]
const anyPin = fc
  .record({
    text: fc.constantFrom(...texts),
    channel: fc.constantFrom(...channels),
    asked: fc.boolean(),
    kind: fc.constantFrom(...kinds),
    source: fc.constantFrom("a", "b"),
  })
  .map(({ text, channel, asked, kind, source }): Omit<Pin, "id"> => {
    const by = channel === "operator" ? "operator" : asked && channel === "user" ? "asked" : "found"
    return { text, hash: "", channel, by, kind, scope: "session", source }
  })
const anyPins = fc.array(anyPin, { maxLength: 30 }).map((pins) => pins.map((one, n): Pin => ({ ...one, id: `${n}` })))

test("for any rules, none of the operator's ever loses its force, and none loses it to a less trusted channel", () => {
  fc.assert(
    fc.property(anyPins, (pins) => {
      const ledger = pinLedger(pins)
      const byId = new Map(ledger.map((one) => [one.id, one]))
      const inForce = new Set(ledger.filter(({ state }) => state === "in-force").map(({ text }) => text))
      for (const { state, successor, text, channel } of ledger) {
        if (channel === "operator") expect(inForce).toContain(text)
        if (state === "superseded") expect(byId.get(successor ?? "")?.channel).toBe(channel)
        if (state === "repeated") expect(byId.get(successor ?? "")?.text).toBe(text)
      }
    }),
  )
})

test("for any rules and any room, what is asked for and the operator's are carried, the rest stays within it", () => {
  fc.assert(
    fc.property(anyPins, fc.nat(200), (pins, budgetTokens) => {
      const count = (text: string): number => Math.ceil(text.length / 4)
      const { carried, leftOut } = carryPins(pins, { budgetTokens, count })
      expect(new Set([...carried, ...leftOut])).toEqual(new Set(pins))
      expect(leftOut.every(({ by }) => by === "found")).toBe(true)
      const found = carried.filter(({ by }) => by === "found")
      expect(found.reduce((sum, { text }) => sum + count(text), 0)).toBeLessThanOrEqual(budgetTokens)
      expect(found.filter(({ channel, source }) => channel === "tool" && source === "a").length).toBeLessThanOrEqual(16)
    }),
  )
})
