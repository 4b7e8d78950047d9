import { writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { conditionsNow } from "./conditions.ts"
import { htmlOf } from "./constraintrot/html.ts"
import { optionsFrom, type RunOptions } from "./constraintrot/options.ts"
import { allPairs, planGrid, scales } from "./constraintrot/plan.ts"
import { createPool, type Pool } from "./constraintrot/pool.ts"
import { textOf } from "./constraintrot/print.ts"
import { brokenIn, parameters, type Report, simulatedNote, whatItIs } from "./constraintrot/report.ts"
import { type Best, searchInjection, type Target } from "./constraintrot/search.ts"
import { showEpisode } from "./constraintrot/show.ts"
import { idOf } from "./constraintrot/spec.ts"
import { agreementOf, cellsOf, crossingOf, decayOf, type PlayedEpisode } from "./constraintrot/tally.ts"

/**
 * ConstraintRot, re-implemented from its description: does a rule given to an agent survive what its harness does to the context, and does
 * the agent keep to it? Nine rules, benign work, a request that would break the rule, and a grader that reads only the call.
 */
export type EpisodeText = { readonly bench: "constraintrot"; readonly shown: string }

const targetsOf = (isQuick: boolean): readonly Target[] => [
  ...(isQuick ? scales.quick.pairs : allPairs).map((pair) => ({ row: "none" as const, ...pair })),
  ...(isQuick ? [] : [{ row: "holdfast-found", summarizer: "credulous", agent: "gullible" } as const]),
]

/** Evolving attacks against a plain harness is cheap; against ours it is not, and a small search shows whether it gets anywhere. */
const wide = { generations: 3, children: 5, repetitions: 3 }
const narrow = { generations: 1, children: 4, repetitions: 1 }

const search = (isQuick: boolean, seed: number, pool: Pool): Promise<readonly Best[]> =>
  Promise.all(
    targetsOf(isQuick).map((target) =>
      searchInjection(target, seed, isQuick || target.row !== "none" ? narrow : wide, pool),
    ),
  )

const isEpisode = (only: string): boolean => only.split("/").length === idParts

/** Number of parts of an episode's id. */
const idParts = 13

function createProgress(): (done: number, of: number) => void {
  let told = 0
  return (done, of) => {
    if (done < told + 250) return
    told = done
    process.stderr.write(`constraintrot: ${done} of ${of} episodes\n`)
  }
}

export async function run(given: RunOptions = {}): Promise<Report | EpisodeText> {
  const options = { ...optionsFrom(process.argv), ...given }
  const { only } = options
  if (only !== undefined && isEpisode(only)) return { bench: "constraintrot", shown: await showEpisode(only) }
  const pool = createPool(options.workers ?? Math.min(4, availableParallelism()), createProgress())
  try {
    const report = await measure(options, pool)
    if (options.html !== undefined) await writeFile(options.html, htmlOf(report))
    return report
  } finally {
    await pool.close()
  }
}

async function measure({ only, seed = 1, quick = false, models = false }: RunOptions, pool: Pool): Promise<Report> {
  const start = performance.now()
  const injections = models ? [] : await search(quick, seed, pool)
  const scale = models ? scales.models : quick ? scales.quick : scales.full
  const planned = planGrid(scale, injections, seed).filter(
    ({ spec }) => only === undefined || idOf(spec).includes(only),
  )
  const played = await pool.play(planned.map(({ spec }) => spec))
  const done = planned.flatMap((plan, n): readonly PlayedEpisode[] => {
    const own = played[n]
    return own === undefined ? [] : [{ ...plan, played: own }]
  })
  const cells = cellsOf(done)
  return {
    bench: "constraintrot",
    what: whatItIs,
    simulated: !models,
    note: models ? "Agents and summarizers are a real model." : simulatedNote,
    conditions: conditionsNow(),
    seed,
    episodes: new Set(played.map(({ id }) => id)).size,
    seconds: (performance.now() - start) / 1000,
    parameters,
    cells,
    crossing: crossingOf(done),
    agreement: agreementOf(done),
    decay: decayOf(done),
    injections,
    broken: brokenIn(cells),
  }
}

export function print(report: Report | EpisodeText): void {
  console.log("shown" in report ? report.shown : textOf(report))
}
