import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { bundleProgram } from "../support/programs.ts"

export type Replica = {
  readonly url: string
  readonly faults: readonly string[]
  readonly kill: () => Promise<void>
  readonly close: () => Promise<void>
}

const file = await bundleProgram(new URL("replica-process.ts", import.meta.url))

/** Starts a replica, and resolves once it serves. */
export async function startReplica(storeUrl: string, upstreamUrl: string, spendLimit?: number): Promise<Replica> {
  const limit = spendLimit === undefined ? [] : [String(spendLimit)]
  const child = fork(file, [storeUrl, upstreamUrl, ...limit], { execArgv: ["--no-warnings"] })
  const faults: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.on("message", (told: unknown) => {
    if (typeof told !== "object" || told === null) return
    if ("port" in told) resolve(Number(told.port))
    if ("fault" in told) faults.push(String(told.fault))
  })
  child.once("exit", () => reject(new Error("the replica ended before it began")))
  const port = await promise
  return { url: `http://127.0.0.1:${port}`, faults, kill: () => end(child, "kill"), close: () => end(child, "close") }
}

async function end(child: ChildProcess, how: "kill" | "close"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  if (how === "kill") child.kill("SIGKILL")
  else child.send("close")
  await ended
}
