import { resolve } from "node:path"
import { inputOf, isTemplateUse, type OperatorCommand } from "../guard/operator/command.ts"
import { type AuditLine, inspectOperator } from "../guard/operator/inspect-operator.ts"
import { type OperatorRule, type Standing, tryPolicies } from "../guard/operator/rule-file.ts"
import { describe, HoldfastError, refuseOption } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { operatorLog } from "../store/reserved-log.ts"
import { tryParse } from "../wire/json.ts"
import { askOperator, operatorOptions, placeWords, policyDirectory } from "./ask-store.ts"
import { type Command, type CommandGroup, needed, readCount, unusable } from "./command.ts"
import { policySuggest, policyTry } from "./policy-try.ts"
import { type Input, readInput } from "./read-input.ts"
import { askEnforced, type Enforced, enforcedCounts, enforcedLines } from "./running-gateway.ts"
import { type Submission, signAndSubmit, signingOptions, submitTo } from "./sign-and-submit.ts"
import { clip, count, moment, type Paper, right, sentenceOf, table } from "./terminal/output.ts"

const policyRemove: Command = {
  options: signingOptions,
  maxPositionals: 1,
  run: async (args, world) => {
    const name = needed(args.positionals[0], "which policy", "Write its name; holdfast policy lists them.")
    return signAndSubmit(args, world, [{ type: "remove-policy", name }], () => [`Taken away: ${sentenceOf(name)}.`])
  },
}

const policySubmit: Command = {
  options: operatorOptions,
  maxPositionals: 1,
  run: async (args, world) => {
    const input = await readInput(args.positionals[0], world, "a command that --print printed")
    const submission: Submission = {
      make: () => input.text.split(/\r?\n/).filter((line) => line.trim() !== ""),
      words: (accepted) =>
        accepted.map(({ line, rule }) => (rule === undefined ? `Done, as c${line.number}.` : `Pinned as ${rule}.`)),
    }
    return askOperator(args, world, (asked) => submitTo(asked, world, submission), { make: true })
  },
}

const policyAdd: Command = {
  options: signingOptions,
  maxPositionals: 2,
  run: async (args, world) => {
    const write = "Write: holdfast policy add NAME FILE"
    const name = needed(args.positionals[0], "how to call the policy", write)
    const path = needed(args.positionals[1], "which file has the policy", `${write} (- for stdin)`)
    const input = await readInput(path, world, "policies in Cedar, or uses of templates as JSON")
    const commands = policyCommands(name, input)
    const names = commands.map((command) => sentenceOf(command.name)).join(", ")
    return signAndSubmit(args, world, commands, (_accepted, { place, enforced, expected }) => [
      `Added: the ${commands.length === 1 ? "policy" : "policies"} ${names}, in ${placeWords(place)}.`,
      ...enforcedLines(place, enforced, expected),
    ])
  },
}

type AddPolicy = Extract<OperatorCommand, { type: "add-policy" }>

/** A command for each policy of a file: under this name, or of a list `NAME-1`, `NAME-2`. All are tried before the first is signed. */
function policyCommands(name: string, { name: file, text }: Input): readonly AddPolicy[] {
  if (!/^\s*[{[]/.test(text)) return [{ type: "add-policy", name, policy: text }]
  const value = tryParse(text)
  const uses: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (uses.length === 0) return unusable("policy-invalid", `${file} has no policy.`, "Nothing was added.")
  const commands = uses.map((policy, n): AddPolicy => {
    if (isTemplateUse(policy))
      return { type: "add-policy", name: Array.isArray(value) ? `${name}-${n + 1}` : name, policy }
    const what = uses.length === 1 ? file : `Number ${n + 1} in ${file}`
    const sentence = `${what} is neither Cedar nor a use of a known template.`
    return unusable("policy-invalid", sentence, 'Give {"template":"…", …}, a list of them, or policies in Cedar.')
  })
  if (commands.length > 1)
    tryPolicies(
      file,
      commands.map((command) => inputOf(command.name, command.policy)),
    )
  return commands
}

const policyShow: Command = {
  options: operatorOptions,
  run: (args, world) =>
    askOperator(args, world, async ({ store, directory, place }) => {
      const enforced = await askEnforced(place)
      const { standing, log } = await inspectOperator({ now: world.dateMs, ...present({ store, directory }) }).catch(
        (error: unknown) => failUnreadable(error, enforced),
      )
      const { version, rules } = standing
      const policies = policiesOf(standing)
      const expected = { rules: rules.map(({ id }) => id), policies: policies.map(({ id }) => id) }
      const gateways = enforced.map(({ gateway: { url }, rules: own, policies: judging, problem }) => ({
        url,
        ...present({ rules: own && [...own], policies: judging && [...judging], problem }),
      }))
      const audience = log.audience === "" ? undefined : log.audience
      return {
        json: { version, rules, policies, gateways, ...present({ audience, directory }) },
        text: (paper) => [
          ...ruleLines(rules, paper),
          ...policyLines(policies, paper),
          ...(audience === undefined ? [] : [paper.dim(`Commands are signed for ${sentenceOf(audience)}.`)]),
          ...(directory === undefined ? [paper.dim("There is no policy directory.")] : []),
          ...enforcedLines(place, enforced, expected).map(sentenceOf),
        ],
      }
    }),
}

/** Fails for policies that cannot be read, and says what the gateways enforce meanwhile. */
function failUnreadable(error: unknown, enforced: readonly Enforced[]): never {
  if (!(error instanceof HoldfastError && error.problem.code === "policy-invalid")) throw error
  const { sentence, next } = describe(error.problem)
  const held = enforced.flatMap(({ gateway: { url }, rules, policies }) =>
    rules === undefined || policies === undefined
      ? []
      : [`The gateway at ${url} enforces ${enforcedCounts(rules.size, policies.size)}, which it had read before.`],
  )
  unusable(error.problem.code, sentence, [next, ...held].join("\n"), error.problem)
}

type ListedPolicy = { readonly id: string; readonly source: string; readonly decision: string; readonly rule: string }

const policiesOf = ({ guard }: Pick<Standing, "guard">): readonly ListedPolicy[] =>
  (guard?.policies ?? []).map(({ id, source, effect, decision, rule }) => ({
    id,
    source,
    decision: effect === "permit" ? "allow" : decision,
    rule: effect === "permit" ? "Permits what it names." : rule,
  }))

const scopeOf = ({ agent, session }: OperatorRule): string =>
  [agent === undefined ? [] : `agent ${agent}`, session === undefined ? [] : `session ${session}`].flat().join(", ") ||
  "all"

/** The number of rules, and a table of them. */
function ruleLines(rules: readonly OperatorRule[], paper: Paper): readonly string[] {
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

const ruleColumns = ["ID", "FROM", "FOR", "EXPIRES", "RULE"] as const

function policyLines(policies: readonly ListedPolicy[], paper: Paper): readonly string[] {
  if (policies.length === 0) return ["No policy stands."]
  const rows = policies.map(({ id, source, decision, rule }) => [id, source, decision, rule])
  return [`${count(policies.length, "policy", "policies")}:`, ...table(policyColumns, rows, paper)]
}

const policyColumns = ["ID", "FROM", "SAYS", "RULE"] as const

const policyCheck: Command = {
  options: operatorOptions,
  maxPositionals: 1,
  run: async (args, world) => {
    const [named] = args.positionals
    const directory = named === undefined ? policyDirectory(args, world.env) : resolve(named)
    const { standing, keys } = await inspectOperator({ directory, now: world.dateMs })
    const { rules, guard } = standing
    const policies = guard?.policies.length ?? 0
    const sizes = `${count(policies, "policy", "policies")}, ${count(keys.size, "key")}`
    return {
      json: { directory, rules, policies, keys: keys.size },
      text: (paper) => [...ruleLines(rules, paper), `Nothing is wrong: ${count(rules.length, "rule")}, ${sizes}.`],
    }
  },
}

const policyVerify: Command = {
  options: {
    head: { value: "N:HASH", help: "a head that was printed before; the log must still have that line" },
    ...operatorOptions,
  },
  run: async (args, world) => {
    const known = readHead(args.valueOf("head"))
    return askOperator(args, world, async ({ store, directory }) => {
      const { lines, log } = await inspectOperator(present({ store, directory }))
      if (known !== undefined && lines[known.seq - 1]?.hash !== known.hash) {
        const reason = `line ${known.seq} is missing or is not what it was`
        throw new HoldfastError({ code: "store-corrupt", store: "audit log", session: operatorLog, reason })
      }
      const head = `${log.head.seq}:${log.head.hash}`
      const words =
        lines.length === 0 ? "The audit log is empty." : `Whole: ${count(lines.length, "line")}. Head: ${head}`
      return { json: { lines: lines.length, head }, text: () => [words] }
    })
  },
}

function readHead(text: string | undefined): { readonly seq: number; readonly hash: string } | undefined {
  if (text === undefined) return undefined
  const [, digits = "", hash = ""] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (hash !== "" && Number(digits) > 0) return { seq: Number(digits), hash }
  const found = JSON.stringify(text.slice(0, 40))
  refuseOption("--head", "a number, a colon and a hash", found)
}

const defaultLimit = 50
/** Limit on a listing, which is read whole before it is printed. */
const maxLimit = 100_000

const policyLog: Command = {
  options: { limit: { value: "N", help: `the last so many lines; ${defaultLimit} unless given` }, ...operatorOptions },
  run: async (args, world) => {
    const limit = readCount("--limit", args.valueOf("limit"), { least: 1, most: maxLimit }) ?? defaultLimit
    return askOperator(args, world, async ({ store, directory }) => {
      const all = (await inspectOperator(present({ store, directory }))).lines
      const lines = all.slice(-limit)
      const rows = lines.map((line) => [String(line.number), moment(line.atMs), wordsFor(line)])
      return {
        json: { lines, more: all.length > lines.length },
        text: (paper) => (rows.length === 0 ? ["The audit log is empty."] : table(columns, rows, paper)),
      }
    })
  },
}

const columns = [right("LINE"), "WHEN", "WHAT"] as const

const width = 200

function wordsFor(line: AuditLine): string {
  switch (line.type) {
    case "log-opened":
      return `begun, for ${line.audience}`
    case "command-accepted":
      return `${commandWords(line.command)} (key ${line.key.slice(0, 8)})`
    case "command-refused": {
      const more = line.unwritten === undefined ? "" : `, and ${count(line.unwritten, "other")} before it`
      return `refused: ${line.reason}${line.key === undefined ? "" : ` (key ${line.key.slice(0, 8)})`}${more}`
    }
    case "directory-changed": {
      const { files, added, removed } = line
      return `policy directory: ${count(files.length, "file")}, ${count(added.length, "rule")} in, ${removed.length} out`
    }
  }
}

function commandWords(command: OperatorCommand): string {
  switch (command.type) {
    case "pin":
      return `pinned: ${clip(command.text, width)}`
    case "unpin":
      return `taken back: ${command.rule}`
    case "add-policy":
      return `policy in force: ${command.name}`
    case "remove-policy":
      return `policy taken away: ${command.name}`
    case "approve":
      return `call approved: ${command.call}`
    case "refuse":
      return `call refused: ${command.call}${command.note === undefined ? "" : `, ${clip(command.note, width)}`}`
  }
}

/** The commands on the operator's rules and policies. */
export const policyCommand: CommandGroup = {
  usual: "show",
  commands: new Map([
    ["show", policyShow],
    ["suggest", policySuggest],
    ["check", policyCheck],
    ["try", policyTry],
    ["add", policyAdd],
    ["remove", policyRemove],
    ["submit", policySubmit],
    ["log", policyLog],
    ["verify", policyVerify],
  ]),
}
