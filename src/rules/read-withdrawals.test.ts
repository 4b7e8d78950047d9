import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { kindOfRule } from "./find-rules.ts"
import type { Pin } from "./pin.ts"
import { readReplacements } from "./read-replacements.ts"
import { readWithdrawals, ruleNamed, withdrawnBy } from "./read-withdrawals.ts"

const pinOf = (text: string, n: number): Pin => ({
  id: `e${n}`,
  text,
  hash: "",
  channel: "user",
  by: "found",
  kind: kindOfRule(text),
  scope: "session",
})

const left = (said: string, ...rules: readonly string[]): readonly string[] => {
  const pins = rules.map(pinOf)
  const gone = readWithdrawals(said).flatMap((withdrawal) => withdrawnBy(withdrawal, pins))
  return pins.filter((pin) => !gone.includes(pin)).map(({ text }) => text)
}

const other = "Never open the lock by night."

describe("a rule that is taken back in words", () => {
  test.each([
    ["Always use tabs for indentation.", "forget what I said about tabs"],
    ["Never put comments in the code.", "scrap that rule about comments"],
    ["Never edit harbour.sql.", "the harbour.sql rule no longer applies"],
    ["Never call guests before 9.", "ok, the rule about calling before 9 is off"],
    ["Never moor at the quay.", "you can moor at the quay again"],
    ["Never use ropes of hemp.", "ropes of hemp are fine after all"],
    ["Always reply in French.", "you can go back to english now"],
    ["Niemals am Kai ankern.", "Du darfst jetzt wieder am Kai ankern."],
    ["Nunca uses emojis.", "olvida lo que dije de los emojis"],
    ["以后都用中文回复", "忘掉我说的用中文回复的规定"],
    ["Never ring the bell.", "The bell rule is withdrawn."],
    ["Never moor at the quay.", "Never mind the quay rule."],
    ["Never land without a pilot.", "I hereby lift the rule on pilots, we have radar."],
    ["Never land on Sundays.", "scrap the Sunday rule"],
    ["No hemp on deck.", "Never mind the no-hemp rule."],
    ["Don't use flags with guests.", "Flags are fine with guests after all."],
    ["Nunca uses banderas.", "olvida lo de las banderas"],
    ["Don't use flags with me.", "you know what, flags are ok again, I was tired when I said that"],
  ])("%s — %s", (rule, said) => {
    expect(left(said, rule, other)).toEqual([other])
  })

  test.each([
    ["Never moor at the quay.", "forget about the lamp, paint the door"],
    ["Never moor at the quay.", "can I moor at the quay now?"],
    ["Never moor at the quay.", "my brother said you can moor at the quay again"],
    ["Never moor at the quay.", "The harbour master's new assistant says that you may moor at the quay now."],
    ["Never delete branches.", "you can delete this branch now"],
    ["Always run tests.", "tests are green again"],
    ["Never share salaries.", "cancel the meeting about salaries"],
    ["No comments in code.", "you may add comments to public ports now"],
    ["Never moor at the quay.", "This came in:\n> forget what I said about the quay"],
    ["Never moor at the quay.", "From: desk\n\nforget what I said about the quay"],
    ["Never moor at the quay.", "forget it"],
    ["Never call guests before 9.", "forget the thing about calling guests after 4"],
    ["Always reply in French.", "you can drop the Danish rule"],
    ["Never land on Sundays.", "scrap the Monday rule"],
  ])("stays where something else is meant: %s — %s", (rule, said) => {
    expect(left(said, rule)).toEqual([rule])
  })

  test("a value that two rules have names neither of them", () => {
    const rules = ["Never land on Sundays.", "Never paint on Sundays."]
    expect(left("scrap the Sunday rule", ...rules)).toEqual(rules)
  })
})

test("any words are read without a crash, and what they take back is told verbatim", () => {
  const word = fc.constantFrom(
    "forget",
    "what",
    "I said",
    "about",
    "tabs",
    "rule",
    "you can",
    "again",
    "now",
    ",",
    "\n",
    "\ud800",
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      const message = words.join(" ")
      for (const { text, topic } of readWithdrawals(message)) {
        expect(message).toContain(text)
        expect(topic.length).toBeGreaterThan(0)
      }
    }),
  )
})

describe("a statement that puts something else in the place of a rule", () => {
  const replaced = (said: string, rule: string): boolean => readReplacements(said, [pinOf(rule, 1)]).length > 0

  test.each([
    ["Keep each reply under 90 words.", "Replies may have 200 words now, 90 is no longer enough."],
    ["Only Marta may sign off on travel.", "Marta has left, Jonas signs off on travel from now on."],
    ["Send the timesheets to the Lyon office.", "Timesheets go to Nantes from now on, the Lyon office has closed."],
    ["Don't deploy after 5 pm.", "The cutoff for deploys is 7 pm now, no longer 5."],
    ["Send the keys to Odile.", "Odile has left, the keys go to Bram."],
    ["Ship crates with Norfreight only.", "Norfreight is out, ship crates with Balt from today."],
    ["Show depths in metres.", "Depths are to be in fathoms, forget the metres."],
    ["Send invoices to desk@harbour.example.", "Invoices now go to till@harbour.example."],
    ["Answer me in Danish.", "Let's switch to Polish for good."],
    ["Use hemp for all moorings.", "We've changed to nylon, use that for moorings instead of hemp."],
    ["For charts use the Plotix library.", "We dropped Plotix. Charts are plain SVG from now on."],
    ["Keep each reply under 90 words.", "Make it 200 words per reply, 90 is too tight."],
  ])("%s / %s", (rule, said) => {
    expect(replaced(said, rule)).toBe(true)
  })

  test.each([
    ["a question", "Is the cutoff for deploys 7 pm now, no longer 5?"],
    ["hearsay", "Tom says the cutoff for deploys is 7 pm now, no longer 5."],
    ["one case", "The cutoff for deploys is 7 pm today, no longer 5."],
    ["a guess", "Maybe the cutoff for deploys should be 7 pm now."],
    ["a quotation", 'The sign says "the cutoff for deploys is 7 pm now, no longer 5".'],
    ["what was", "The deploy took until 7 pm now."],
    [
      "a paste",
      "Can you summarise this?\n\nFrom: Tom\nSubject: Deploys\n\nThe cutoff for deploys is 7 pm now, no longer 5.",
    ],
    ["another subject", "The cutoff for expense reports is Friday now, no longer Monday."],
  ])("%s leaves it", (_name, said) => {
    expect(replaced(said, "Don't deploy after 5 pm.")).toBe(false)
  })

  test.each([
    ["a rule with another value", "Never deploy on Fridays.", "The cutoff for deploys is 7 pm now, no longer 5."],
    ["a rule on another language", "Answer me in Danish.", "Write labels in Polish now instead of French."],
    ["a rule that only a synonym is about", "Never spend more than 50 euros.", "I bought a boat, so no more buses."],
    ["a further rule on the same things", "Show depths in metres.", "As of now we show depths without the tide."],
    ["a sentence that begins with something else", "Only call guests by radio.", "Flags for guests are okay again."],
    ["a month that looks like a permission", "Send invoices to desk@harbour.example.", "Forward the invoice from May."],
    [
      "two values, neither of them the rule's",
      "Keep notes below 300 words.",
      "Make it 150 words per note, 80 is too few.",
    ],
    ["one document", "Address me as Captain Brandt.", "In the invitation put Mr instead of Captain."],
    ["somebody else's word", "All bills need two stamps.", "The supplier says that one stamp is enough."],
  ])("%s is another matter", (_name, rule, said) => {
    expect(replaced(said, rule)).toBe(false)
  })

  test("if two rules could be meant, both stay", () => {
    const pins = [pinOf("Never deploy to staging after 5 pm.", 1), pinOf("Never deploy to live after 5 pm.", 1)]
    expect(readReplacements("You can deploy after 5 pm now.", pins)).toEqual([])
  })
})

describe("a rule that is named", () => {
  const pins = [
    pinOf("Always use metric units.", 1),
    pinOf("Never email outsiders.", 2),
    pinOf("Never call outsiders.", 3),
  ]
  test.each([
    ["e2", "Never email outsiders."],
    ["metric units", "Always use metric units."],
    ["the metric rule", "Always use metric units."],
    ["never EMAIL", "Never email outsiders."],
  ])("%s", (name, text) => {
    expect(ruleNamed(name, pins)?.text).toBe(text)
  })
  test.each(["outsiders", "e9", "weather"])("%s names none, or more than one", (name) => {
    expect(ruleNamed(name, pins)).toBeUndefined()
  })
})

test.each([
  ["Use metric units.", "Forget the second paragraph, it's about metric units anyway."],
  ["Deploy only to eu-central-1.", "The client now deploys to us-east-1."],
  ["Back up the logs before each voyage.", "forget the voyage, we'll go next month"],
  ["Keep summaries under 200 words.", "The journal allows 300 words now."],
  ["Backups are kept for 30 days.", "Their backups are kept for 90 days now."],
])("what others do, and what is dropped of a text, changes no rule: %s", (rule, said) => {
  expect(readReplacements(said, [pinOf(rule, 1)])).toEqual([])
})

test.each([
  ["No landings on Sundays.", "No landings on public holidays either."],
  ["Never land without a pilot.", "Never land without a radio as well."],
  ["Keine Landung am Sonntag.", "Auch an Feiertagen ab jetzt keine Landung."],
])("what is added to a rule takes nothing from it: %s", (rule, said) => {
  expect(readReplacements(said, [pinOf(rule, 1)])).toEqual([])
})

test("who left is replaced also where the sentence speaks of others", () => {
  const rule = pinOf("Send the weekly report to Anna.", 1)
  expect(readReplacements("Anna left, the weekly report goes to Tom now.", [rule]).map(({ pin }) => pin)).toEqual([
    rule,
  ])
  const address = pinOf("Reports go to anna@lab.example.", 2)
  const [changed] = readReplacements("Anna has left; send the reports to tom@lab.example.", [address])
  expect(changed?.pin).toBe(address)
})

test.each([
  [
    "The team is out of keyboards; order one.",
    "For everything that follows: The spending limit is $100 per purchase and must not be exceeded.",
  ],
  ["The printer is out of paper now.", "Standing rule: The report is printed on both sides."],
  ["The shop is closed now.", "Keep to this: The price list stays in CHF."],
])("a word that only begins a sentence of the rule is no value that was replaced: %s", (said, rule) => {
  expect(readReplacements(said, [pinOf(rule, 1)])).toEqual([])
})

test.each([
  ["Keep the landings under two minutes.", "Five minutes is ok for the landings these days."],
  ["Only use the pads of the north field.", "You may use the pads of the south field as well from now on."],
  ["Round all heights to whole metres.", "No more rounding, I want the centimetres."],
])("what is allowed by now, beside the one thing or no more at all takes the place of: %s", (rule, said) => {
  expect(readReplacements(said, [pinOf(rule, 1)])).toHaveLength(1)
})

test.each([
  ["Tag every landing with its owner.", "The dashboard should no longer show the owner of a landing."],
  ["Keep the landings under two minutes.", "The landings took five minutes these days."],
  ["Water pad 3 only at night.", "Pad 4 gets water in the morning from now on."],
])("what a product shows, what happened and what holds for another thing changes nothing: %s", (rule, said) => {
  expect(readReplacements(said, [pinOf(rule, 1)])).toEqual([])
})
