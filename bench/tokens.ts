import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"
import { callId, type Message, messageId } from "../src/message/message.ts"
import { conditionsNow } from "./conditions.ts"
import { corpusOf, hardInputs, messagesOf, writers } from "./texts.ts"

/**
 * Our token counter compared with what a user could install instead: speed on new and on known texts, load time, memory, inputs that freeze
 * a naive counter, and what one more turn costs at any length of history. Each measurement is a fresh process.
 */
export type Options = { readonly corpus?: string; readonly repeats?: number; readonly quick?: boolean }

type Speed = {
  readonly kind: string
  readonly bytes: number
  readonly tokens: number
  readonly firstMs: number
  readonly newMs: number
  readonly againMs: number
}
type Load = { readonly loadMs: number; readonly rssMb: number; readonly coldMs: number; readonly coldTokens: number }
type Turn = { readonly historyTokens: number; readonly turnTokens: number; readonly turnMs: number }
type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly loads: Readonly<Record<string, Load>>
  readonly speeds: Readonly<Record<string, readonly Speed[]>>
  readonly hard: Readonly<Record<string, Readonly<Record<string, number | "timed out">>>>
  readonly turns: readonly Turn[]
}
type Count = (text: string) => number
type Holdfast = typeof import("../src/tokens/counter.ts") &
  typeof import("../src/tokens/meter.ts") &
  typeof import("../src/tokens/tally.ts")

const peers = ["holdfast", "gpt-tokenizer", "ai-tokenizer", "bpe-lite"]
const timeoutMs = 20_000
const self = fileURLToPath(import.meta.url)
const note = (line: string): void => console.error(`  ${line}`)

// The child: one library, one job, one line of JSON.

const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

const openBundle = (bundle: string): Promise<Holdfast> => import(pathToFileURL(bundle).href)

async function open(library: string, bundle: string): Promise<Count> {
  if (library === "holdfast") return (await openBundle(bundle)).countO200k
  if (library === "gpt-tokenizer") {
    const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base")
    return (text) => countTokens(text, plain)
  }
  if (library === "ai-tokenizer") {
    const [{ default: Tokenizer }, encoding] = await Promise.all([
      import("ai-tokenizer"),
      import("ai-tokenizer/encoding/o200k_base"),
    ])
    const tokenizer = new Tokenizer(encoding)
    return (text) => tokenizer.count(text)
  }
  const { countTokens } = await import("bpe-lite")
  return (text) => countTokens(text, "openai-o200k")
}

function timed(count: Count, texts: readonly string[]): { readonly ms: number; readonly tokens: number } {
  const start = performance.now()
  let tokens = 0
  for (const text of texts) tokens += count(text)
  return { ms: performance.now() - start, tokens }
}

/** Returns the same words in texts that were never counted, which is what a warm process mostly gets. */
const shuffled = (texts: readonly string[]): readonly string[] =>
  texts.map((text) => `${text.slice(2048)}\n${text.slice(0, 2048)}`)

function measureSpeed(count: Count, kind: string, texts: readonly string[]): Speed {
  const first = timed(count, texts)
  const fresh = timed(count, shuffled(texts))
  const again = timed(count, texts)
  const bytes = texts.reduce((total, text) => total + Buffer.byteLength(text), 0)
  return { kind, bytes, tokens: first.tokens, firstMs: first.ms, newMs: fresh.ms, againMs: again.ms }
}

async function measureLoad(library: string, bundle: string, texts: readonly string[]): Promise<Load> {
  const before = process.memoryUsage().rss
  const start = performance.now()
  const count = await open(library, bundle)
  count("hello")
  const loadMs = performance.now() - start
  const rssMb = (process.memoryUsage().rss - before) / 1e6
  const cold = timed(count, texts)
  return { loadMs, rssMb, coldMs: cold.ms, coldTokens: cold.tokens }
}

/** Measures a history of `size` tokens, then turns of about 1,400 tokens, each counted and added. */
function measureTurn({ createMeter, createTally, extendTally }: Holdfast, size: number): Turn {
  const [id, call] = [messageId("m"), callId("c")]
  const user = (text: string): Message => ({ id, role: "user", parts: [{ type: "text", text }] })
  const turnOf = (text: string): readonly Message[] => [
    user(text.slice(0, 400)),
    {
      id,
      role: "assistant",
      parts: [
        { type: "tool-call", callId: call, tool: "bash", kind: "function", input: { command: text.slice(400, 600) } },
      ],
    },
    {
      id,
      role: "user",
      parts: [
        { type: "tool-result", callId: call, kind: "function", content: [{ type: "text", text: text.slice(600) }] },
      ],
    },
  ]
  let tally = extendTally(createTally(createMeter({ model: "gpt-5" })), messagesOf("mix", size * 3, 5).map(user))
  const historyTokens = tally.total
  const turns = messagesOf("mix", 1_600_000, 6).map((text) => {
    const turn = turnOf(text.slice(0, 3500))
    const before = tally.total
    const start = performance.now()
    tally = extendTally(tally, turn)
    return { ms: performance.now() - start, tokens: tally.total - before }
  })
  const settled = turns.slice(50)
  return {
    historyTokens,
    turnTokens: median(settled.map((turn) => turn.tokens)),
    turnMs: median(settled.map((turn) => turn.ms)),
  }
}

async function child(job: string, library: string, bundle: string, argument: string): Promise<unknown> {
  if (job === "load") return measureLoad(library, bundle, messagesOf("mix", 3_000_000, 1))
  if (job === "turn") return measureTurn(await openBundle(bundle), Number(argument))
  const count = await open(library, bundle)
  timed(count, messagesOf("mix", 600_000, 99))
  if (job === "hard") {
    const text = hardInputs[argument]?.() ?? ""
    return timed(count, [text]).ms
  }
  const kinds = [...Object.keys(writers), "mix"]
  const made = kinds.map((kind, seed) => measureSpeed(count, kind, messagesOf(kind, 600_000, seed + 2)))
  return argument === "" ? made : [...made, measureSpeed(count, "real traces", corpusOf(argument))]
}

// The parent: runs the children, takes medians, prints.

/** Returns what the child measured, or undefined if it took too long. */
function runChild<Result>(job: string, library: string, bundle: string, argument = ""): Promise<Result | undefined> {
  return new Promise((resolve) => {
    const started = spawn(process.execPath, [self, "--child", job, library, bundle, argument], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const timer = setTimeout(() => started.kill("SIGKILL"), timeoutMs)
    let output = ""
    started.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
    })
    started.on("close", () => {
      clearTimeout(timer)
      resolve(output === "" ? undefined : JSON.parse(output))
    })
  })
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN

/** Returns the median of each number over several runs; other fields are the same in all of them. */
function medians<Item extends object>(items: readonly Item[]): Item {
  const figures = (key: string): readonly number[] =>
    items
      .flatMap((item) => Object.entries(item))
      .flatMap(([name, value]) => (name === key && typeof value === "number" ? [value] : []))
  const [first] = items
  if (first === undefined) throw new Error("no run came to its end")
  const middle = Object.keys(first)
    .filter((key) => figures(key).length > 0)
    .map((key) => [key, median(figures(key))])
  return { ...first, ...Object.fromEntries(middle) }
}

/** Bundles what the user would get from the package: plain JavaScript, one file, without Node built-ins. */
async function bundleTo(folder: string): Promise<string> {
  const outfile = join(folder, "holdfast-tokens.mjs")
  const contents = ["o200k", "meter", "tally"].map((file) => `export * from "./${file}.ts"`).join("\n")
  const resolveDir = fileURLToPath(new URL("../src/tokens", import.meta.url))
  const stdin = { contents, resolveDir, loader: "ts" } as const
  await build({ stdin, bundle: true, format: "esm", platform: "neutral", outfile, logLevel: "error" })
  return outfile
}

async function repeated<Result>(
  repeats: number,
  libraries: readonly string[],
  run: (library: string) => Promise<Result | undefined>,
): Promise<Record<string, Result[]>> {
  const results: Record<string, Result[]> = {}
  for (let round = 0; round < repeats; round++) {
    for (const library of libraries) {
      note(`round ${round + 1} of ${repeats}: ${library}`)
      const result = await run(library)
      if (result !== undefined) results[library] = [...(results[library] ?? []), result]
    }
  }
  return results
}

export async function run({ corpus = "", repeats = 3, quick = false }: Options = {}): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"))
  try {
    const bundle = await bundleTo(folder)
    note("load, and a first million tokens")
    const loads = await repeated(repeats, peers, (library) => runChild<Load>("load", library, bundle))
    note("speed by kind of text")
    const speeds = await repeated(repeats, peers, (library) => runChild<Speed[]>("speed", library, bundle, corpus))
    note("hard inputs")
    const hard: Record<string, Record<string, number | "timed out">> = {}
    for (const library of peers) {
      for (const input of quick ? Object.keys(hardInputs).slice(0, 2) : Object.keys(hardInputs)) {
        const ms = await runChild<number>("hard", library, bundle, input)
        hard[library] = { ...hard[library], [input]: ms ?? "timed out" }
      }
    }
    note("one more turn")
    const turns: Turn[] = []
    for (const size of [10_000, 100_000, 1_000_000]) {
      const results = await repeated(repeats, ["holdfast"], () =>
        runChild<Turn>("turn", "holdfast", bundle, String(size)),
      )
      turns.push(medians(results.holdfast ?? []))
    }
    return {
      conditions: {
        ...conditionsNow(),
        repeats,
      },
      loads: Object.fromEntries(Object.entries(loads).map(([library, results]) => [library, medians(results)])),
      speeds: Object.fromEntries(
        Object.entries(speeds).map(([library, results]) => [
          library,
          (results[0] ?? []).map((_, kind) => medians(results.flatMap((result) => result[kind] ?? []))),
        ]),
      ),
      hard,
      turns,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const table = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n")
}

function loadTable(loads: Report["loads"]): string {
  const base = loads["gpt-tokenizer"]?.coldMs ?? Number.NaN
  const rows = Object.entries(loads).map(([library, { loadMs, rssMb, coldMs, coldTokens }]) => {
    return [
      library,
      loadMs.toFixed(0),
      rssMb.toFixed(0),
      coldMs.toFixed(0),
      `${(base / coldMs).toFixed(1)}x`,
      String(coldTokens),
    ]
  })
  return table([["", "load ms", "RSS MB", "1M ms", "vs gpt-tokenizer", "tokens"], ...rows])
}

const sights: readonly ("firstMs" | "newMs" | "againMs")[] = ["firstMs", "newMs", "againMs"]

function speedTable(speeds: Report["speeds"]): string {
  const ours = speeds.holdfast ?? []
  const rates = (speed: Speed): string =>
    sights.map((sight) => (speed.bytes / 1000 / speed[sight]).toFixed(1)).join(" / ")
  const lead = (speed: Speed, kind: number): string => {
    const others = Object.entries(speeds).flatMap(([library, all]) => (library === "holdfast" ? [] : (all[kind] ?? [])))
    const ratios = sights.map((sight) => Math.min(...others.map((other) => other[sight])) / speed[sight])
    return ratios.map((ratio) => `${ratio.toFixed(1)}x`).join(" / ")
  }
  const rows = Object.entries(speeds).map(([library, all]) => [library, ...all.map(rates)])
  return table([["", ...ours.map(({ kind }) => kind)], ...rows, ["holdfast vs the best other", ...ours.map(lead)]])
}

function hardTable(hard: Report["hard"]): string {
  const cell = (ms: number | string | undefined): string => (typeof ms === "number" ? ms.toFixed(1) : String(ms))
  const inputs = Object.keys(hard.holdfast ?? {})
  return table([
    ["", ...peers],
    ...inputs.map((input) => [input, ...peers.map((library) => cell(hard[library]?.[input]))]),
  ])
}

export function print({ conditions, loads, speeds, hard, turns }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  const turnRows = turns.map((turn) => [String(turn.historyTokens), String(turn.turnTokens), turn.turnMs.toFixed(3)])
  console.log(`${told.join(", ")}

Fresh process: load to first count, then 1M tokens of mixed text, no warm-up
${loadTable(loads)}

MB/s, first sight / new text of known words / the same text again, after 600 KB of warm-up
${speedTable(speeds)}

Hard inputs, ms, after the same warm-up (stopped after ${timeoutMs / 1000} s)
${hardTable(hard)}

One more turn (user, tool call, tool result): its tokens and the new total
${table([["history tokens", "turn tokens", "ms"], ...turnRows])}`)
}

if (process.argv[1] === self) {
  const [flag, job = "", library = "", bundle = "", argument = ""] = process.argv.slice(2)
  if (flag === "--child") {
    process.stdout.write(JSON.stringify(await child(job, library, bundle, argument)))
  } else {
    const at = process.argv.indexOf("--corpus")
    const corpus = at < 0 ? undefined : process.argv[at + 1]
    const report = await run({
      ...(corpus === undefined ? {} : { corpus }),
      repeats: process.argv.includes("--quick") ? 1 : 3,
      quick: process.argv.includes("--quick"),
    })
    if (process.argv.includes("--json")) console.log(JSON.stringify(report, undefined, 2))
    else print(report)
  }
}
