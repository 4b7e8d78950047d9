import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { bundleProgram } from "../support/programs.ts"
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

const file = await bundleProgram(new URL("worker.ts", import.meta.url))

/** How often what a worker told is looked at. */
const lookMs = 3

/** A worker that has everything loaded says `ready`, and begins when it is told to. */
export function startWorker(order: Order): Worker {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    ["--no-warnings", file, JSON.stringify(order)],
    { stdio: ["pipe", "pipe", "inherit"] },
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
