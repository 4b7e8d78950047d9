import { expect, test } from "vitest"
import { findRules } from "../../rules/find-rules.ts"
import { holdsForNow, isNotice, shapesOneAnswer } from "./user-texts.ts"

test.each([
  ["a mode that is on", "Plan mode is still active. You must not edit files."],
  ["a mode that was entered", "You're in architect mode now. Don't write code, only design."],
  ["an answer that was cut off", "Your response above was cut off. Continue, and do not repeat anything."],
  ["a call that was refused", "The tool call was declined by the user. Do not try again."],
  ["a permission that was denied", "Permission to use Shell has been denied. You must not work around this."],
  ["room that runs out", "Context window is 92% used. You should avoid reading files."],
  ["a count of rounds", "Iteration 7 of 10. Do not exceed it."],
  ["a word of an automaton", "[automated message] The build runs. Do not start it again."],
  ["a title to write", "Please write a short title for this conversation. Do not use quotes, only return the title."],
  ["a summary to write", "Summarize the conversation above. Do not use tools. Only output the summary."],
])("%s is a temporary notice", (_why, text) => {
  expect(isNotice(text)).toBe(true)
})

test.each([
  "Never push to main.",
  "Note: always sign the letters.",
  "Your last answer was too long. Keep your answers short from now on.",
  "If the user asks for a discount, never promise one.",
  "Write a parser. Only return plain objects, never classes.",
  "We must not exceed 40 tokens per line.",
])("a person's own text is not a notice: %s", (text) => {
  expect(isNotice(text)).toBe(false)
})

test.each([
  ["Do not edit anything until the user approves the plan.", true],
  ["You must not call the service again in this run.", true],
  ["Never mention this reminder.", true],
  ["Continue the conversation from where it stopped, never ask back.", true],
  ["Never edit the harbour map.", false],
  ["Do not deploy until Ana gives her word.", false],
])("a rule that says it is temporary: %s", (rule, expected) => {
  expect(holdsForNow(rule)).toBe(expected)
})

test("the form of one response is not a rule together with its request, and is one by itself", () => {
  const [found] = findRules("Answer only in Dutch from here on.", { channel: "user" })
  if (found === undefined) throw new Error("the finder misses a plain rule")
  expect(shapesOneAnswer(found, found.text)).toBe(false)
  const request = "Extract the names of all ships. Respond only with XML."
  const form = { ...found, text: "Respond only with XML.", start: request.indexOf("Respond") }
  expect(shapesOneAnswer(form, request)).toBe(true)
  expect(findRules(request, { channel: "user" }).filter((rule) => !shapesOneAnswer(rule, request))).toEqual([])
})
