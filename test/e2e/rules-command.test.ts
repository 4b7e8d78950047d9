import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { holdfast as runLine } from "../fixtures/cli/command-line.ts"
import { main } from "../support/programs.ts"

let folder = ""
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-rules-"))
  const holdfast = createHoldfast({ store: join(folder, "holdfast.db"), format: "anthropic-messages" })
  const session = holdfast.session("ticket-1")
  await session.append([
    {
      role: "user",
      content: "Never e-mail anyone outside northwind.test. Always use metric units in tables. Now sum up the ticket.",
    },
  ])
  await holdfast.close()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Outcome = { readonly code: number | null; readonly out: string; readonly err: string }

const holdfast = async (...args: readonly string[]): Promise<Outcome> => {
  const { exit, stdout, stderr } = await runLine([...args, "--data", folder], { dateMs: Date.now })
  return { code: exit, out: stdout, err: stderr }
}

/** The program as a process of its own. */
const holdfastProcess = (...args: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args, "--data", folder], { cwd: process.cwd() })
    let [out, err] = ["", ""]
    child.stdout.on("data", (chunk) => {
      out += chunk
    })
    child.stderr.on("data", (chunk) => {
      err += chunk
    })
    child.on("close", (code) => resolve({ code, out, err }))
  })

test("the rules of a session are listed, explained, added, demoted and taken back by words", async () => {
  const listed = await holdfastProcess("rules", "ticket-1")
  expect(listed).toMatchObject({ code: 0, out: expect.stringMatching(/2 rules of ticket-1/) })
  expect(listed.out).toMatch(/user .*recipients 0\.95 +Never e-mail anyone outside northwind\.test\./)
  expect(listed.out).toMatch(/None of them is the operator's: holdfast policy\.\n?$/)
  expect((await holdfast("rules", "why", "ticket-1", "unicorns")).err).toMatch(/holdfast policy lists the operator's/)
  const why = await holdfast("rules", "why", "ticket-1", "northwind", "--json")
  expect(JSON.parse(why.out)).toMatchObject({
    speaker: "user",
    why: expect.stringMatching(/^the user said it in e\d+: it says in words that it lasts, confidence 0\.\d+$/),
    policy: { family: "recipients", policy: { template: "email-domains", domains: ["northwind.test"] } },
  })
  expect((await holdfast("rules", "why", "ticket-1", "metric")).out).toMatch(/No policy: it is about nothing/)
  expect((await holdfastProcess("rules", "add", "ticket-1", "Ask before pushing.")).out).toMatch(/^Added as e\d+\.$/m)
  expect((await holdfast("rules", "demote", "ticket-1", "northwind.test")).out).toMatch(/Only remembered now/)
  expect((await holdfast("rules", "remove", "ticket-1", "the metric rule")).out).toMatch(/Taken back: e\d+, Always use/)
  const left = JSON.parse((await holdfast("rules", "--json")).out)
  expect(left.rules.map((rule: { speaker: string; text: string }) => [rule.speaker, rule.text])).toEqual([
    ["user", "Ask before pushing."],
    ["memory", "Never e-mail anyone outside northwind.test."],
  ])
  expect(await holdfast("rules", "remove", "ticket-1", "no such words")).toMatchObject({ code: 1 })
})

test("a rule is named without its session, and whoever names none, two or a shared one is told so", async () => {
  expect((await holdfast("rules", "why", "the metric rule")).out).toMatch(/^Always use metric units in tables\./)
  expect((await holdfast("rules", "add", "Ask me before you push.")).out).toMatch(/Added as e\d+/)
  await holdfast("rules", "add", "ticket-1", "Ask me before you deploy.")
  const told = async (...args: readonly string[]) => (await holdfast("rules", ...args)).err
  expect(await told("remove", "ask me before you")).toMatch(
    /2 rules fit "ask me before you", and one has to be meant\./,
  )
  expect(await told("why", "ticket-1", "ask me before you")).toMatch(/2 rules fit "ask me before you"/)
  expect(await told("remove", "ticket-1", "unicorns")).toMatch(/No rule "unicorns" is in force here\.\nWrite its id/)
  for (const command of ["why", "remove", "demote", "add"])
    expect(await told(command, "ticket-1")).toMatch(/It was not said which rule\./)
  const { rule } = JSON.parse((await holdfast("rules", "add", "No tabs.", "--scope", "agent", "--json")).out)
  expect(await told("demote", rule)).toMatch(/holds for the whole agent, and a session alone cannot change it/)
  await holdfast("rules", "demote", "metric")
  expect((await holdfast("rules", "why", "metric")).out).toMatch(/someone demoted it: it is remembered/)
})

test("the rules of a subagent's session are those that its requests carry: the user's in the conversation", async () => {
  const sessions = createHoldfast({ store: join(folder, "holdfast.db"), format: "anthropic-messages" })
  const subagent = sessions.session("ticket-1~agent-explorer", { within: "ticket-1" })
  await subagent.append([{ role: "user", content: "Find the invoices." }])
  await sessions.close()
  const listed = await holdfast("rules", "ticket-1~agent-explorer")
  expect(listed.out).toMatch(/2 rules of .*\n.*\n.*Never e-mail anyone outside northwind\.test\./)
  expect((await holdfast("rules", "why", "ticket-1~agent-explorer", "northwind")).out).toMatch(
    /in-force; the user said it/,
  )
  expect((await holdfast("rules", "remove", "ticket-1~agent-explorer", "northwind")).err).toMatch(/conversation/)
  expect((await holdfast("rules", "ticket-1")).out).toMatch(/2 rules of ticket-1/)
})

test("a whole name of a session is enough, whatever others begin with it", async () => {
  const sessions = createHoldfast({ store: join(folder, "holdfast.db"), format: "anthropic-messages" })
  for (const id of ["0123456789abcdef.talk", "0123456789abcdef.talk-2"])
    await sessions.session(id, { tenant: "0123456789abcdef" }).append([{ role: "user", content: "Never use tabs." }])
  await sessions.close()
  expect((await holdfast("rules", "talk")).out).toMatch(/1 rule of .*talk/)
  expect((await holdfast("rules", "tal")).err).toMatch(/2 sessions begin with tal/)
})

test("what a rule would have stopped is told in the log, and which rules stop nothing in their list", async () => {
  const sessions = createHoldfast({ store: join(folder, "holdfast.db"), format: "anthropic-messages" })
  const session = sessions.session("ticket-1")
  const content = [{ type: "tool_use", id: "c1", name: "send_email", input: { to: "eve@elsewhere.test" } }]
  await session.judge({ type: "message", role: "assistant", model: "m", content, stop_reason: "tool_use" })
  await sessions.close()
  expect((await holdfast("sessions", "show", "ticket-1", "--log")).out.replace(/\s+/g, " ")).toContain(
    "send_email: allow; it would be denied by the rule: Never",
  )
  const judged = (await holdfast("sessions", "show", "ticket-1", "--entry", "e5")).out
  expect(judged.replace(/[\s|]+/g, " ")).toContain("by the rule: Never e-mail anyone outside northwind.test.")
  expect((await holdfast("rules", "ticket-1")).out).toMatch(/recipients 0\.95 +Never e-mail/)
  await holdfast("rules", "demote", "ticket-1", "northwind")
  expect((await holdfast("rules", "ticket-1")).out).toMatch(/recipients 0\.95, stops nothing +Never e-mail/)
  expect((await holdfast("rules", "why", "ticket-1", "northwind")).out).toMatch(/The policy stops no call/)
})

test("policy suggest writes a file that a policy directory takes, and says what is no policy", async () => {
  const out = join(folder, "suggested.json")
  const told = await holdfastProcess("policy", "suggest", "ticket-1", "--out", out)
  expect(told).toMatchObject({
    code: 0,
    out: expect.stringMatching(/1 policy in .* from 2 rules\. Nothing is in force/),
  })
  expect(told.out).toMatch(/No policy: Always use metric units in tables\./)
  const policies = JSON.parse(readFileSync(out, "utf8"))
  expect(policies).toEqual([
    expect.objectContaining({
      template: "email-domains",
      domains: ["northwind.test"],
      rule: "Never e-mail anyone outside northwind.test.",
      speaker: "user",
      from: "user, session ticket-1",
      confidence: 0.95,
    }),
  ])
  const input = { to: "eve@elsewhere.test", body: "hi" }
  expect(createGuard(policies).judge({ tool: "send_email", input }).decision).toBe("deny")
  expect(await holdfast("policy", "suggest", "--out", out)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/already/),
  })
})

test("the operator's rules are listed beside a session's, and where they cannot be read it is said", async () => {
  mkdirSync(join(folder, "policy"))
  writeFileSync(join(folder, "policy", "house.md"), "- Never sell a boat.\n")
  const listed = await holdfast("rules", "ticket-1")
  expect(listed.out).toMatch(/3 rules of ticket-1:[\s\S]*operator +house\.md[\s\S]*Of these, 1 is the operator's/)
  expect((await holdfast("rules", "why", "ticket-1", "sell a boat")).out).toContain(
    "the operator laid it down (house.md)",
  )
  expect((await holdfast("status")).out).toContain("3 rules (1 of the operator) in the sessions of today")
  writeFileSync(join(folder, "policy", "bad.json"), '{"template":"be-nice"}')
  const { code, out } = await holdfast("rules", "ticket-1")
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/2 rules of ticket-1[\s\S]*bad\.json/) })
  expect(out).not.toContain("None of them is the operator's")
})
