import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { type Turn, text, transcript, used } from "../../../test/support/transcripts.ts"
import type { NoteKind } from "../summary/summary.ts"
import { notesOf } from "./notes.ts"

const user = (said: string): Turn => ["user", text(said)]
const assistant = (said: string): Turn => ["assistant", text(said)]

const lines = (turns: readonly Turn[], ...kinds: readonly NoteKind[]): readonly string[] =>
  notesOf(transcript(user("Repair the login page"), ...turns)).flatMap(({ kind, text: line }) =>
    kinds.includes(kind) ? [line] : [],
  )

const thoughts = (...said: readonly string[]): readonly string[] =>
  lines(
    [...said.flatMap((each) => [assistant(each), ...used("read", { path: "a.ts" }, "x")]), user("Go on")],
    "decision",
    "finding",
    "conclusion",
  )

const silly: readonly (readonly [why: string, said: string])[] = [
  ["an item of a list without its subject", "Should be small because it is always loaded."],
  ["a label without a verb", "User-initiated because chosen."],
  ["what it does next", "Now let's paste in the example since the issue has one."],
  [
    "what it looks at next, behind a reason",
    "Since the search gave nothing, I'll explore the folders to find where rules are.",
  ],
  [
    "a blob of data",
    `The reason is in QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODk.`,
  ],
]
test.each(silly)("%s is nothing that was decided or found", (_why, said) => {
  expect(thoughts(said)).toEqual([])
})

const worthy: readonly string[] = [
  "We decided on PostgreSQL because two gateways write at once.",
  "I'll use a queue instead of a timer so that nothing is lost.",
  "The root cause is that the session cookie has no path.",
]
test.each(worthy)("what was decided or found is told: %s", (said) => {
  expect(thoughts(said)).toEqual([said])
})

test("of thoughts that say nearly the same the latest is told", () => {
  const [first, second] = [
    "The issue is in how we read the total in the tooltip callback.",
    "The issue is likely in how we read the total in the tooltip callback.",
  ]
  expect(thoughts(first, second)).toEqual([second])
  expect(thoughts(first, "The issue is that the chart has no labels on its axis.")).toHaveLength(2)
})

test("for any two sentences, a conclusion tells each whole or not at all", () => {
  const sentence = fc
    .array(fc.constantFrom("alpha", "router", "timeout", "session", "42", "deploys", "ready"), {
      minLength: 5,
      maxLength: 36,
    })
    .map((words) => `The ${words.join(" ")} works.`)
    .filter((each) => each.length <= 280)
  fc.assert(
    fc.property(sentence, sentence, (one, other) => {
      const said = [assistant(`${one} ${other}`), user("Thanks, and the menu?")]
      const [told = ""] = lines(said, "current")
      expect([one, other, `${one} ${other}`]).toContain(told.replace("The user was told last: ", ""))
      const later = lines(
        [...said, assistant("The menu is fine."), user("Thanks, and the page?")],
        "conclusion",
        "finding",
      )
      expect(later).not.toEqual([])
      for (const line of later) expect([one, other, `${one} ${other}`]).toContain(line)
    }),
  )
})

test("a plan that is written as a list in JSON is told as sentences", () => {
  const plan = 'plan: ["Find the page that lists the rules.", "Read its last amendment."]\nfacts: []'
  const told = lines([assistant(plan)], "current", "next", "task")
  expect(told.join("\n")).not.toMatch(/[[\]]/)
  expect(told.join("\n")).toContain("Read its last amendment.")
})

test("that the user is to wait is not where the work stopped", () => {
  const told = lines([assistant("I have found both bookings of June. Please hold on for a moment.")], "current")
  expect(told).toEqual(["I have found both bookings of June."])
})

const answers: readonly (readonly [said: string, needsQuestion: boolean])[] = [
  ["Yes, go ahead.", true],
  ["Please take both of them, and thank you so much for your help with the whole thing.", true],
  ["I'd like to change my outbound flight from Oslo to Bergen to a nonstop flight, if possible.", false],
  ["Book flight HF204 for me.", false],
]
test.each(answers)("the words %j keep what they answer: %s", (said, needsQuestion) => {
  const told = lines([assistant("I found your booking. What would you like to change?"), user(said)], "current")
  expect(told.some((line) => line.startsWith("The user's latest words answer"))).toBe(needsQuestion)
})
