import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { root } from "./source-hash.ts"

/**
 * Compares the figures of two commits: `npm run bench:compare -- A B [benches and options of npm run bench]`. A and B are commits, or files
 * that `npm run bench -- … --json` wrote. Each commit is checked out into its own folder, with the packages of this checkout, and they are
 * measured one after the other, so that both have the same machine. Only figures that differ are printed.
 */

const usual = ["retention", "rounds", "injection", "rules", "cache", "gateway", "--quick"]

/** Shares and sizes are exact on a fixed corpus; times are not, and this share of them is noise. */
const noise = 0.05

const run = (command: string, args: readonly string[], cwd: string): string => {
  const { status, stdout } = spawnSync(command, [...args], {
    cwd,
    encoding: "utf8",
    maxBuffer: 1_000_000_000,
    stdio: ["ignore", "pipe", "inherit"],
  })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`)
  return stdout
}

/** Returns what the benches print as JSON at a commit. */
function measure(commit: string, args: readonly string[]): unknown {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"))
  run("git", ["worktree", "add", "--quiet", "--detach", "--force", folder, commit], root)
  try {
    for (const modules of ["node_modules", "bench/node_modules", "inspector/node_modules"])
      if (existsSync(join(root, modules))) symlinkSync(join(root, modules), join(folder, modules))
    // The generated vocabulary is in no commit.
    run(process.execPath, ["scripts/vocabulary.ts"], folder)
    const printed = run(process.execPath, ["bench/run.ts", ...args, "--json"], folder)
    return JSON.parse(printed.slice(printed.indexOf("{")))
  } finally {
    run("git", ["worktree", "remove", "--force", folder], root)
    rmSync(folder, { recursive: true, force: true })
  }
}

const figuresOf = (given: string, args: readonly string[]): unknown =>
  existsSync(given) ? JSON.parse(readFileSync(given, "utf8")) : measure(given, args)

/** Returns every number of a report by its path; an element of a list is identified by its name if it has one. */
function numbersIn(value: unknown, path: string): readonly (readonly [path: string, figure: number])[] {
  if (typeof value === "number") return [[path, value]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => numbersIn(inner, `${path}/${nameOf(inner) ?? key}`))
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const name: unknown = "name" in value ? value.name : "label" in value ? value.label : undefined
  return typeof name === "string" ? name : undefined
}

const [first = "", second = "", ...asked] = process.argv.slice(2)
if (first === "" || second === "") {
  process.stdout.write("npm run bench:compare -- A B [benches] [options]: A and B are commits, or files of figures\n")
  process.exit(2)
}
// A corpus path is relative to this folder.
const args = (asked.length === 0 ? usual : asked).map((word, n, all) =>
  all[n - 1] === "--corpus" ? resolve(word) : word,
)
const [before, after] = [first, second].map((given) => new Map(numbersIn(figuresOf(given, args), "")))
const paths = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])]
let same = 0
for (const path of paths) {
  const [one, other] = [before?.get(path), after?.get(path)]
  const change = one === undefined || other === undefined || one === 0 ? undefined : other / one - 1
  const isTime = /Ms\b|ms\b|seconds|perSecond|cpu/i.test(path)
  if (one === other || (isTime && change !== undefined && Math.abs(change) < noise)) {
    same += 1
    continue
  }
  const percent = change === undefined ? "" : `${change > 0 ? "+" : ""}${(100 * change).toFixed(1)} %`
  process.stdout.write(`${[path.slice(1), one ?? "none", other ?? "none", percent].join("\t")}\n`)
}
process.stdout.write(`${same} of ${paths.length} figures are the same, or differ by less than noise\n`)
