import { describe, expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import type { Channel } from "../message/message.ts"
import { runSteps } from "../message/steps.ts"
import { carryPins, type Pin, type RuleKind } from "./pin.ts"
import { createPinLedger, pinLedger } from "./pin-ledger.ts"
import { readReplacements } from "./read-replacements.ts"

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

  const moreNow = "From now on never spend more than $800."
  const further: readonly [
    why: string,
    earlier: Partial<Pin>,
    later: Partial<Pin>,
    text: string,
    states: readonly string[],
  ][] = [
    [
      "what was asked for goes where another that was asked for says so",
      { by: "asked" },
      { by: "asked" },
      moreNow,
      ["superseded", "in-force"],
    ],
    ["and stays where it does not", { by: "asked" }, { by: "asked" }, more, ["in-force", "in-force"]],
    [
      "no rule takes the place of one of the operator's",
      { by: "operator" },
      { by: "asked" },
      moreNow,
      ["in-force", "in-force"],
    ],
    ["nor does the operator's take another's", {}, { by: "operator" }, moreNow, ["in-force", "in-force"]],
    [
      "what is said in one message is meant together",
      { place: { entry: "e1", part: 0, start: 0 } },
      { place: { entry: "e1", part: 1, start: 9 } },
      more,
      ["in-force", "in-force"],
    ],
    [
      "what is said in two is not",
      { place: { entry: "e1", part: 0, start: 0 } },
      { place: { entry: "e2", part: 0, start: 0 } },
      more,
      ["superseded", "in-force"],
    ],
    [
      "nor what is said in a message and in a document",
      { place: { document: "d" } },
      { place: { entry: "e1", part: 0, start: 0 } },
      more,
      ["superseded", "in-force"],
    ],
    [
      "nor what is said in a message and who knows where",
      { place: { entry: "e1", part: 0, start: 0 } },
      {},
      more,
      ["superseded", "in-force"],
    ],
    [
      "nor what is said who knows where and in a message",
      {},
      { place: { entry: "e1", part: 0, start: 0 } },
      more,
      ["superseded", "in-force"],
    ],
    [
      "what was found takes no place of what was asked for, whatever it says",
      { by: "asked" },
      {},
      moreNow,
      ["in-force", "in-force"],
    ],
    ...(["document", "memory"] as const).flatMap((channel): typeof further => [
      [
        `one ${channel} takes no other's place`,
        { channel, source: "a" },
        { channel, source: "b" },
        more,
        ["in-force", "in-force"],
      ],
      [
        `a ${channel} takes its own`,
        { channel, source: "a" },
        { channel, source: "a" },
        more,
        ["superseded", "in-force"],
      ],
    ]),
    [
      "whatever the file that the user's words are from",
      { source: "a" },
      { source: "b" },
      more,
      ["superseded", "in-force"],
    ],
  ]
  test.each(further)("%s", (_why, earlier, later, text, expected) => {
    expect(states(pin("a", cap, earlier), pin("b", text, later))).toEqual(expected)
  })

  test.each<
    [why: string, earlier: readonly [Pin["kind"], string], later: readonly [Pin["kind"], string], kept: boolean]
  >([
    [
      "a ban on one server stays when another is to be restarted",
      ["prohibition", "Never restart server 1."],
      ["obligation", "From now on always restart server 2."],
      true,
    ],
    [
      "an order for one region stays when another is banned",
      ["obligation", "Always deploy to region 1."],
      ["prohibition", "From now on, never deploy to region 2."],
      true,
    ],
    [
      "two bans stay",
      ["prohibition", "Never deploy to region 1."],
      ["prohibition", "From now on, never deploy to region 2."],
      true,
    ],
    [
      "an order for the same region is replaced by its ban",
      ["obligation", "Always deploy to region 1."],
      ["prohibition", "From now on, never deploy to region 1."],
      false,
    ],
  ])("of things with numbers, %s", (_why, [kind, text], [laterKind, laterText], kept) => {
    const found = states(pin("a", text, { kind }), pin("b", laterText, { kind: laterKind }))
    expect(found).toEqual([kept ? "in-force" : "superseded", "in-force"])
  })

  test("a rule names the one that took its place, and the others name none", () => {
    const ledger = pinLedger([pin("a", cap), pin("b", more), pin("c", more)])
    expect(ledger.map(({ id, successor }) => [id, successor])).toEqual([
      ["a", "b"],
      ["b", undefined],
      ["c", "b"],
    ])
    expect(ledger.map((one) => "successor" in one)).toEqual([true, false, true])
  })

  test("a rule that is said again once another took its place stands again", () => {
    expect(states(pin("a", cap), pin("b", more), pin("c", cap))).toEqual(["superseded", "superseded", "in-force"])
  })

  test("of the same words the more trusted channel's stand, then those that were asked for, then the first", () => {
    const said = (one: Partial<Pin>, other: Partial<Pin>): readonly string[] =>
      states(pin("a", cap, one), pin("b", cap, other))
    expect(said({ channel: "system" }, { channel: "user", by: "asked" })).toEqual(["in-force", "repeated"])
    expect(said({ by: "asked" }, { by: "asked" })).toEqual(["in-force", "repeated"])
    expect(said({ by: "asked" }, {})).toEqual(["in-force", "repeated"])
    expect(said({ by: "asked" }, { by: "operator" })).toEqual(["repeated", "in-force"])
  })

  test("a rule that was said by someone less trusted first names the one that stands", () => {
    const [one, two] = pinLedger([pin("a", cap, { channel: "tool" }), pin("b", cap)])
    expect([one?.successor, two?.successor]).toEqual(["b", undefined])
  })

  test("rules that only share a word are in conflict with none", () => {
    const [one, two] = pinLedger([pin("a", cap), pin("b", "Never spend a night abroad.", { channel: "tool" })])
    expect([one?.conflicts, two?.conflicts]).toEqual([[], []])
  })

  test("a repeated rule is in conflict with none", () => {
    const [one, two, three] = pinLedger([pin("a", cap), pin("b", more, { channel: "tool" }), pin("c", cap)])
    expect([one?.conflicts, two?.conflicts, three?.conflicts]).toEqual([["b"], ["a"], []])
  })

  test("rules that come one by one stand as they do together, and what was told does not change", () => {
    const pins = [pin("a", cap), pin("b", more, { channel: "tool" }), pin("c", more)]
    const ledger = createPinLedger()
    const told = runSteps(ledger.extend(pins.slice(0, 2)))
    const before = structuredClone(told)
    expect(runSteps(ledger.extend(pins.slice(2)))).toEqual(pinLedger(pins))
    expect(told).toEqual(before)
    expect(runSteps(ledger.extend([]))).toEqual(pinLedger(pins))
  })

  test("a new rule is compared with the newest forty about its subject, and with no more", () => {
    const others = (count: number): readonly Pin[] =>
      Array.from({ length: count }, (_, n) =>
        pin(`o${n}`, `Never spend more on item${"abcdefghij"[n % 10]}${"abcdefghij"[Math.floor(n / 10)]}.`, {
          channel: "memory",
          source: `${n}`,
        }),
      )
    const stateOfFirst = (count: number): string | undefined =>
      states(pin("a", cap), ...others(count), pin("b", more))[0]
    expect(stateOfFirst(39)).toBe("superseded")
    expect(stateOfFirst(40)).toBe("in-force")
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

test("a ban on one thing never takes the place of a ban on another, whatever it is that must not be done", () => {
  const act = fc.constantFrom(
    ..."change replace raise lower update move drop cancel stop lift switch delete open close".split(" "),
  )
  const thing = fc.constantFrom(
    ...[
      "table 1",
      "queue 2",
      "server 3",
      "the billing report",
      "config A",
      "config B",
      "the blue branch",
      "our price list",
    ],
  )
  const tail = fc.constantFrom("", " without a test", " without asking Anna", " on Fridays", " for customers")
  const lead = fc.constantFrom("Never", "Do not", "Don't ever", "You must not")
  fc.assert(
    fc.property(lead, lead, act, act, thing, thing, tail, (one, two, first, second, earlier, later, end) => {
      fc.pre(earlier !== later)
      const said = [`${one} ${first} ${earlier}${end}.`, `${two} ${second} ${later}${end}.`]
      const pins = said.map((text, n) => pin(`${n}`, text))
      expect(pinLedger(pins).map(({ state }) => state)).toEqual(["in-force", "in-force"])
      expect(readReplacements(said[1] ?? "", pins.slice(0, 1))).toEqual([])
    }),
    { numRuns: 20 * runs },
  )
})

test("a limit that is set anew takes the place of the one rule that speaks of it", () => {
  const rule = pin("1", "The cap is 500 dollars per order, never exceed it.")
  const other = pin("2", "The limit for hotels is 200 euros a night.")
  expect(readReplacements("The cap is 800 now.", [rule, other]).map((one) => one.pin)).toEqual([rule])
  expect(readReplacements("The limit is €250 from now on.", [rule, other]).map((one) => one.pin)).toEqual([other])
  expect(readReplacements("The cap is 800 now.", [rule, pin("3", "The cap for taxis is 50.")])).toEqual([])
  expect(readReplacements("The cap is 800 for this order.", [rule])).toEqual([])
})

test("what is to be done in a channel is over once the user says to stop it there, in whatever company he says so", () => {
  const asks = pin("1", "Post the progress in #ir-20418 every time, in English.")
  const bans = pin("2", "Never post names of customers in #ir-20418.")
  const stops = [
    "Please stop posting to #ir-20418.",
    "Sorry, stop posting to #ir-20418. Tessera is in there. Only update the ticket from now on.",
    "don't post to #ir-20418 anymore",
  ]
  for (const said of stops) expect(readReplacements(said, [asks, bans]).map((one) => one.pin)).toEqual([asks])
  const asked = pin("3", "進捗は毎回 #ir-20418 に英語で投稿してください。")
  expect(readReplacements("すみません、#ir-20418への投稿はもうやめて。", [asked]).map((one) => one.pin)).toEqual([
    asked,
  ])
  const others = [
    "Stop posting the logs to #ir-20418.",
    "Don't post this one to #ir-20418.",
    "Stop posting to #general.",
  ]
  for (const said of others) expect(readReplacements(said, [asks])).toEqual([])
  const stays: readonly (readonly [rule: string, said: string])[] = [
    ["Copy lena@firm.example and bob@firm.example on every mail.", "stop copying lena@firm.example"],
    ["Post the progress in #ops every time.", "stop posting to #ops-archive"],
    [
      "Post the progress in #ops, run the tests before a merge, sign each commit and ask Anna about prices.",
      "stop posting to #ops",
    ],
  ]
  for (const [rule, said] of stays) expect(readReplacements(said, [pin("4", rule)])).toEqual([])
})
