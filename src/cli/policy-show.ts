import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import type { OperatorRule, Standing } from "../guard/operator/standing.ts"
import { present } from "../message/present.ts"
import { askOperator, operatorOptions } from "./ask-operator.ts"
import type { Command } from "./command.ts"
import { count, moment, type Paper } from "./paper.ts"
import { sentenceOf } from "./printable.ts"
import { table } from "./table.ts"

export const policyShow: Command = {
  summary: "What stands: rules with their ids and sources, policies, and for whom to sign",
  usage: "policy [show] [--json]",
  options: operatorOptions,
  maxPositionals: 0,
  notes: `Of the files as they are now, and of the commands in the store. Nothing is written.

  holdfast policy
  holdfast policy --policy /etc/holdfast/policy --json`,
  run: (args, world) =>
    askOperator(args, world, async ({ store, directory }) => {
      const { standing, log } = await inspectOperator({ now: world.dateMs, ...present({ store, directory }) })
      const { version, rules } = standing
      const policies = policiesOf(standing)
      const audience = log.audience === "" ? undefined : log.audience
      return {
        json: { version, rules, policies, ...present({ audience, directory }) },
        text: (paper) => [
          ...ruleLines(rules, paper),
          ...policyLines(policies, paper),
          ...(audience === undefined ? [] : [paper.dim(`Commands are signed for ${sentenceOf(audience)}.`)]),
          ...(directory === undefined ? [paper.dim("There is no policy directory.")] : []),
        ],
      }
    }),
}

type ToldPolicy = { readonly id: string; readonly source: string; readonly decision: string; readonly rule: string }

const policiesOf = ({ guard }: Pick<Standing, "guard">): readonly ToldPolicy[] =>
  (guard?.policies ?? []).map(({ id, source, effect, decision, rule }) => ({
    id,
    source,
    decision: effect === "permit" ? "allow" : decision,
    rule: effect === "permit" ? "Permits what it names." : rule,
  }))

const scopeOf = ({ agent, session }: OperatorRule): string =>
  [agent === undefined ? [] : `agent ${agent}`, session === undefined ? [] : `session ${session}`].flat().join(", ") ||
  "all"

/** Rules in a table, and how many there are. */
export function ruleLines(rules: readonly OperatorRule[], paper: Paper): readonly string[] {
  if (rules.length === 0) return ["No rule of the operator stands."]
  const rows = rules.map((rule) => [
    rule.id,
    rule.source.slice(0, 40),
    scopeOf(rule),
    rule.expiresAtMs === undefined ? "never" : moment(rule.expiresAtMs),
    rule.text,
  ])
  return [`${count(rules.length, "rule")} of the operator:`, ...table(ruleColumns, rows, paper)]
}

const ruleColumns = [
  { title: "ID" },
  { title: "FROM" },
  { title: "FOR" },
  { title: "EXPIRES" },
  { title: "RULE" },
] as const

function policyLines(policies: readonly ToldPolicy[], paper: Paper): readonly string[] {
  if (policies.length === 0) return ["No policy stands."]
  const rows = policies.map(({ id, source, decision, rule }) => [id, source, decision, rule])
  return [`${count(policies.length, "policy", "policies")}:`, ...table(policyColumns, rows, paper)]
}

const policyColumns = [{ title: "ID" }, { title: "FROM" }, { title: "SAYS" }, { title: "RULE" }] as const
