import type { Planned } from "./plan.ts"
import type { Played } from "./play.ts"
import type { AgentName, RowName, SummarizerName } from "./spec.ts"
import { taskOf } from "./tasks.ts"
import { type Share, shareOf } from "./wilson.ts"

/** One cell of a table. */
export type Cell = {
  readonly study: string
  readonly row: RowName
  readonly column: string
  readonly violation: Share
  readonly soft: Share
  readonly hard: Share
  /** Share of episodes in which the agent's context contains the rule: by keywords, and verbatim. */
  readonly keywordSurvival: Share
  readonly survival: Share
  readonly completed: Share
  readonly refusals: number
  readonly compactions: number
  readonly contextTokens: number
  readonly pinTokens: number
  /** The first few episodes in which the prohibited thing was done; in a table of allowed actions, those not done. */
  readonly examples: readonly string[]
}

export type PlayedEpisode = Planned & { readonly played: Played }

const maxExamples = 8

const survives = ({ survival }: Played): boolean => survival === "verbatim"
const share = (all: readonly PlayedEpisode[], hit: (played: Played) => boolean): Share =>
  shareOf(all.filter(({ played }) => hit(played)).length, all.length)
const mean = (all: readonly PlayedEpisode[], value: (played: Played) => number): number =>
  all.reduce((sum, { played }) => sum + value(played), 0) / Math.max(1, all.length)

export function cellsOf(done: readonly PlayedEpisode[]): readonly Cell[] {
  const groups = Map.groupBy(done, ({ study, column, spec }) => JSON.stringify([study, spec.row, column]))
  return [...groups.values()].flatMap((all): readonly Cell[] => {
    const [first] = all
    if (first === undefined) return []
    const { study, column, spec } = first
    const ofKind = (kind: string) => all.filter((one) => taskOf(one.spec.task).kind === kind)
    const bad = all.filter(({ played }) => (study === "allowed" ? !played.completed : played.violated))
    return [
      {
        study,
        row: spec.row,
        column,
        violation: share(all, ({ violated }) => violated),
        soft: share(ofKind("soft"), ({ violated }) => violated),
        hard: share(ofKind("hard"), ({ violated }) => violated),
        keywordSurvival: share(all, ({ keywordSurvival }) => keywordSurvival),
        survival: share(all, survives),
        completed: share(all, ({ completed }) => completed),
        refusals: all.reduce((sum, { played }) => sum + played.refusals, 0),
        compactions: mean(all, ({ compactions }) => compactions),
        contextTokens: mean(all, ({ contextTokens }) => contextTokens),
        pinTokens: mean(all, ({ pinTokens }) => pinTokens),
        examples: bad.slice(0, maxExamples).map(({ played }) => played.id),
      },
    ]
  })
}

export type Crossing = {
  readonly summarizer: SummarizerName
  readonly agent: AgentName
  readonly violation: Share
}

/** Compares summarizers and agents in the row without a defence, after compaction: which of the two causes violations? */
export function crossingOf(done: readonly PlayedEpisode[]): readonly Crossing[] {
  const own = done.filter(
    ({ study, column, spec }) => study === "main" && column === "compaction" && spec.row === "none",
  )
  return [...Map.groupBy(own, ({ spec }) => `${spec.summarizer} ${spec.agent}`).values()].flatMap((all) => {
    const spec = all[0]?.spec
    if (spec === undefined) return []
    return [{ summarizer: spec.summarizer, agent: spec.agent, violation: share(all, ({ violated }) => violated) }]
  })
}

export type Agreement = {
  readonly measure: string
  readonly whenKept: Share
  readonly whenLost: Share
  /** Share of episodes in which the two measures agree. */
  readonly same: Share
}

/** How well survival predicts violation, over what was compacted without a defence, attacked or not, as in the paper. */
export function agreementOf(done: readonly PlayedEpisode[]): readonly Agreement[] {
  const columns = new Set(["compaction", "attack_volume", "attack_inject"])
  const own = done.filter(({ study, column, spec }) => study === "main" && columns.has(column) && spec.row === "none")
  const same = share(own, (played) => played.keywordSurvival === survives(played))
  const measures: readonly (readonly [string, (played: Played) => boolean])[] = [
    ["keywords", ({ keywordSurvival }) => keywordSurvival],
    ["survival()", survives],
  ]
  return measures.map(([measure, kept]) => ({
    measure,
    same,
    whenKept: share(
      own.filter(({ played }) => kept(played)),
      ({ violated }) => violated,
    ),
    whenLost: share(
      own.filter(({ played }) => !kept(played)),
      ({ violated }) => violated,
    ),
  }))
}

export type TaskDecay = {
  readonly task: string
  readonly kind: string
  readonly floor: Share
  readonly control: Share
  readonly compaction: Share
}

/** Per task, without a defence: with no rule stated, with everything shown, after compaction. */
export function decayOf(done: readonly PlayedEpisode[]): readonly TaskDecay[] {
  const own = done.filter(({ study, spec }) => study === "main" && spec.row === "none")
  return [...Map.groupBy(own, ({ spec }) => spec.task)].map(([task, all]) => {
    const at = (column: string) =>
      share(
        all.filter((one) => one.column === column),
        ({ violated }) => violated,
      )
    return { task, kind: taskOf(task).kind, floor: at("floor"), control: at("control"), compaction: at("compaction") }
  })
}
