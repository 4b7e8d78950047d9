import type { AuditLine } from "../../guard/operator/audit-view.ts"
import type { Operator } from "../../guard/operator/operator.ts"
import type { OperatorRule } from "../../guard/operator/standing.ts"
import type { PolicyInput } from "../../guard/policy-input.ts"
import { present } from "../../message/present.ts"
import { tellProblem } from "./refusal.ts"

type Fields = Readonly<Record<string, unknown>>

/** What the operator wants now: rules and policies, and where each comes from. `lines` is the audit log, where it could be read. */
export function tellStanding(operator: Operator, lines?: readonly AuditLine[]): Fields {
  const { version, rules, policies, guard } = operator.standing()
  const problem = operator.problem()
  const commands = lines === undefined ? undefined : policyCommands(lines)
  return {
    audience: operator.audience,
    version,
    rules: rules.map((rule) => ({ ...rule, by: originOf(rule) })),
    policies: policies.map((policy) => tellPolicy(policy, commands)),
    /** Each policy of the guard in words. */
    judging: (guard?.policies ?? []).map(({ id, source, effect, decision, rule, instead }) => ({
      id,
      source,
      decision: effect === "permit" ? "allow" : decision,
      rule,
      ...present({ instead }),
    })),
    ...present({ problem: problem && tellProblem(problem) }),
  }
}

/** Rules of commands are named after their line in the audit log. */
const originOf = ({ id }: OperatorRule): "command" | "file" => (/^c\d+$/.test(id) ? "command" : "file")

/** The line of the command that each policy came by; a file's policy never has the name of one. */
function policyCommands(lines: readonly AuditLine[]): ReadonlyMap<string, number> {
  const commands = new Map<string, number>()
  for (const line of lines) {
    if (line.type !== "command-accepted") continue
    const { command } = line
    if (command.type === "add-policy") commands.set(command.name, line.number)
    if (command.type === "remove-policy") commands.delete(command.name)
  }
  return commands
}

function tellPolicy(policy: PolicyInput, commands: ReadonlyMap<string, number> | undefined): Fields {
  if (typeof policy === "string") return { text: policy, by: "file" }
  if (commands === undefined || policy.name === undefined) return { ...policy }
  const command = commands.get(policy.name)
  return { ...policy, ...(command === undefined ? { by: "file" } : { by: "command", command: `c${command}` }) }
}
