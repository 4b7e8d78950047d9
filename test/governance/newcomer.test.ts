import { join } from "node:path"
import { expect, test } from "vitest"
import { root } from "../support/source.ts"
import { openDesk, run } from "./desk.ts"

test("the package as built finds rules, judges what is left of them, judges calls, and keeps the operator's rules", async () => {
  const { code, stdout, stderr } = await run([], join(root, "test/governance/newcomer.ts"))
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  const said = JSON.parse(stdout)
  expect(said).toMatchObject({
    rule: {
      text: "Never spend more than $500 on one order.",
      start: 22,
      end: 62,
      kind: "permission-limit",
      channel: "user",
    },
    kept: { verdict: "verbatim" },
    lost: { verdict: "gone" },
    verdict: { decision: "deny", reasons: [{ decision: "deny", rule: expect.stringContaining("500 USD") }] },
    accepted: expect.stringMatching(/^c\d+$/),
    judged: [{ callId: "call_1", tool: "buy", decision: "deny", enforced: true }],
  })
  expect(said.heard).not.toContain("call_1")
  const { messages } = JSON.parse(said.wire)
  expect(messages[0].role).toBe("system")
  expect(messages[0].content).toContain("\n- Never send mail outside corp.example.\n- Never deploy on a Friday.\n")
})

test("by hand: a key is made and trusted, a rule pinned, a policy added, all of it seen, checked and taken back", async () => {
  const { holdfast, key, policy } = openDesk()
  const ask = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await holdfast(...args)
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" })
    return stdout
  }
  expect(await ask("keys", "list")).toContain("trusted")
  const pinned = await ask("pin", "Never pay more than 100 dollars.", "--key", key)
  const id = /Pinned as (c\d+)\./.exec(pinned)?.[1] ?? ""
  expect(pinned).toContain(`holdfast unpin ${id} --key`)
  const without = await holdfast("policy", "add", "spending", "--key", key)
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining("which file has the policy") })
  expect(await ask("policy")).toMatch(/1 rule of the operator[\s\S]*Never pay more than 100 dollars\./)
  expect(await ask("policy", "log")).toContain("pinned: Never pay more than 100 dollars.")
  expect(await ask("policy", "verify")).toContain("Whole")
  expect(await holdfast("unpin", "c99", "--key", key)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no rule "c99" stands'),
  })
  await ask("unpin", id, "--key", key)
  expect(await ask("policy")).toContain("No rule of the operator stands.")
  expect(await ask("policy", "check", policy)).toContain("Nothing is wrong")
})
