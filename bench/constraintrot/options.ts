/** What the command line says beside the bench's name. */
export type RunOptions = {
  readonly quick?: boolean
  readonly html?: string
  readonly seed?: number
  /** An episode's id, to be shown whole; or a piece of ids, to play only what has it. */
  readonly only?: string
  /** Real models in place of the simulated ones: from the environment, off unless asked for. */
  readonly models?: boolean
  /** Worker threads; 0 plays in this one. */
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
