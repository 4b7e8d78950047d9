import fc from "fast-check"

/** A thousand cases in the fast run; HOLDFAST_PROPERTY_RUNS asks for more. A failure prints its seed, HOLDFAST_PROPERTY_SEED repeats it. */
export const runs: number = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 1000)

const seed = process.env.HOLDFAST_PROPERTY_SEED

fc.configureGlobal({ numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) })

export { fc }
