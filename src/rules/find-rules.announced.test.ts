import { describe, expect, test } from "vitest"
import { findRules } from "./find-rules.ts"

/** Leads that call what follows a rule: whatever they say is one. */
const declarations = [
  "This is an important constraint: ",
  "This is a hard rule: ",
  "That is a strict requirement: ",
  "Hard constraint — ",
  "Here is a rule you must follow: ",
  "This is non-negotiable: ",
  "This is a standing instruction: ",
  "There is one rule: ",
  "My only rule: ",
  "Rule number one: ",
  "A general rule: ",
  "Ground rule: ",
  "One rule for the whole session: ",
  "Before you start, a constraint: ",
  "A constraint for all of your work - ",
  "An important constraint for this task: ",
  "Do not forget this rule: ",
  "Our policy is simple: ",
  "Keep in mind for everything that follows: ",
]
/** Leads that ask to be heeded: what follows is a rule if it binds. */
const notices = [
  "Important: ",
  "This is important: ",
  "Please remember: ",
  "Please note: ",
  "Listen carefully: ",
  "CRITICAL: ",
  "Very important!! ",
  "The most important thing: ",
  "What matters most: ",
  "It is essential that you understand this: ",
  "There is one thing I care about: ",
  "I want to make one thing clear: ",
  "Just so we are clear: ",
  "First and foremost: ",
  "Heads up: ",
  "It's a must: ",
  "Keep this in mind: ",
  "Don't forget: ",
  "I insist on this: ",
]
/** Written once the leads above were found. */
const heldOut = [
  "These are our ground rules: ",
  "Take this seriously: ",
  "A strict policy: ",
  "One last requirement: ",
  "An additional instruction for the rest of this project: ",
  "Pay attention: ",
  "This one is mandatory: ",
  "It's crucial: ",
  "Here's my one condition, please remember it: ",
  "Top priority: ",
]

const binding = [
  "never push to main.",
  "always run the tests before you commit.",
  "do not email customers directly.",
  "no network calls outside the harbour.",
  "use British spelling in all documents.",
  "ask me before you install anything.",
  "the total cost must stay under $500.",
  "don't use emojis.",
  "only deploy to eu-central-1.",
]
const telling = [
  "harbour data stays in eu-central-1, it is never copied elsewhere.",
  "tests first, code second.",
  "reports go to Anna only.",
]

const missedAfter = (lead: string, bodies: readonly string[]): readonly string[] =>
  bodies.filter(
    (body) => !findRules(lead + body, { channel: "user" }).some(({ text }) => text.includes(body.slice(0, -1))),
  )

describe("an announced rule is found", () => {
  test.each(declarations)("%s", (lead) => {
    expect(missedAfter(lead, [...binding, ...telling])).toEqual([])
  })
  test.each([...notices, ...heldOut])("%s", (lead) => {
    expect(missedAfter(lead, binding)).toEqual([])
  })
  test.each(declarations.filter((lead) => lead.endsWith(": ")))("on the lines below: %s", (lead) => {
    const text = `${lead.trim()}\n- ${binding[0]}\n- ${binding[2]}`
    expect(findRules(text, { channel: "user" }).map((rule) => rule.text)).toEqual([binding[0], binding[2]])
  })
})

test("what is announced and binds nobody is none", () => {
  for (const text of [
    "Important: the meeting is at five.",
    "Please note: I was late yesterday.",
    "This is important: did you see the log?",
    "Just so we are clear: he said that it works.",
    "The most important thing: it compiles now.",
  ])
    expect(findRules(text, { channel: "user" }), text).toEqual([])
})
