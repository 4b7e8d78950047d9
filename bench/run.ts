import { stat } from "node:fs/promises"

/** `npm run bench -- tokens wire [--json] [--quick] [--corpus DIR]`: runs each bench by name, one after the other. */
const names = [
  "tokens",
  "wire",
  "retention",
  "handoff",
  "rounds",
  "injection",
  "compact",
  "session",
  "rules",
  "guard",
  "constraintrot",
  "drift",
  "gateway",
  "stall",
  "cache",
  "inspector",
  "newcomer",
  "replay",
] as const
/** Options that take a value. */
const valued: ReadonlySet<string> = new Set(["--corpus", "--html", "--seed", "--only", "--soak"])

type Options = { readonly corpus?: string; readonly quick: boolean; readonly repeats?: number }
type Bench = { readonly run: (options: Options) => Promise<unknown>; readonly print: (report: never) => void }

const help = `Measures Holdfast beside its peers, in one run, and prints ratios.

  npm run bench -- [${names.join("] [")}] [options]     without a name, all of them

  --quick        fewer repeats
  --json         the figures as JSON
  --corpus DIR   also measure on the real traces in DIR (or HOLDFAST_CORPUS); retention and handoff measure nothing else

gateway and stall also take

  --soak MINUTES the gateway under 100 sessions with compactions, minute by minute
  --only WORDS   the cases whose name has these words; HOLDFAST_BENCH_PROFILE=DIR writes CPU profiles of the gateway

constraintrot and drift also take

  --html FILE    a report with plots
  --seed N       other episodes
  --only ID      one episode, shown whole; or all whose id has this piece
  --models       a real model in place of the simulated ones, from HOLDFAST_BENCH_FORMAT, _BASE_URL, _API_KEY, _MODEL`

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}

async function load(name: string): Promise<Bench> {
  return (await import(`./${name}.ts`)) as Bench
}

async function main(): Promise<number> {
  const corpus = option("--corpus") ?? process.env.HOLDFAST_CORPUS
  const asked = process.argv.slice(2).filter((word, n, all) => !word.startsWith("--") && !valued.has(all[n - 1] ?? ""))
  const unknown = asked.find((name) => !(names as readonly string[]).includes(name))
  if (unknown !== undefined || process.argv.includes("--help")) {
    console.log(unknown === undefined ? help : `There is no bench "${unknown}".\n\n${help}`)
    return unknown === undefined ? 0 : 2
  }
  if (corpus !== undefined && !(await stat(corpus).catch(() => undefined))?.isDirectory()) {
    console.log(`The corpus folder ${corpus} is not there; leave out --corpus to measure on generated texts.`)
    return 2
  }
  const quick = process.argv.includes("--quick")
  const reports: Record<string, unknown> = {}
  for (const name of asked.length === 0 ? names : asked) {
    const bench = await load(name)
    const report = await bench.run({
      quick,
      ...(quick ? { repeats: 1 } : {}),
      ...(corpus === undefined ? {} : { corpus }),
    })
    reports[name] = report
    if (!process.argv.includes("--json")) bench.print(report as never)
  }
  if (process.argv.includes("--json")) console.log(JSON.stringify(reports, undefined, 2))
  return 0
}

process.exitCode = await main()
