import { expect, test } from "vitest"
import { type Turn, text, transcript } from "../../../test/support/transcripts.ts"
import { notesOf } from "./notes.ts"
import { formAfter } from "./written-command.ts"

/** Agents that write one command in their text and are shown its output as a message of the user. */

const user = (said: string): Turn => ["user", text(said)]
const run = (command: string): Turn => ["assistant", text(`THOUGHT: Is that it?\n\n\`\`\`bash\n${command}\n\`\`\``)]
const output = (printed: string, code = 0): Turn =>
  user(`<returncode>${code}</returncode>\n<output>\n${printed}\n</output>`)

const begun = [
  user("Please solve the issue in /testbed: set_key loses a value."),
  ...[run("ls src"), output("main.py")],
  ...[run("git stash push -m wip src/main.py"), output("Saved working directory and index state On main: wip")],
  ...[run("python -m pytest -q"), output("1 failed, 58 passed in 1.54s\nFAILED tests/test_main.py::test_a", 1)],
]

test("what stands between tags is the output, and its code says how it went", () => {
  const told = notesOf(transcript(...begun)).map(({ text: line }) => line)
  expect(told.join("\n")).not.toContain("returncode")
  expect(told.join("\n")).toContain("`python -m pytest -q` failed: FAILED tests/test_main.py::test_a")
})

test("who speaks in place of an output is a person, and is not waited for", () => {
  const change =
    "(command not executed)\n\nHold on. The requirement changes:\n- The default must not change.\n- Make it opt-in."
  const notes = notesOf(transcript(...begun, run("git diff"), user(change), run("git status"), output("clean")))
  expect(notes.find(({ channel, text: line }) => channel === "user" && line.includes("opt-in"))?.state).toBe("open")
  expect(notes.filter(({ state }) => state === "pending")).toEqual([])
})

test("what tells of a command is an output in another form", () => {
  const late = "The last command timed out after 60 seconds and was killed.\n<output>\npytest 9.0.3\n</output>"
  const notes = notesOf(transcript(...begun, run("python fuzz.py"), user(late), run("ls"), output("main.py")))
  expect(notes.filter(({ channel, text: line }) => channel === "user" && line.includes("timed out"))).toEqual([])
})

test.each([
  [["total 0", "Error: x", "[info] y"]],
  [["bash: a: command not found", "bash: b: command not found", "bash: c: command not found"]],
  [["<html>a</html>", "<html>b</html>", "<html>c</html>"]],
  [["<output>a</output>", "total 0", "<output>b</output>", "<output>c</output>", "<output>d</output>"]],
])("what programs print first is no form to break: %j", (outputs) => {
  const texts = [...outputs, "Please stop and look at the other file first."]
  let form: ReturnType<typeof formAfter> | undefined
  for (const one of texts) {
    form = formAfter(form === "broken" ? undefined : form, one)
    expect(form).not.toBe("broken")
  }
})
