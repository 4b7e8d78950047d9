import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { bundleProgram } from "../support/programs.ts"
import { type Order, readTold, type WorkerReport } from "./told.ts"

export type Worker = {
  readonly go: () => void
  /** Finishes the current turn, and closes. */
  readonly end: () => void
  readonly kill: () => void
  readonly told: () => readonly WorkerReport[]
  /** Resolves when the check passes on what it has reported; rejects if it ends before. */
  readonly until: (check: (told: readonly WorkerReport[]) => boolean) => Promise<void>
  /** How it ended: the signal, or the exit code. */
  readonly ended: Promise<string | number | null>
}

const file = await bundleProgram(new URL("worker.ts", import.meta.url))

/** Interval at which the reports of a worker are checked. */
const pollMs = 3

/** Starts a worker; once everything is loaded it reports `ready`, and begins when it is told to. */
export function startWorker(order: Order): Worker {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    ["--no-warnings", file, JSON.stringify(order)],
    { stdio: ["pipe", "pipe", "inherit"] },
  )
  const told: WorkerReport[] = []
  let rest = ""
  let running = true
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n")
    rest = lines.pop() ?? ""
    told.push(...lines.flatMap(readTold))
  })
  // Writing to a process that has ended fails.
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
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    },
    ended,
  }
}
