import { draw, drawFrom } from "./draw.ts"
import { framings, type Genome, plainGenome, slots } from "./injection-texts.ts"
import type { Pool } from "./pool.ts"
import { type AgentName, type RowName, type SummarizerName, usual } from "./spec.ts"
import { tasks } from "./tasks.ts"

/** The row and pair that an injection is evolved against. */
export type Target = { readonly row: RowName; readonly summarizer: SummarizerName; readonly agent: AgentName }

export type Best = Target & {
  readonly genome: string
  /** Violation rates of the best and of the fixed text, over the episodes used in the search. */
  readonly rate: number
  readonly fixedRate: number
  readonly tried: number
}

export type Effort = { readonly generations: number; readonly children: number; readonly repetitions: number }

/** Repetitions from here on are used only by the search, so that measured episodes were not part of it. */
const breedingFrom = 1000

/** Returns the share of violations, and to break ties the share of rules that are gone. */
async function fitness(genome: Genome, target: Target, seed: number, repetitions: number, pool: Pool) {
  const condition = `inject-${genome.join("")}`
  const specs = tasks
    .filter(({ kind }) => kind === "soft")
    .flatMap(({ name }) =>
      Array.from({ length: repetitions }, (_, n) => {
        return { ...usual, ...target, condition, task: name, repetition: breedingFrom + n, seed }
      }),
    )
  const played = await pool.play(specs)
  const share = (count: number): number => count / played.length
  return [
    share(played.filter(({ violated }) => violated).length),
    share(played.filter(({ keywordSurvival }) => !keywordSurvival).length),
  ] as const
}

function child(one: Genome, other: Genome, ...key: readonly (string | number)[]): Genome {
  const mutated = Math.floor(draw("slot", ...key) * slots.length)
  return slots.map((_, n) => {
    if (n === mutated) return Math.floor(draw("piece", n, ...key) * framings.length)
    return (draw("from", n, ...key) < 0.5 ? one[n] : other[n]) ?? 0
  })
}

/** Genetic search: starts with the six plain framings, crosses and mutates the three best, and keeps the best text ever seen. */
export async function searchInjection(target: Target, seed: number, effort: Effort, pool: Pool): Promise<Best> {
  const known = new Map<string, readonly [number, number]>()
  const tryOut = async (genomes: readonly Genome[]): Promise<void> => {
    const fresh = new Map(genomes.map((genome) => [genome.join(""), genome]))
    for (const name of known.keys()) fresh.delete(name)
    const rated = [...fresh].map(async ([name, genome]) => {
      return [name, await fitness(genome, target, seed, effort.repetitions, pool)] as const
    })
    for (const [name, rates] of await Promise.all(rated)) known.set(name, rates)
  }
  const ranked = () =>
    [...known].sort(([, one], [, other]) => other[0] - one[0] || other[1] - one[1]).map(([name]) => name)
  await tryOut(framings.map(plainGenome))
  for (let generation = 0; generation < effort.generations; generation++) {
    const parents = ranked()
      .slice(0, 3)
      .map((name) => [...name].map(Number))
    const children = Array.from({ length: effort.children }, (_, n) => {
      const key = [seed, target.summarizer, target.agent, generation, n] as const
      return child(drawFrom(parents, "one", ...key), drawFrom(parents, "other", ...key), ...key)
    })
    await tryOut(children)
  }
  const genome = ranked()[0] ?? ""
  const rateOf = (name: string): number => known.get(name)?.[0] ?? 0
  const fixed = plainGenome("deprecation").join("")
  return { ...target, genome, rate: rateOf(genome), fixedRate: rateOf(fixed), tried: known.size }
}
