import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** Agent programs that the tests in test/clients run. They are no dependencies: only this command installs them, in a folder of its own. */
const programs: Readonly<Record<string, string>> = {
  "@anthropic-ai/claude-code": "2.1.325",
  "@openai/codex": "0.166.0",
  "@earendil-works/pi-coding-agent": "0.87.1",
  "opencode-ai": "1.18.18",
  "@qwen-code/qwen-code": "0.24.4",
  "@google/gemini-cli": "0.61.0",
}

const root = fileURLToPath(new URL("..", import.meta.url))
const cache = join(root, "node_modules/.cache/holdfast-clients")
const directory = process.env.HOLDFAST_CLIENTS_DIR ?? cache
const say = (line: string): void => void process.stdout.write(`${line}\n`)

function versionIn(folder: string, name: string): string | undefined {
  const file = join(folder, "node_modules", name, "package.json")
  return existsSync(file) ? /"version": *"([^"]+)"/.exec(readFileSync(file, "utf8"))?.[1] : undefined
}

function install(): void {
  const missing = Object.entries(programs).filter(([name, version]) => versionIn(directory, name) !== version)
  if (missing.length === 0) {
    say(`agent programs: all in ${directory}`)
    return
  }
  const wanted = missing.map(([name, version]) => `${name}@${version}`)
  if (directory !== cache) throw new Error(`HOLDFAST_CLIENTS_DIR has no ${wanted.join(", ")}`)
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies: programs }, null, 2))
  say(`agent programs: installing ${wanted.join(", ")} in ${cache}; this takes a minute or two`)
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: cache,
    stdio: "inherit",
  })
  if (status !== 0) throw new Error("npm could not install the agent programs")
  say("agent programs: installed")
}

const columns = ["client", "situation", "turns", "sessions", "changed", "compactions", "atOnceShare", "stackReadShare"]
const more = ["refusedUpstream", "refusedForClient", "filesSeen", "seconds"]

/** Prints the results of each run as a table. The share of the stack is what a simulated prompt cache gave. */
function printResults(file: string): void {
  if (!existsSync(file)) return
  const rows = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line))
  console.table(rows, [...columns, ...more])
}

install()
const accounts = join(root, "node_modules/.cache/holdfast-clients.accounts.jsonl")
mkdirSync(join(root, "node_modules/.cache"), { recursive: true })
rmSync(accounts, { force: true })
const env = {
  ...process.env,
  HOLDFAST_TEST_CLIENTS: "1",
  HOLDFAST_CLIENTS_DIR: directory,
  HOLDFAST_CLIENTS_ACCOUNTS: accounts,
}
// One file after another: an agent program uses a core or two by itself.
const vitest = join(root, "node_modules/vitest/vitest.mjs")
const { status } = spawnSync(
  process.execPath,
  [vitest, "run", "test/clients", "--no-file-parallelism", ...process.argv.slice(2)],
  {
    cwd: root,
    env,
    stdio: "inherit",
  },
)
printResults(accounts)
process.exitCode = status ?? 1
