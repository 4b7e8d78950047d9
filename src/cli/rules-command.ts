import { present } from "../message/present.ts"
import { pinScopes } from "../rules/pin.ts"
import { rulesNamed } from "../rules/read-withdrawals.ts"
import { type RuleCount, rulesIn } from "../session/rules/pins.ts"
import type { ExplainedRule } from "../session/rules/rule-guard.ts"
import type { Session } from "../session/session.ts"
import type { Store } from "../store/store.ts"
import { askStore, findSession, shortNames, storeOptions } from "./ask-store.ts"
import {
  type Arguments,
  type Command,
  type CommandAnswer,
  type CommandGroup,
  commandFailure,
  misuse,
  needed,
} from "./command.ts"
import { openRuled } from "./standing-rules.ts"
import { count, type Paper, sentenceOf, table } from "./terminal/output.ts"
import type { World } from "./world.ts"

const rulesList: Command = {
  options: { all: { help: "also those that were superseded, taken back or ran out" }, ...storeOptions },
  maxPositionals: 1,
  run: (args, world) =>
    askStore(args, world, async (opened) => {
      const { store } = opened
      const row = await findSession(store, args.positionals[0] ?? "@last")
      const { session, problem } = await openRuled(opened, args, world)
      const rules = await session(row).rules({ all: args.isOn("all") })
      const counted = rulesIn(rules)
      const name = sentenceOf(shortNames(await store.sessions())(row.id))
      return {
        json: {
          session: row.id,
          rules,
          total: rules.length,
          ...{ inForce: counted.rules, operatorRules: counted.operatorRules },
          ...present({ problem }),
        },
        text: (paper) => [
          ...(rules.length === 0
            ? [`No rule was found in ${name} yet. holdfast rules add gives one; holdfast policy lists the operator's.`]
            : [`${listedWords(rules.length, counted)} of ${name}:`, ...ruleRows(rules, paper)]),
          ...(rules.length === 0 || problem !== undefined ? [] : [paper.dim(operatorWords(counted.operatorRules))]),
          ...(problem === undefined ? [] : [`The operator's rules are missing here: ${sentenceOf(problem)}`]),
        ],
      }
    }),
}

/** `5 rules`; with others among them `5 rules, 3 in force`. */
const listedWords = (listed: number, { rules }: RuleCount): string =>
  `${count(listed, "rule")}${listed === rules ? "" : `, ${rules} in force,`}`

const operatorWords = (operatorRules: number): string =>
  operatorRules === 0
    ? "None of them is the operator's: holdfast policy."
    : `Of these, ${operatorRules} ${operatorRules === 1 ? "is" : "are"} the operator's: holdfast policy.`

const columns = ["ID", "SPEAKER", "SOURCE", "FOR", "STATE", "POLICY", { title: "RULE", fit: "wrap" }] as const

function ruleRows(rules: readonly ExplainedRule[], paper: Paper): readonly string[] {
  const rows = rules.map(({ id, speaker, by, source, scope, state, policy, binds, text }) => [
    id,
    by === "asked" ? `${speaker}, pinned` : speaker,
    source ?? "-",
    scope,
    state,
    policyWords(policy, binds || state !== "in-force"),
    text,
  ])
  return table(columns, rows, paper)
}

const policyWords = (policy: ExplainedRule["policy"], binds: boolean): string =>
  "none" in policy ? "-" : `${policy.family} ${policy.confidence}${binds ? "" : ", stops nothing"}`

const rulesWhy: Command = {
  options: storeOptions,
  maxPositionals: 2,
  run: (args, world) =>
    askRule(args, world, async (session, name) => {
      const rules = await session.rules({ all: true })
      const inForce = rulesNamed(
        name,
        rules.filter(({ state }) => state === "in-force"),
      )
      const found = inForce.length > 0 ? inForce : rulesNamed(name, rules)
      const [rule, ...others] = found
      if (rule === undefined || others.length > 0) return notOneRule(name, found.length)
      const { policy, binds } = rule
      const guard =
        "none" in policy
          ? `No policy: ${policy.none}.`
          : `Policy (${policy.family}, confidence ${policy.confidence}): ${JSON.stringify(policy.policy)}`
      return {
        json: rule,
        text: () => [
          sentenceOf(rule.text),
          `${rule.state}; ${sentenceOf(rule.why)}.`,
          sentenceOf(guard),
          ...(binds || rule.state !== "in-force" || "none" in policy
            ? []
            : ["The policy stops no call until someone pins the rule: holdfast rules add."]),
          ...rule.conflicts.map((id) => `It conflicts with ${id}.`),
        ],
      }
    }),
}

const notOneRule = (name: string, fitting: number) =>
  misuse(
    fitting === 0
      ? `No rule fits "${sentenceOf(name)}".`
      : `${fitting} rules fit "${sentenceOf(name)}", and one has to be meant.`,
    "Write its ID or more of its words; holdfast rules SESSION --all lists them. holdfast policy lists the operator's.",
  )

const rulesAdd: Command = {
  options: {
    scope: { value: "SCOPE", help: "for whom it holds; the session unless given", oneOf: pinScopes },
    ...storeOptions,
  },
  maxPositionals: 2,
  run: (args, world) =>
    askRule(args, world, async (session, text) => {
      const scope = pinScopes.find((one) => one === args.valueOf("scope")) ?? "session"
      const { id } = await session.pin(text, { scope })
      return { json: { rule: id, text, scope }, text: () => [`Added as ${id}.`] }
    }),
}

const rulesRemove: Command = {
  options: storeOptions,
  maxPositionals: 2,
  run: (args, world) =>
    askRule(args, world, async (session, name) => {
      const { id, text } = await session.unpin(name)
      return { json: { removed: id, text }, text: () => [`Taken back: ${id}, ${sentenceOf(text)}`] }
    }),
}

/** Calls `ask` with the rule named by the last argument, in the session named by the first one, or in the one written to last. */
const askRule = (
  args: Arguments,
  world: World,
  ask: (session: Session, name: string) => Promise<CommandAnswer>,
): Promise<CommandAnswer> =>
  askStore(args, world, async (opened) => {
    const { store } = opened
    const [first = "", second] = args.positionals
    const isSession = second === undefined && (first === "@last" || (await isSessionName(store, first)))
    const [given, name] = second === undefined && !isSession ? ["@last", first] : [first, second ?? ""]
    const meant = needed(name, "which rule", "Write its ID or its words, in quotes, behind the session.")
    const row = await findSession(store, given)
    return ask((await openRuled(opened, args, world)).session(row), meant)
  })

async function isSessionName(store: Store, name: string): Promise<boolean> {
  if (name === "" || /\s/.test(name)) return false
  return await findSession(store, name).then(
    () => true,
    (error: unknown) => {
      if (!/^(?:session-unknown|usage-invalid)$/.test(commandFailure(error).code)) throw error
      return false
    },
  )
}

const rulesDemote: Command = {
  options: storeOptions,
  maxPositionals: 2,
  run: (args, world) =>
    askRule(args, world, async (session, name) => {
      const { id, text } = await session.demote(name)
      return { json: { demoted: id, text }, text: () => [`Only remembered now, as ${id}: ${sentenceOf(text)}`] }
    }),
}

export const rulesCommand: CommandGroup = {
  usual: "list",
  usualTakesWords: true,
  commands: new Map([
    ["list", rulesList],
    ["why", rulesWhy],
    ["add", rulesAdd],
    ["remove", rulesRemove],
    ["demote", rulesDemote],
  ]),
}
