import { expect, test } from "vitest"
import { callId } from "../../message/message.ts"
import { outcomeOf } from "./outcome-of.ts"
import { resultText, textEnds } from "./result-text.ts"

const toolResult = (text: string) => ({
  type: "tool-result" as const,
  kind: "function" as const,
  callId: callId("one"),
  content: [{ type: "text" as const, text }],
})

test.each([
  ["Error: port 8080 is taken", "Error: port 8080 is taken"],
  ["ERROR:\nno such table: crates", "ERROR: no such table: crates"],
  [
    "Write boundary of this phase:\n\nonly files below plan/ may change.",
    "Write boundary of this phase: only files below plan/ may change.",
  ],
  ["Tool call denied:", "Tool call denied:"],
  ['{"error": {"message": "The card was declined."}}', "The card was declined."],
  ['{"error": "START_TOO_FAR", "detail": "at most 14 days ahead"}', "START_TOO_FAR: at most 14 days ahead"],
  ["Not found\nLast output of the snippet:", "Not found"],
  [`${"\u001b"}[31merror: no such table${"\u001b"}[0m`, "error: no such table"],
  ["[33;21merror: no key is given[0m", "error: no key is given"],
  [
    "Phase boundary: continue with questions. Edits are blocked while the interview is active; finish it first.",
    "Edits are blocked while the interview is active",
  ],
  [
    "Error when executing tool turn with arguments {'page': {'to': 3}}: TypeError: no argument 'page'",
    "TypeError: no argument 'page'",
  ],
  [
    '{"data": {"message_id": "VM-21", "status": "BOUNCED", "smtp": "550 5.1.1 Recipient address rejected: User unknown"}}',
    "550 5.1.1 Recipient address rejected: User unknown",
  ],
  ["Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'seat'", "KeyError: 'seat'"],
])("the reason of a failure is one line that says it: %j", (output, line) => {
  expect(outcomeOf(textEnds(output), true, true)).toEqual({ failed: true, line })
})

test.each([
  ["remote: Resolving\n[main 5e5bdad] Fix the docs\n 8 files changed, 2 insertions(+)", "[main 5e5bdad] Fix the docs"],
  [
    "To https://example.org/a.git\n * [new branch]      feat/a -> feat/a\nbranch 'feat/a' set up to track",
    "* [new branch] feat/a -> feat/a",
  ],
  ["   65d88b6..d364611  dev        -> dev", "65d88b6..d364611 dev -> dev"],
  ["Switched to a new branch 'fix/a'\nd364611 Merge pull request", "Switched to a new branch 'fix/a'"],
  ["added 12 packages in 3s\n\n4 packages are looking for funding", "added 12 packages in 3s"],
])("a tool that says what it has done is sure: %j", (output, line) => {
  expect(outcomeOf(textEnds(output), true)).toEqual({ failed: false, sure: true, line })
})

test("a long answer that opens as an error does tells its reason, another one that failed tells none", () => {
  const help = "You can call this tool with the path of a page. ".repeat(40)
  expect(outcomeOf(textEnds(`Error:\nValueError: no page 7\n${help}`), false, true).line).toContain("no page 7")
  expect(outcomeOf(textEnds(`${help}\nValueError: no page 7`), false, true)).toEqual({ failed: true })
})

test("what a program prints of a file says nothing of how it went", () => {
  const content = textEnds("12: throw new Error('not found')\n14: // FAILED: retry")
  expect(outcomeOf(content, true, undefined, true).failed).toBe(false)
  const missing = textEnds("grep: src/b.ts: No such file or directory")
  expect(outcomeOf(missing, true, undefined, true)).toMatchObject({ failed: true, line: missing.whole })
})

test("an answer that says no to who somebody is has failed", () => {
  expect(outcomeOf(textEnds('{"verified": false, "reason": "CODE_MISMATCH"}'), false)).toEqual({
    failed: true,
    line: "CODE_MISMATCH",
  })
})

test("what a client says behind an output in sentences is how it exited, and none of the output", () => {
  const around = (code: number): string =>
    `[The command completed with exit code ${code}.]\n[Current working directory: /srv/app]\n[Command finished with exit code ${code}]`
  const read = (text: string) =>
    resultText({ type: "tool-result", kind: "function", callId: callId("c"), content: [{ type: "text", text }] })
  const [well, badly] = [read(`Applied 2 migrations\n${around(0)}`), read(`no such table\n${around(3)}`)]
  expect(well.whole).toBe("Applied 2 migrations")
  expect(well.exitedWell).toBe(true)
  expect(outcomeOf(badly, true)).toMatchObject({ failed: true })
  expect(badly.whole).not.toContain("directory")
})

test("a call that the user rejected says so, with what he said to it", () => {
  const rejected = (text: string) => outcomeOf(textEnds(text), true, true)
  const client = "The user doesn't want to proceed with this tool use. The tool use was rejected."
  expect(rejected(client)).toEqual({ failed: true, rejected: true })
  expect(rejected(`${client} To tell you how to proceed, the user said:\nno. 20 ms is in the contract.`)).toEqual({
    failed: true,
    rejected: true,
    line: "no. 20 ms is in the contract.",
  })
  expect(outcomeOf(textEnds("exec command rejected by user"), true)).toEqual({ failed: true, rejected: true })
  const codex =
    'exec_command failed for `/bin/bash -lc "kill -9 7"`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }'
  expect(outcomeOf(textEnds(codex), true)).toEqual({ failed: true, rejected: true })
  expect(rejected("The user denied this operation. <feedback>use the other port</feedback>").line).toBe(
    "use the other port",
  )
  expect(rejected("Error: connection refused").rejected).toBeUndefined()
})

test("what a runner prints above an output is none of it", () => {
  const ran = (text: string) => outcomeOf(resultText(toolResult(text)), true)
  const head = (code: number) => `exit_code: ${code}  duration: 3.5s\n--- stdout ---\n`
  expect(ran(`${head(0)}7`)).toEqual({ failed: false, sure: true, value: "7" })
  expect(ran(`${head(1)}[*] Connecting\n[-] login failed for 'ida'`)).toEqual({
    failed: true,
    line: "[-] login failed for 'ida'",
  })
})

test("a program says behind its own mark what it changed, and what it succeeded in", () => {
  const told = (text: string) => outcomeOf(textEnds(text), true)
  expect(told("[!] slow link\n[*] Saved SAM to C:\\Temp\\SAM.save\nbye now, and thanks")).toEqual({
    failed: false,
    sure: true,
    did: true,
    line: "[*] Saved SAM to C:\\Temp\\SAM.save",
  })
  expect(told("SMB 10.0.0.4 445 [*] Server 2019\nSMB 10.0.0.4 445 [+] lab\\ida:Pass1\nlast line")).toEqual({
    failed: false,
    sure: true,
    line: "[+] lab\\ida:Pass1",
  })
})

test.each([
  "docker: Error response from daemon: Bind for 0.0.0.0:5433 failed: port is already allocated",
  "X Pull request 321 is not mergeable: the base branch policy prohibits the merge.",
  `✔ Network shop_default  Created  0.1s\nError response from daemon: port is already allocated\n${"db-1   postgres:16   Up 6 days\n".repeat(40)}`,
])("a program that says behind its own name or mark that it could not has failed: %j", (output) => {
  const { failed, line } = outcomeOf(textEnds(output), true)
  expect(failed).toBe(true)
  expect(line).toMatch(/port is already allocated|not mergeable/)
})

test("a number of errors among the fields of a row is content, and words under that key are a failure", () => {
  const rows = (errors: string) => textEnds(`{"sid": "17.9", "rows": [{"user": "svc-ci", "errors": ${errors}}]}`)
  for (const count of ['"88"', "88", '"none"', "[]", "null"]) expect(outcomeOf(rows(count), false).failed).toBe(false)
  expect(outcomeOf(rows('"quota exceeded"'), false).failed).toBe(true)
})

test.each([
  "X Y\n1.0 2.0",
  "X = 5",
  "loss: error rate 0.02 after 3 epochs",
  "log_level: error",
  "eslint: error 0, warning 2",
])("output that only looks like an error is none: %j", (output) => {
  expect(outcomeOf(textEnds(output), true).failed).toBe(false)
})

test("the reason of a failure is no other string of the answer", () => {
  const answer = {
    to: "ann@host.example",
    subject: "Meeting moved to noon",
    status: "failed",
    smtp: "550 5.1.1 User unknown",
  }
  expect(outcomeOf(textEnds(JSON.stringify(answer)), false).line).toBe("550 5.1.1 User unknown")
  expect(outcomeOf(textEnds('{"status":"error","query":"SELECT * FROM orders"}'), false).line).toBeUndefined()
})
