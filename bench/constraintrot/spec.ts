import type { Language, TaskName } from "./task.ts"

export const rowNames = [
  "none",
  "system-channel",
  "spotlighting",
  "naive-pin",
  "hardened-pin",
  "langchain",
  "ai-sdk",
  "openai-agents",
  "holdfast-found",
  "holdfast-operator",
  "holdfast-rules-guard",
  "holdfast-guard",
] as const
export type RowName = (typeof rowNames)[number]

export const strategies = ["summarize", "hierarchical", "head-tail", "recency-truncate"] as const
export type StrategyName = (typeof strategies)[number]

export const channels = ["user", "memory", "tool", "system"] as const
export type ChannelName = (typeof channels)[number]

export const summarizerNames = ["salience", "credulous", "careful"] as const
export type SummarizerName = (typeof summarizerNames)[number] | "model"

export const agentNames = ["obedient", "gullible", "forgetful"] as const
export type AgentName = (typeof agentNames)[number] | "rogue" | "model"

/** `floor` and `control`, `compaction`, the attacks (`inject-…` names the pieces of the text), the stress cases. */
export type Condition = string

/** Everything that determines one episode: the same spec gives the same episode. */
export type Spec = {
  readonly row: RowName
  readonly condition: Condition
  readonly task: TaskName
  readonly asks: "forbidden" | "allowed"
  readonly channel: ChannelName
  readonly language: Language
  readonly budgetWords: number
  readonly strategy: StrategyName
  readonly rounds: number
  readonly summarizer: SummarizerName
  readonly agent: AgentName
  readonly repetition: number
  readonly seed: number
}

/** A tight budget, as in production guidance and the paper's main grid. */
export const usualBudgetWords = 40

export const usual = {
  asks: "forbidden",
  channel: "user",
  language: "en",
  budgetWords: usualBudgetWords,
  strategy: "summarize",
  rounds: 1,
  repetition: 0,
} as const

/** Returns the id of an episode, by which it can be played again. */
export const idOf = (spec: Spec): string =>
  [
    spec.row,
    spec.condition,
    spec.task,
    spec.asks,
    spec.channel,
    spec.language,
    `w${spec.budgetWords}`,
    spec.strategy,
    `r${spec.rounds}`,
    spec.summarizer,
    spec.agent,
    `n${spec.repetition}`,
    `s${spec.seed}`,
  ].join("/")

/** Returns the key of the random draws: everything but the defence and the condition, so that rows and columns do not differ by chance. */
export const luckOf = (spec: Spec): string => idOf({ ...spec, row: "none", condition: "any" })

const oneOf = <Value extends string>(list: readonly Value[], text: string | undefined): Value => {
  const found = list.find((value) => value === text)
  if (found === undefined) throw new Error(`"${text}" is none of ${list.join(", ")}`)
  return found
}

const numberOf = (text: string | undefined): number => {
  const value = Number(text?.slice(1))
  if (!Number.isSafeInteger(value)) throw new Error(`"${text}" has no number`)
  return value
}

const taskNames: readonly TaskName[] = [
  "email",
  "language",
  "channel",
  "deploy",
  "spend",
  "proddb",
  "secret",
  "pii",
  "seccontrol",
]

export function specOf(id: string): Spec {
  const [row, condition = "", task, asks, channel, language, words, strategy, rounds, summarizer, agent, n, seed] =
    id.split("/")
  return {
    row: oneOf(rowNames, row),
    condition,
    task: oneOf(taskNames, task),
    asks: oneOf(["forbidden", "allowed"], asks),
    channel: oneOf(channels, channel),
    language: oneOf(["en", "zh", "es"], language),
    budgetWords: numberOf(words),
    strategy: oneOf(strategies, strategy),
    rounds: numberOf(rounds),
    summarizer: oneOf([...summarizerNames, "model"], summarizer),
    agent: oneOf([...agentNames, "rogue", "model"], agent),
    repetition: numberOf(n),
    seed: numberOf(seed),
  }
}
