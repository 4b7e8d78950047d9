import { type ChildProcessByStdio, spawn } from "node:child_process"
import { renameSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { type Order, readTold, type Told } from "./told.ts"

export type Worker = {
  readonly go: () => void
  /** Finish the turn that is under way, and close. */
  readonly end: () => void
  readonly kill: () => void
  readonly told: () => readonly Told[]
  /** Ends when it has told that much; fails if it ends before. */
  readonly until: (check: (told: readonly Told[]) => boolean) => Promise<void>
  /** How it ended: the signal, or the exit code. */
  readonly ended: Promise<string | number | null>
}

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** All of it in one file, and what Node makes of that kept: so a worker starts in a third of the time. Packages are found from there. */
const cache = at("../../node_modules/.cache/holdfast-workers")
const file = `${cache}/worker.mjs`
const own = `${cache}/${process.pid}.mjs`
await build({
  entryPoints: [at("worker.ts")],
  outfile: own,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
})
// Whole at once, because another test file may be starting workers from it.
renameSync(own, file)

/** How often what a worker told is looked at. */
const lookMs = 3

/** A worker that has everything loaded says `ready`, and begins when it is told to. */
export function startWorker(order: Order): Worker {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    ["--no-warnings", file, JSON.stringify(order)],
    { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, NODE_COMPILE_CACHE: cache } },
  )
  const told: Told[] = []
  let rest = ""
  let running = true
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n")
    rest = lines.pop() ?? ""
    told.push(...lines.flatMap(readTold))
  })
  // One that is gone cannot be told anything.
  child.stdin.on("error", () => {})
  const ended = new Promise<string | number | null>((resolve) => {
    child.on("close", (code, signal) => {
      running = false
      resolve(signal ?? code)
    })
  })
  return {
    go: () => void child.stdin.write("go\n"),
    end: () => void child.stdin.write("end\n"),
    kill: () => void child.kill("SIGKILL"),
    told: () => told,
    until: async (check) => {
      while (!check(told)) {
        if (!running) throw new Error(`${order.name} ended before its time: ${JSON.stringify(told.slice(-3))}`)
        await new Promise((resolve) => setTimeout(resolve, lookMs))
      }
    },
    ended,
  }
}
