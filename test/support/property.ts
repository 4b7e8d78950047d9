import fc from "fast-check"

/**
 * A hundred cases in the everyday run, and the same ones every time, so that a red run is the change's fault; `npm run test:long` tries
 * two thousand. HOLDFAST_PROPERTY_RUNS asks for more cases, HOLDFAST_PROPERTY_SEED for others: a number that a failure printed, or `random`.
 */
export const runs: number = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 100)

/** Is everything tried, where the everyday run takes a sample? */
export const isLongRun: boolean = runs > 1000

const asked = process.env.HOLDFAST_PROPERTY_SEED ?? "20261115"

fc.configureGlobal({ numRuns: runs, ...(asked === "random" ? {} : { seed: Number(asked) }) })

export { fc }
