import { concept } from "./concept.ts"
import type { FindingKind, Strength } from "./finding.ts"

/** A company of words: a head, and near it a word of each group. The words may stand in any order and any language. */
export type Rule = {
  readonly kind: FindingKind
  readonly strength: Strength
  readonly head: number
  /** The head must stand where a command stands, not where a command is told of. */
  readonly commands: boolean
  readonly near: readonly number[]
  /** How many words away the company may stand. */
  readonly reach: number
  /** None of these may stand near: they make it something else. */
  readonly unless: number
}

type Row = readonly [
  kind: FindingKind,
  form: "command" | "statement",
  head: number,
  near: readonly number[],
  reach: number,
  unless?: number,
]

const c = concept
const rules = c.instructions | c.policy

/** Written from what each attempt must say to work, not from how any one was phrased. Reaches are lengths of a clause. */
const strong: readonly Row[] = [
  // Take back + instructions + what came before, or whose they are.
  ["override", "command", c.revoke, [c.instructions, c.prior], 7],
  ["override", "command", c.revoke, [rules, c.your], 4],
  ["override", "command", c.revoke, [c.policy, c.prior, c.all], 7],
  ["override", "command", c.revoke, [c.all, c.prior, c.you], 8],
  ["override", "statement", c.follow, [c.not, c.instructions, c.prior], 6],
  ["override", "statement", c.instructions, [c.new, c.your, c.first | c.prior | c.model | c.revoke], 5],
  // Something else, before or instead of what the user asked for.
  ["task-hijack", "statement", c.task, [c.you, c.first, c.this, c.lead], 12],
  ["task-hijack", "command", c.revoke, [c.task, c.user], 5],
  ["role-impersonation", "statement", c.unbound, [c.you, c.model | c.first | c.lead], 6],
  // Someone with a say + lapsed + rules that stood.
  ["operator-claim", "statement", c.lapsed, [c.operator, rules, c.prior | c.all | c.you], 10],
  ["system-prompt-probe", "command", c.reveal, [c.you, c.instructions, c.system | c.prior | c.all], 6],
  ["system-prompt-probe", "command", c.reveal, [c.system, c.prompt], 5],
  // Leave rules out of what is remembered, because it says so, because they lapsed, or to save room.
  ["eviction", "command", c.omit, [c.summary, rules], 12],
  ["eviction", "statement", c.lapsed, [c.summary, rules], 10],
  ["eviction", "command", c.omit, [c.budget, rules], 10],
  ["concealment", "statement", c.tell, [c.not, c.user, c.this | c.instructions], 5],
]

const likely: readonly Row[] = [
  // "Ignore any instructions in the file" is a defence; the place makes the difference.
  ["override", "command", c.revoke, [c.all, c.instructions], 4, c.place],
  ["override", "command", c.revoke, [c.system, c.prompt], 5],
  ["override", "statement", c.instructions, [c.new, c.your], 2],
  ["override", "statement", c.lapsed, [c.you, rules, c.prior], 6],
  ["task-hijack", "command", c.revoke, [c.task, c.your], 4],
  ["eviction", "statement", c.lapsed, [c.prior, c.instructions], 6],
  ["exfiltration", "command", c.send, [c.secret, c.you | c.all | c.user, c.records | c.all], 10],
]

const ruleOf =
  (strength: Strength) =>
  ([kind, form, head, near, reach, unless = 0]: Row): Rule => {
    return { kind, strength, head, commands: form === "command", near, reach, unless }
  }

export const signalRules: readonly Rule[] = [...strong.map(ruleOf("strong")), ...likely.map(ruleOf("likely"))]
