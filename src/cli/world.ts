import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { Sink } from "./terminal/output.ts"

/** Everything outside the program that a command may use, except files. */
export type World = {
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdinIsTerminal: boolean
  readonly stdout: Sink
  readonly stderr: Sink
  /** A monotonic clock, for durations. */
  readonly nowMs: () => number
  /** The date, in milliseconds since 1970. */
  readonly dateMs: () => number
  readonly env: Readonly<Record<string, string | undefined>>
  /** Show where a fault of our own happened. */
  readonly debug: boolean
}

export function openWorld({ stdin, stdout, stderr, env }: NodeJS.Process): World {
  return {
    stdin,
    stdinIsTerminal: stdin.isTTY === true,
    stdout: openSink(stdout),
    stderr: openSink(stderr),
    nowMs: () => performance.now(),
    dateMs: Date.now,
    env,
    debug: (env.HOLDFAST_DEBUG ?? "") !== "",
  }
}

function openSink(stream: NodeJS.WriteStream): Sink {
  let gone = false
  stream.on("error", () => {
    gone = true
  })
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        if (gone || text === "") return resolve()
        stream.write(text, (error) => (isFailure(error) ? reject(error) : resolve()))
      }),
    isTerminal: stream.isTTY === true,
    hasColour: stream.isTTY === true && stream.hasColors(),
    // Some terminals report 0 columns if they do not know.
    ...(stream.isTTY === true && stream.columns > 0 ? { columns: stream.columns } : {}),
  }
}

/** True for errors except a closed pipe: `head` closes it when it has enough. */
const isFailure = (error: Error | null | undefined): boolean =>
  error !== null && error !== undefined && !("code" in error && error.code === "EPIPE")

/** The version in `package.json`, which is two folders above this file, built or not. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8")
  const { version: found }: { readonly version: string } = JSON.parse(text)
  return found
}

/** The folder with the built pages of the inspector. */
export const inspectorFolder = (): string => fileURLToPath(new URL("../../dist/inspector", import.meta.url))

/** Aborts at the first SIGINT or SIGTERM, so that the program ends cleanly; a second one ends the process as usual. */
export type StopSignal = { readonly signal: AbortSignal; readonly release: () => void }

const wishes = ["SIGINT", "SIGTERM"] as const

export function stopSignal(): StopSignal {
  const controller = new AbortController()
  const release = (): void => {
    for (const wish of wishes) process.off(wish, stop)
  }
  const stop = (): void => {
    release()
    controller.abort()
  }
  for (const wish of wishes) process.on(wish, stop)
  return { signal: controller.signal, release }
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort")
}
