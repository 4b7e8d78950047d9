import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { compileRule, policyInMode } from "../src/guard/from-rules/compile-rules.ts"
import { createGuard } from "../src/guard/guard.ts"
import { type Labels, readSet } from "./rules-labelled.ts"

/**
 * Lists what `guard.fromRules: enforce` would stop: `node bench/rules-policy.ts [CORPUS] [--calls]`. Every labelled rule of talk and of
 * instruction files is compiled, and each policy judges every harmless call of the red team and every tool call of the recorded traces.
 * None of the calls was made under the rule, so a person reads the list: a denial is wrong if no reading of the rule forbids the call.
 */

type Call = { readonly tool: string; readonly input: unknown; readonly from: string }

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "")

function harmlessCalls(): readonly Call[] {
  return ["harmless", "second-harmless"].flatMap((name) =>
    linesOf(readFileSync(new URL(`../test/redteam/${name}.jsonl`, import.meta.url), "utf8"))
      .map((line): { readonly tool: string; readonly arguments: unknown } => JSON.parse(line))
      .filter(({ tool }) => !tool.startsWith("("))
      .map((line) => ({ tool: line.tool, input: line.arguments, from: name })),
  )
}

/** Returns every tool call in a recorded conversation, at any depth. */
function callsIn(value: unknown, from: string): readonly Call[] {
  if (Array.isArray(value)) return value.flatMap((one) => callsIn(one, from))
  if (typeof value !== "object" || value === null) return []
  if ("function" in value && typeof value.function === "object" && value.function !== null) {
    const { name, arguments: input } = { name: undefined, arguments: undefined, ...value.function }
    if (typeof name === "string" && typeof input === "string") return [{ tool: name, input: readInput(input), from }]
  }
  return Object.values(value).flatMap((one) => callsIn(one, from))
}

function readInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function tracedCalls(corpus: string): readonly Call[] {
  const folder = `${corpus}/traces`
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl.gz"))
    .flatMap((name) =>
      linesOf(gunzipSync(readFileSync(`${folder}/${name}`)).toString("utf8")).flatMap((line) =>
        callsIn(JSON.parse(line), name),
      ),
    )
}

/** Returns the labelled rules, each once. */
const labelledRules = (): readonly string[] => [
  ...new Set(
    ["", "second-"]
      .flatMap((set) => ["talk", "announced", "instruction-files"].flatMap((name) => readSet<Labels>(set + name)))
      .flatMap(({ rules }) => rules),
  ),
]

if (import.meta.main) {
  const [corpus = "../shared/data"] = process.argv.slice(2).filter((word) => !word.startsWith("--"))
  const calls = [
    ...new Map([...harmlessCalls(), ...tracedCalls(corpus)].map((call) => [JSON.stringify(call), call])).values(),
  ]
  const rules = labelledRules()
  const compiled = rules.map((rule) => compileRule(rule)).filter((found) => "policy" in found)
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  print(`${rules.length} rules, ${compiled.length} of them policies; ${calls.length} calls`)
  for (const rule of compiled) {
    const guard = createGuard([policyInMode(rule, "enforce")])
    const verdicts = calls.map((call) => ({ call, verdict: guard.judge(call) }))
    const stopped = verdicts.filter(({ verdict }) => verdict.decision !== "allow")
    const denied = stopped.filter(({ verdict }) => verdict.decision === "deny").length
    if (stopped.length === 0 && !process.argv.includes("--all")) continue
    print(`${rule.family} ${rule.confidence} denied ${denied} asked ${stopped.length - denied}: ${rule.rule}`)
    if (process.argv.includes("--calls"))
      for (const { call, verdict } of stopped.slice(0, 8))
        print(`    ${verdict.decision} ${call.tool} ${JSON.stringify(call.input).slice(0, 150)}`)
  }
}
