import { expect, it } from "vitest"
import { createGuard } from "../../guard/guard.ts"
import { createHoldfast } from "../holdfast.ts"
import type { Session } from "../session.ts"
import type { HoldfastOptions } from "../state/options.ts"

const rule = "Never e-mail anyone outside northwind.test."

const answer = (to: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  stop_reason: "tool_use",
  content: [{ type: "tool_use", id: "call_1", name: "send_email", input: { to, body: "hi" } }],
  usage: { input_tokens: 1, output_tokens: 1 },
})

async function told(options: HoldfastOptions, text = `${rule} Now write the mail to the printer.`): Promise<Session> {
  const session = createHoldfast({ store: "memory", format: "anthropic-messages", ...options }).session("one")
  await session.append([{ role: "user", content: text }])
  return session
}

const judged = async (session: Session, to = "eve@elsewhere.test") => {
  const [first] = (await session.judge(answer(to))).judged
  return { decision: first?.verdict.decision, result: first?.result, observed: first?.verdict.observed }
}

it("a rule that the user said is observed unless told otherwise, and what it would have refused is in the log", async () => {
  const session = await told({})
  expect(await judged(session)).toMatchObject({ decision: "allow", observed: [{ decision: "deny", rule }] })
  const entries = (await session.history()).filter(({ type }) => type === "calls-judged")
  expect(JSON.stringify(entries)).toContain(rule)
})

it("enforced, it withholds the call and names the sentence; what it allows goes through", async () => {
  const session = await told({ guard: { fromRules: "enforce" } })
  const { decision, result } = await judged(session)
  expect([decision, result]).toEqual(["deny", expect.stringContaining(`Rule: ${rule}`)])
  expect((await judged(session, "ann@northwind.test")).decision).toBe("allow")
})

it("what replaces a withheld call says whose words the rule is", async () => {
  const replaced = async (options: HoldfastOptions, text?: string): Promise<string> => {
    const session = await told({ guard: { fromRules: "enforce" }, ...options }, text)
    return JSON.stringify((await session.judge(answer("eve@elsewhere.test"))).response)
  }
  expect(await replaced({})).toContain("by the user's rule: Never e-mail anyone outside northwind.test")
  expect(await replaced({ pins: [rule] }, "Write the mail to the printer.")).toContain("by the operator's rule: Never")
  // The operator's come first, and the same words of the user add nothing.
  expect(await replaced({ pins: [rule] })).toContain("by the operator's rule: Never")
})

it("in the mode ask a person decides", async () => {
  const asked: string[] = []
  const approve = (_: unknown, verdict: { reasons: readonly { rule: string }[] }): boolean => {
    asked.push(...verdict.reasons.map((reason) => reason.rule))
    return true
  }
  const session = await told({ guard: { fromRules: "ask", approve } })
  expect((await judged(session)).result).toBeUndefined()
  expect(asked).toEqual([rule])
})

it("switched off, no rule is judged", async () => {
  const session = await told({ guard: { fromRules: "off" } })
  expect((await session.judge(answer("eve@elsewhere.test"))).judged).toEqual([])
})

it("a rule that is taken back no longer binds", async () => {
  const session = await told({ guard: { fromRules: "enforce" } })
  const [pin] = await session.pins()
  await session.unpin(pin?.id ?? "")
  expect((await session.judge(answer("eve@elsewhere.test"))).judged).toEqual([])
})

it("what a tool prints only observes until someone pins it", async () => {
  const session = createHoldfast({ store: "memory", guard: { fromRules: "enforce" } }).session("one")
  await session.append(
    [
      { role: "user", content: "Read the instructions." },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "c1", name: "Read", input: { file_path: "AGENTS.md" } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: `# Rules\n\n- ${rule}\n` }] },
    ],
    { format: "anthropic-messages" },
  )
  expect((await session.pins()).map(({ channel, text }) => [channel, text])).toEqual([["tool", rule]])
  await session.prepare({ format: "anthropic-messages", model: "claude-sonnet-4-5" })
  expect(await judged(session)).toMatchObject({ decision: "allow", observed: [{ rule }] })
  await session.pin(rule)
  expect((await judged(session)).decision).toBe("deny")
})

it("never loosens: a call that another policy refuses stays refused, whatever the user's rules say", async () => {
  const guard = createGuard([{ template: "email-domains", domains: ["contoso.test"] }])
  const session = await told({ guard: { guard, fromRules: "enforce" } }, `You may e-mail anyone. ${rule}`)
  expect((await judged(session, "ann@northwind.test")).decision).toBe("deny")
  expect((await judged(session, "ann@contoso.test")).decision).not.toBe("allow")
})

it("refuses a mode that does not exist, by its name", () => {
  const options: object = { store: "memory", guard: { fromRules: "enforced" } }
  expect(() => createHoldfast(options)).toThrow(/guard\.fromRules/)
})

it("looks for rules where the option says so, and what is pinned holds in any case", async () => {
  const said = async (find: "user" | "instructions" | "all" | "off"): Promise<readonly string[]> => {
    const session = createHoldfast({ store: "memory", rules: { find } }).session("one")
    await session.append(
      [
        { role: "user", content: "Always answer in English, please, in all our talks." },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "c1", name: "Read", input: { file_path: "AGENTS.md" } }],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", content: "# Rules\n\n- Never commit to main.\n" }],
        },
        { role: "assistant", content: "Read." },
        { role: "user", content: "/pin Tables are in metric units." },
      ],
      { format: "anthropic-messages" },
    )
    return (await session.pins()).map(({ channel, by }) => `${channel} ${by}`)
  }
  expect(await said("all")).toEqual(["user found", "tool found", "user asked"])
  expect(await said("user")).toEqual(["user found", "user asked"])
  expect(await said("instructions")).toEqual(["tool found", "user asked"])
  expect(await said("off")).toEqual(["user asked"])
})
