import { expect, test } from "vitest"
import { chooseStack, type StackMatch, type StackRule } from "./stack-rules.ts"

const rule = (name: string, when?: StackMatch): StackRule => ({
  ...(when === undefined ? {} : { when }),
  stack: { documents: [name] },
})
const rules = [
  rule("reviewer", { agents: ["reviewer"], models: ["claude-*"] }),
  rule("claude", { models: ["claude-*"] }),
  rule("cli", { clients: ["claude-cli*", "codex*"] }),
  rule("tenant", { tenants: ["acme"] }),
]

const cases: [why: string, call: Parameters<typeof chooseStack>[1], stack: string | undefined][] = [
  ["all that a rule asks for has to fit", { model: "claude-x", agent: "reviewer" }, "reviewer"],
  ["the first rule that fits wins", { model: "claude-x", client: "claude-cli/2.1", agent: "other" }, "claude"],
  ["a vendor's prefix and capitals are no difference", { model: "models/Claude-X" }, "claude"],
  ["by what the client calls itself", { model: "gpt-5", client: "codex_cli_rs/0.5" }, "cli"],
  ["by tenant", { model: "gpt-5", tenant: "acme" }, "tenant"],
  ["a call that does not say what is asked does not fit", {}, undefined],
]
test.each(cases)("%s", (_why, call, stack) => {
  expect(chooseStack(rules, call)?.documents?.[0]).toBe(stack)
})

test("a rule without conditions matches every call that reaches it", () => {
  expect(chooseStack([...rules, rule("rest")], { model: "gpt-5" })?.documents).toEqual(["rest"])
})
