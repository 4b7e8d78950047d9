/** Options of the command line. */
export type RunOptions = {
  readonly quick?: boolean
  readonly html?: string
  readonly seed?: number
  /** An episode's id, to print it in full; or a part of ids, to play only the episodes whose id contains it. */
  readonly only?: string
  /** Uses the real models named by the environment instead of the simulated ones; off by default. */
  readonly models?: boolean
  /** Number of worker threads; 0 plays in this thread. */
  readonly workers?: number
}

const valueAfter = (args: readonly string[], name: string): string | undefined => {
  const at = args.indexOf(name)
  return at < 0 ? undefined : args[at + 1]
}

export function optionsFrom(args: readonly string[]): RunOptions {
  const [html, only, seed, workers] = ["--html", "--only", "--seed", "--workers"].map((name) => valueAfter(args, name))
  return {
    ...(html === undefined ? {} : { html }),
    ...(only === undefined ? {} : { only }),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(workers === undefined ? {} : { workers: Number(workers) }),
    ...(args.includes("--models") ? { models: true } : {}),
    ...(args.includes("--quick") ? { quick: true } : {}),
  }
}
