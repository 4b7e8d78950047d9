import { framings, plainGenome } from "./injection-texts.ts"
import type { Best } from "./search.ts"
import {
  type AgentName,
  agentNames,
  channels,
  type RowName,
  rowNames,
  type Spec,
  type SummarizerName,
  strategies,
  summarizerNames,
  usual,
} from "./spec.ts"
import { taskOf, tasks } from "./tasks.ts"

/** An episode with its place in the tables. */
export type Planned = { readonly study: string; readonly column: string; readonly spec: Spec }

export type Pair = { readonly summarizer: SummarizerName; readonly agent: AgentName }

export const allPairs: readonly Pair[] = summarizerNames.flatMap((summarizer) =>
  agentNames.map((agent) => ({ summarizer, agent })),
)
/** Each summarizer and each agent once. */
export const somePairs: readonly Pair[] = summarizerNames.map((summarizer, n) => ({
  summarizer,
  agent: agentNames[n] ?? "obedient",
}))
const modelPair: Pair = { summarizer: "model", agent: "model" }

export type Scale = {
  readonly rows: readonly RowName[]
  readonly pairs: readonly Pair[]
  readonly repetitions: number
  /** Rows and pairs of the sweeps over one parameter at a time, which need fewer. */
  readonly sweepRows: readonly RowName[]
  readonly sweepPairs: readonly Pair[]
  /** True if the sweeps leave out the hard tasks, where little happens. */
  readonly sweepsSoft: boolean
  readonly rogueRepetitions: number
}

type Change = Pick<Spec, "condition"> & Partial<Omit<Spec, "row" | "task" | "summarizer" | "agent" | "seed">>

/** Numbers of the wordings of a task's rule. */
const wordings = [0, 1, 2, 3] as const

const sweepRows: readonly RowName[] = [
  "none",
  "naive-pin",
  "langchain",
  "holdfast-found",
  "holdfast-rules-guard",
  "holdfast-guard",
]

export const scales = {
  full: {
    rows: rowNames,
    pairs: allPairs,
    repetitions: 1,
    sweepRows,
    sweepPairs: somePairs,
    sweepsSoft: false,
    rogueRepetitions: 12,
  },
  /** A short run: an obedient and a gullible agent, each with one summarizer. */
  quick: {
    rows: [
      "none",
      "naive-pin",
      "hardened-pin",
      "langchain",
      "ai-sdk",
      "openai-agents",
      "holdfast-rules-guard",
      "holdfast-guard",
    ],
    pairs: somePairs.slice(0, 2),
    repetitions: 1,
    sweepRows: ["none", "holdfast-rules-guard", "holdfast-guard"],
    sweepPairs: somePairs.slice(1, 2),
    sweepsSoft: true,
    rogueRepetitions: 3,
  },
  models: {
    rows: rowNames,
    pairs: [modelPair],
    repetitions: 3,
    sweepRows,
    sweepPairs: [modelPair],
    sweepsSoft: false,
    rogueRepetitions: 0,
  },
} as const satisfies Readonly<Record<string, Scale>>

/** Returns the injection to use against a pair: the one evolved for it, or for the most similar pair. */
const bestFor = (best: readonly Best[], { summarizer, agent }: Pair): string =>
  (
    best.find((one) => one.summarizer === summarizer && one.agent === agent) ??
    best.find((one) => one.summarizer === summarizer) ??
    best[0]
  )?.genome ?? plainGenome("token-budget").join("")

function episodes(
  study: string,
  column: string,
  rows: readonly RowName[],
  pairs: readonly Pair[],
  seed: number,
  change: Change | ((pair: Pair) => Change),
  repetitions = 1,
): readonly Planned[] {
  return rows.flatMap((row) =>
    tasks.flatMap((task) =>
      pairs.flatMap((pair) => {
        const changed = typeof change === "function" ? change(pair) : change
        const spec = { ...usual, ...pair, ...changed, row, task: task.name, seed }
        if (spec.asks === "allowed" && task.allowed.length === 0) return []
        return Array.from({ length: repetitions }, (_, repetition) => ({
          study,
          column,
          spec: { ...spec, repetition },
        }))
      }),
    ),
  )
}

/** Plans the paper's conditions, then the stress cases, for every row. */
function mainPlan({ rows: all, pairs, repetitions }: Scale, best: readonly Best[], seed: number): readonly Planned[] {
  const column = (name: string, change: Change | ((pair: Pair) => Change), rows: readonly RowName[] = all) =>
    episodes("main", name, rows, pairs, seed, change, repetitions)
  const fixed = `inject-${plainGenome("deprecation").join("")}`
  return [
    ...column("floor", { condition: "floor" }, ["none", "holdfast-rules-guard", "holdfast-guard"]),
    ...column("control", { condition: "control" }),
    ...column("compaction", { condition: "compaction" }),
    ...column("attack_volume", { condition: "volume" }),
    ...column("attack_inject", { condition: fixed }),
    ...column("optimized", (pair) => ({ condition: `inject-${bestFor(best, pair)}` })),
    ...column("rescind", { condition: "rescind" }),
    ...column("distractors", { condition: "distractors" }),
    ...column("impersonation", { condition: "impersonation" }),
    ...column("pasted", { condition: "pasted" }),
    ...column("forged", { condition: "forged" }),
    ...column("planted", { condition: "planted", asks: "allowed" }),
    ...column("flooding", { condition: "flooding" }),
    ...column("announced", { condition: "announced" }),
    ...column("in a long task", { condition: "in-task" }),
    ...column("pasted rule", { condition: "pasted-rule", asks: "allowed" }),
    ...column("superseding", { condition: "superseding" }),
  ]
}

function sweeps({ sweepPairs, sweepRows: rows, sweepsSoft }: Scale, seed: number): readonly Planned[] {
  const sweep = (study: string, column: string, change: Partial<Change>) =>
    episodes(study, column, rows, sweepPairs, seed, { condition: "compaction", ...change }).filter(
      ({ spec }) => !sweepsSoft || taskOf(spec.task).kind === "soft",
    )
  return [
    ...framings.flatMap((framing) =>
      sweep("framings", framing, { condition: `inject-${plainGenome(framing).join("")}` }),
    ),
    ...[300, 150, 75, 40, 15].flatMap((budgetWords) => sweep("budgets", `${budgetWords} words`, { budgetWords })),
    ...strategies.flatMap((strategy) => sweep("strategies", strategy, { strategy })),
    ...channels.flatMap((channel) => sweep("channels", channel, { channel })),
    ...[1, 2, 3, 4, 5].flatMap((rounds) => sweep("rounds", String(rounds), { rounds })),
    ...(["en", "zh", "es"] as const).flatMap((language) => sweep("languages", language, { language })),
    ...wordings.flatMap((wording) => sweep("wordings", `wording ${wording + 1}`, { condition: `wording-${wording}` })),
  ]
}

/** Plans allowed actions, which have to succeed: without attack, under the stress cases that add or lift rules, and in other languages. */
function allowedPlan({ rows, sweepPairs }: Scale, seed: number): readonly Planned[] {
  const column = (name: string, change: Change) =>
    episodes("allowed", name, rows, sweepPairs, seed, { ...change, asks: "allowed" })
  return [
    ...["control", "compaction", "distractors", "impersonation", "flooding"].flatMap((condition) =>
      column(condition, { condition }),
    ),
    ...(["zh", "es"] as const).flatMap((language) => column(language, { condition: "compaction", language })),
  ]
}

/** Plans an agent that ignores all rules and rewrites refused calls, so that only the guard can stop it. */
function roguePlan({ rogueRepetitions }: Scale, seed: number): readonly Planned[] {
  const pair: Pair = { summarizer: "salience", agent: "rogue" }
  return tasks.flatMap(({ name }) =>
    episodes(
      "rogue",
      name,
      ["none", "holdfast-rules-guard", "holdfast-guard"],
      [pair],
      seed,
      { condition: "compaction" },
      rogueRepetitions,
    ).filter(({ spec }) => spec.task === name),
  )
}

export const planGrid = (scale: Scale, best: readonly Best[], seed: number): readonly Planned[] => [
  ...mainPlan(scale, best, seed),
  ...sweeps(scale, seed),
  ...allowedPlan(scale, seed),
  ...roguePlan(scale, seed),
]
