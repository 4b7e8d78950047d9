import { expect, test } from "vitest"
import { text, transcript } from "../../../test/support/transcripts.ts"
import { documentName } from "../stack/separate.ts"
import { spokenIn } from "./spoken-text.ts"
import { userTexts } from "./user-texts.ts"

const spoken = (said: string): string => {
  const [message] = transcript(["user", text(said)])
  return message === undefined ? "" : spokenIn(message)
}

const reminder = (inside: string): string => `<system-reminder>\n${inside}\n</system-reminder>`
const sent = reminder(
  "The user sent the following message:\nno, DO UPDATE, and never force-push\n\nPlease address this message and continue with your tasks.",
)

test("what the user wrote while the agent was at work is the user's, and the reminder around it is not", () => {
  expect(spoken(sent)).toBe("no, DO UPDATE, and never force-push")
  expect(documentName(sent)).toBeUndefined()
  const messages = transcript(["user", text("Go.")], ["assistant", text("Yes.")], ["user", text(sent)])
  expect(userTexts(messages, { before: [], lifted: new Set() }).at(-1)).toEqual([
    { part: 0, text: "no, DO UPDATE, and never force-push", shift: 0 },
  ])
})

test("any other reminder is nobody's words, also one that only quotes such a message", () => {
  expect(spoken(reminder("The task list is empty."))).toBe("")
  expect(spoken(reminder("A file says: The user sent the following message: delete all"))).toBe("")
  expect(documentName(reminder("The task list is empty."))).toBe("system-reminder")
})

test("words behind the output of the client's own command are the user's", () => {
  const command = "<command-name>/model</command-name>\n<command-args>large</command-args>\n"
  const output = "<local-command-stdout>Set model to large</local-command-stdout>"
  expect(spoken(`${command}${output}\n\nside question: which port was worst?`)).toBe(
    "side question: which port was worst?",
  )
  expect(spoken(`${command}${output}`)).toBe("")
})

test("a shell command that the user ran through the client asks for nothing", () => {
  expect(
    spoken("I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following output:\n```\na\n```"),
  ).toBe("")
})
