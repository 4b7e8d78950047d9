import { factsOf } from "../../guard/facts.ts"
import { createGuard, type Guard } from "../../guard/guard.ts"
import type { PolicyInput } from "../../guard/policy-input.ts"
import { deskTools } from "./desk-tools.ts"

/** The demo's one policy, in Cedar. It speaks of one tool by its name, which no other agent has. */
export const demoPolicy: PolicyInput = {
  name: "demo-mail",
  text: `@rule("E-mail may only be sent to addresses at example.com.")
@instead("Send it to an address at example.com, or ask the user what to do.")
forbid(principal, action, resource == Holdfast::Tool::"${deskTools.sendEmail}")
when { context.matches.contains("outside:desk-domains") || context.unresolvedRecipients };`,
}

/** The list of domains that the policy asks by name. */
export const demoMatchers = {
  "desk-domains": { of: "recipientDomains", patterns: ["example.com"] },
} as const

const ownTools: ReadonlySet<string> = new Set(Object.values(deskTools))

/** A guard that judges the demo's own tools, and has nothing to say about any other. */
export function demoGuard(): Guard {
  const guard = createGuard([demoPolicy], { matchers: demoMatchers })
  return {
    policies: guard.policies,
    judge: (call, circumstances) =>
      ownTools.has(call.tool)
        ? guard.judge(call, circumstances)
        : { decision: "allow", reasons: [], facts: factsOf({ tool: call.tool, input: undefined }), errors: [] },
  }
}
