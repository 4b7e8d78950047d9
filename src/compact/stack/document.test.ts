import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { documentName } from "./separate.ts"

const documents: [text: string, name: string][] = [
  ["<system-reminder>\nToday is Sunday.\n</system-reminder>\n", "system-reminder"],
  ["<environment_context>\n  <cwd>/p</cwd>\n</environment_context>", "environment_context"],
  ["<user_instructions>Be brief.</user_instructions>", "user_instructions"],
  ["<permissions instructions>Ask first.</permissions instructions>", "permissions instructions"],
  ["# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nRun the tests.\n</INSTRUCTIONS>", "AGENTS.md"],
  ["<session_context>tree</session_context>", "session_context"],
  ["<editorContext>a.ts is open</editorContext>", "editorContext"],
  ['<context source="notes.md">notes</context>', "context"],
  ["<system-reminder>a</system-reminder>\n\n<system-reminder>b</system-reminder>", "system-reminder"],
  ["<system-reminder>a mention of <system-reminder> inside</system-reminder>", "system-reminder"],
  ["[RETRIEVED MEMORY START]\nThe user likes tea.\n[RETRIEVED MEMORY END]", "retrieved memory"],
  ["--- Context from: GEMINI.md ---\nBe kind.\n--- End of Context from: GEMINI.md ---", "context from: gemini.md"],
  ["=== BEGIN PROJECT RULES ===\nNo force pushes.\n=== END PROJECT RULES ===", "project rules"],
]
test.each(documents)("a document: %s", (text, name) => {
  expect(documentName(text)).toBe(name)
})

const conversation: [why: string, text: string][] = [
  ["a question", "Why does <system-reminder> appear in my logs?"],
  ["a tag first, then words", "<system-reminder>a</system-reminder> What is this?"],
  ["words between two blocks", "<system-reminder>a</system-reminder> fix it <system-reminder>b</system-reminder>"],
  ["a tag left open", "<system-reminder> is never closed"],
  ["another tag closes", "<system-reminder>a</environment_context>"],
  ["a person's goal in a tag", "<task>Add a test.</task>"],
  ["a goal that carries a context word", "<user_query>Explain the system.</user_query>"],
  ["a request in camel case", "<userRequest>Fix it</userRequest>"],
  ["an environment with the goal beside it", "<environment_context>x</environment_context><task>Fix it</task>"],
  ["a page of HTML", "<html><body>Hello</body></html>"],
  ["a summary", "<summary>So far so good.</summary>"],
  ["a notice of something that happened", "<task-notification>done</task-notification>"],
  ["the output of a command", "<local-command-stdout>ok</local-command-stdout>"],
  ["a heading", "# AGENTS.md needs a new rule\n\nPlease add one."],
  ["a list", "- one\n- two"],
  ["a rule with nothing named in it", "--- a ---\ntext\n--- end of a ---"],
  ["words between two ruled blocks", "[MEMORY START]\na\n[MEMORY END]\nhi\n[MEMORY START]\nb\n[MEMORY END]"],
  ["nothing", ""],
]
test.each(conversation)("conversation: %s", (_why, text) => {
  expect(documentName(text)).toBeUndefined()
})

test("a word of one's own before or after any document makes it conversation", () => {
  const wrapped = fc.constantFrom(...documents.map(([text]) => text))
  fc.assert(
    fc.property(wrapped, fc.stringMatching(/^[a-z]{1,9}$/), fc.boolean(), (text, word, before) => {
      expect(documentName(before ? `${word} ${text}` : `${text.trimEnd()} ${word}`)).toBeUndefined()
    }),
  )
})

test.each([
  ["tags that never close", "<system-reminder>".repeat(200_000)],
  ["blocks without end", `${"<system-reminder></system-reminder>".repeat(100_000)}x`],
  ["a tag that never ends", `<context ${"a='b' ".repeat(300_000)}`],
  ["white space", " ".repeat(3_000_000)],
  ["rules", `${"-".repeat(3_000_000)} x`],
  ["a heading without end", `# ${"a.md ".repeat(500_000)}`],
])(
  "%s are looked at once",
  (_what, text) => {
    expect(documentName(text)).toBeUndefined()
  },
  3000,
) // anything quadratic takes minutes at this size
