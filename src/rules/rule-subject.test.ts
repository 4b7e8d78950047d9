import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { kindOfRule } from "./find-rules.ts"
import { conflicts, type RuleText, sameSubject } from "./pin-ledger.ts"

const ruleIn = (text: string): RuleText => ({ text, kind: kindOfRule(text) })

describe("a later rule takes the place of one about the same thing", () => {
  test.each([
    ["the cap", "Never spend more than $100 without approval.", "The spend cap must now stay at $800."],
    ["the channel", "All reports go to #ops.", "From now on, send reports to #eng-status."],
    ["the language", "Always reply in English.", "From now on reply in Spanish."],
    ["a quantity", "Keep functions under 50 lines.", "Keep functions under 70 lines."],
    [
      "a number that names a thing, where it says so",
      "Use port 8080 for the API.",
      "Use port 9090 for the API from now on.",
    ],
    ["the region", "Deploy only to us-west-2.", "Deploy only to eu-central-1."],
    ["the address", "Send all invoices to ann@example.org.", "Send all invoices to bob@example.org."],
    ["what was forbidden is allowed", "Never email contractors.", "You may now email contractors."],
    ["in Chinese", "花费不得超过100元。", "花费上限必须改为800元。"],
    ["in Spanish", "No gastes más de 100 dólares.", "Ahora no gastes más de 800 dólares."],
    ["the very same words", "Use tabs.", "Use tabs."],
  ])("%s", (_name, earlier, later) => {
    expect(sameSubject(ruleIn(earlier), ruleIn(later))).toBe(true)
  })

  test.each([
    ["another place", "Never delete tables in production.", "Never delete tables in staging."],
    ["one more condition", "Never email external recipients.", "Never email external recipients without encryption."],
    ["another thing", "All reports go to #ops.", "All invoices go to #finance."],
    ["another act", "Use tabs for indentation.", "Run the tests before committing."],
    ["another number that names a thing", "Never touch issue 12.", "Never touch issue 13."],
    ["other numbers of other things", "Keep out of room 4 of house 7.", "Keep out of room 5 of house 8."],
    ["its first noun", "Log messages are in English.", "Error messages must be in German."],
    ["whom it is for", "Lunch orders for the bar are due at 10.", "Lunch orders for the kitchen are due at 11."],
    ["what is counted", "Send at most 30 emails a day.", "Send at most 5 attachments a day."],
    ["another limit", "Spend at most $100 per order.", "Wait at most 30 seconds per request."],
  ])("and leaves one that differs in %s", (_name, earlier, later) => {
    expect(sameSubject(ruleIn(earlier), ruleIn(later))).toBe(false)
  })
})

/** A rule with its topics and values given, so that only the comparison is tested. */
type Given = Parameters<typeof sameSubject>[0]
const given = (
  topic: string,
  {
    text = `about ${topic}`,
    kind = "prohibition",
    values = {},
  }: Partial<Pick<Given, "text" | "kind">> & {
    readonly values?: Readonly<Record<string, readonly string[]>>
  } = {},
): Given => ({
  text,
  kind,
  topic: topic.split(" ").filter((word) => word !== ""),
  values: new Map(Object.entries(values)),
})

describe("what two rules must share for the later to take the earlier one's place", () => {
  const [low, high] = [{ values: { money: ["100"] } }, { values: { money: ["800"] } }]
  const now = "from now on"
  const [allows, demands, likes] = [{ kind: "permission" }, { kind: "obligation" }, { kind: "preference" }] as const
  const cases: readonly [situation: string, earlier: Given, later: Given, expected: boolean][] = [
    ["another value of all the same topics", given("cap order", low), given("cap order", { ...high, text: "x" }), true],
    ["another value and one topic more", given("cap", low), given("cap order", high), false],
    ["another value and one topic less", given("cap order", low), given("cap", high), false],
    ["the same, and it says that it replaces", given("cap", low), given("cap order", { ...high, text: now }), true],
    ["half of the topics, and it says so", given("cap order", low), given("cap trip", { ...high, text: now }), true],
    ["a third of them", given("cap order day", low), given("cap trip week", { ...high, text: now }), false],
    ["another value of something else", given("cap", low), given("trip", { ...high, text: now }), false],
    ["no topic at all", given("", low), given("", { ...high, text: now }), false],
    [
      "one of several values the same",
      given("cap", { values: { money: ["1", "2"] } }),
      given("cap order", { values: { money: ["2", "3"] }, text: now }),
      false,
    ],
    [
      "another name",
      given("report", { values: { name: ["ops"] } }),
      given("report", { values: { name: ["dev"] }, text: "x" }),
      false,
    ],
    [
      "another name, and it says so",
      given("report", { values: { name: ["ops"] } }),
      given("report", { values: { name: ["dev"] }, text: now }),
      true,
    ],
    [
      "another day",
      given("report", { values: { day: ["monday"] } }),
      given("report", { values: { day: ["friday"] }, text: "x" }),
      false,
    ],
    [
      "another day, and it says so",
      given("report", { values: { day: ["monday"] } }),
      given("report", { values: { day: ["friday"] }, text: now }),
      true,
    ],
    ["no topic at all, and the same values", given("", low), given("", { ...low, text: "x" }), false],
    [
      "the same values in another order",
      given("a", { values: { m: ["1", "2"], n: ["3"] } }),
      given("a", { values: { n: ["3"], m: ["2", "1"] }, text: "x" }),
      true,
    ],
    [
      "values that read the same only when joined",
      given("a", { values: { m: ["1", "23", "x"] } }),
      given("a", { values: { m: ["12", "3", "x"] }, text: "x" }),
      false,
    ],
    ["demanded where it was forbidden, one topic less", given("a b"), given("a", demands), true],
    ["forbidden where it was demanded, one topic less", given("a b", demands), given("a"), true],
    ["forbidden where it was allowed, one topic less", given("a b", allows), given("a"), true],
    ["forbidden where it was liked, one topic less", given("a b", likes), given("a"), false],
    ["liked where it was demanded, one topic less", given("a b", demands), given("a", likes), false],
    ["allowed where it was allowed, one topic less", given("a b", allows), given("a", allows), false],
    ["demanded where it was demanded, one topic less", given("a b", demands), given("a", demands), false],
    ["three of four topics, and it says so", given("a b c d"), given("a b c e", { text: now }), true],
    ["three of four topics", given("a b c d"), given("a b c e"), false],
    ["two of three topics, and it says so", given("a b c"), given("a b d", { text: now }), false],
    ["the same topics and values", given("a b", low), given("a b", { ...low, text: "x" }), true],
    ["the same topics, a value more", given("a b"), given("a b", { ...low, text: "x" }), false],
    ["a topic more of the same rule", given("a"), given("a b"), false],
    ["a topic less of the same rule", given("a b"), given("a"), false],
    ["the opposite of all of it", given("a b"), given("a b", { ...allows, text: "x" }), true],
    ["the opposite of all of it, demanded", given("a b"), given("a b", { ...demands, text: "x" }), true],
    ["the opposite, forbidden where it was demanded", given("a b", demands), given("a b", { text: "x" }), true],
    ["allowed where it was demanded", given("a b", demands), given("a", allows), true],
    ["liked where it was forbidden, one topic less", given("a b"), given("a", likes), false],
    ["the opposite of all but one topic of it", given("a b"), given("a", allows), true],
    ["the opposite of a part of it", given("a b c"), given("a", allows), false],
    ["the opposite of a part of it, and it says so", given("a b c"), given("a", { ...allows, text: now }), true],
    ["the opposite of more", given("a"), given("a b", allows), false],
    ["the opposite of more, and it says so", given("a"), given("a b", { ...allows, text: now }), true],
    ["the opposite of far more, and it says so", given("a"), given("a b c", { ...allows, text: now }), false],
    [
      "the opposite, with nothing in common but a common word",
      given("email"),
      given("email", { ...allows, text: "x" }),
      false,
    ],
    ["the same, and it says so", given("email"), given("email", { ...allows, text: now }), true],
    ["the same with one topic less", given("email b"), given("email", { ...allows, text: now }), false],
    ["one common word and one other", given("email b"), given("email b", { ...allows, text: "x" }), true],
  ]
  test.each(cases)("%s", (_situation, earlier, later, expected) => {
    expect(sameSubject(earlier, later)).toBe(expected)
  })

  test.each(["send", "reply", "approval", "email", "external", "customer", "test"])("%s is no topic alone", (word) => {
    expect(sameSubject(given(word), given(word, { ...allows, text: "x" }))).toBe(false)
  })
})

test("a ban on another thing of the same kind stands beside the first", () => {
  const noun = fc.constantFrom("region", "table", "server", "customer", "building")
  const verb = fc.constantFrom("delete", "touch", "rename", "restart", "open")
  fc.assert(
    fc.property(noun, verb, fc.nat(9999), fc.nat(9999), (kind, act, one, two) => {
      fc.pre(one !== two)
      const [first, later] = [one, two].map((n) => ruleIn(`From now on, never ${act} the lock of ${kind} ${n}.`))
      if (first !== undefined && later !== undefined) expect(sameSubject(first, later)).toBe(false)
    }),
  )
})

describe("a rule says that it takes another's place", () => {
  const replaces = (text: string): boolean =>
    sameSubject(
      given("cap order", { values: { money: ["100"] } }),
      given("cap trip", { values: { money: ["800"] }, text }),
    )
  test.each([
    ...["now", "no longer", "change", "changed", "raise", "raised", "lowered", "increase", "increased", "reduced"],
    ...["update", "updated", "new", "from now on", "as of", "effective", "supersede", "supersedes", "replace"],
    ...["replaces", "anymore", "any more", "from today on", "starting", "Now", "ahora", "nuevo", "nueva", "ya no"],
    ...["en adelante", "cambia", "cambiado", "jetzt", "ab sofort", "nicht mehr", "desormais", "maintenant", "agora"],
  ])("%s", (word) => {
    expect(replaces(`The cap: ${word} 800.`)).toBe(true)
  })
  test.each(["现在", "改为", "改成", "不再", "从现在", "调整", "提高", "降低", "更新"])("%s", (word) => {
    expect(replaces(`上限${word}800元`)).toBe(true)
  })
  test.each(["Take 800 instead", "Take 800 instead.", "Take 800 instead  , please", "Take 800 instead!"])(
    "%s",
    (text) => {
      expect(replaces(text)).toBe(true)
    },
  )
  test.each(["Take 800 instead of cash.", "Instead: 800.", "The known cap, 800.", "A renewed cap, 800.", "cambi 800"])(
    "not with: %s",
    (text) => {
      expect(replaces(text)).toBe(false)
    },
  )
})

describe("a wish, a guess or someone else's words state no rule", () => {
  const takesPlace = (text: string): boolean =>
    sameSubject(given("cap", { values: { money: ["100"] } }), given("cap", { values: { money: ["800"] }, text }))
  const talk = [
    ...[
      "I'd",
      "I’d",
      "I would",
      "I'm",
      "I’m",
      "I am",
      "I'll",
      "I’ll",
      "I will",
      "I think",
      "I guess",
      "I hope",
      "I can",
    ],
    ...[
      "I could",
      "I might",
      "I was",
      "I just",
      "I wanted",
      "maybe",
      "perhaps",
      "if possible",
      "this time",
      "this once",
    ],
    ...["this one", "this order", "this trip", "this flight", "this booking", "just once", "for today", "today"],
    ...["tonight", "tomorrow", "he said", "she says", "they wrote", "it told", "he really thinks", "they think"],
    ...["she claims", "they claim", "he uses", "they use", "it deploys", "they deploy", "she spends", "they spend"],
  ]
  test.each(talk)("%s", (words) => {
    expect(takesPlace(`The cap, ${words}, is 800.`)).toBe(false)
  })
  test.each([
    ...["from now on", "from here on", "from today on", "from now onward", "from now onwards", "going forward"],
    ...["no longer", "never", "always", "must", "until further notice"],
  ])("unless it says: %s", (words) => {
    expect(takesPlace(`I think the cap is ${words} 800.`)).toBe(true)
  })
})

describe("two rules that cannot both be kept", () => {
  test.each([
    ["forbidden and allowed", "Never email contractors.", "You may email contractors.", true],
    ["two channels", "All reports go to #ops.", "All reports go to #eng-status.", true],
    ["two limits", "Spend at most $100 per order.", "Spend at most $800 per order.", true],
    ["two things", "Never push to main.", "Always run the tests.", false],
    ["the same rule", "Use tabs.", "Use tabs.", false],
    ["two places", "Never delete tables in production.", "Never delete tables in staging.", false],
  ])("%s", (_name, one, two, expected) => {
    expect(conflicts(ruleIn(one), ruleIn(two))).toBe(expected)
    expect(conflicts(ruleIn(two), ruleIn(one))).toBe(expected)
  })
})

test("two rules conflict only if they are about the same thing and one changes what the other says", () => {
  const [low, high] = [{ values: { money: ["100"] } }, { values: { money: ["800"] } }]
  const both = (one: Given, two: Given): readonly boolean[] => [conflicts(one, two), conflicts(two, one)]
  // Only one of the two says that it replaces the other.
  expect(both(given("cap order", low), given("cap trip", { ...high, text: "from now on" }))).toEqual([true, true])
  expect(both(given("a b", low), given("a b", { ...low, text: "x" }))).toEqual([false, false])
  expect(both(given("a b"), given("a b", { kind: "permission" }))).toEqual([false, false])
  expect(both(given("a b"), given("a b", { kind: "permission", text: "x" }))).toEqual([true, true])
})

test("any two texts compare the same every time, and a rule is about what it is about", () => {
  const kinds = fc.constantFrom<RuleText["kind"]>(
    "prohibition",
    "obligation",
    "permission-limit",
    "permission",
    "preference",
  )
  const rule = fc.record({ text: fc.string({ unit: codePoints, maxLength: 120 }), kind: kinds })
  fc.assert(
    fc.property(rule, rule, (one, two) => {
      expect(sameSubject(one, one)).toBe(true)
      expect(conflicts(one, one)).toBe(false)
      expect(conflicts(one, two)).toBe(conflicts(two, one))
    }),
  )
})
