import { type ChildProcess, spawn } from "node:child_process"
import { main } from "./programs.ts"

/** Returns the environment of a program that must see no configuration but the given one. */
const plainEnv = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? "",
  HOME: folder,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
})

/** User for programs that must not run as root, to whom nothing is forbidden. */
export const nobody: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs a command of the real program in a folder until it ends. */
export async function runHoldfast(folder: string, argv: readonly string[], user: typeof nobody = {}): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...argv], { cwd: folder, env: plainEnv(folder), ...user })
  const said = { stdout: "", stderr: "" }
  child.stdout.on("data", (data: Buffer) => (said.stdout += data))
  child.stderr.on("data", (data: Buffer) => (said.stderr += data))
  const code = await new Promise<number | null>((done) => child.on("close", done))
  return { code, ...said }
}

export type ServeProcess = {
  /** URL on which it listens; empty if it ended instead. */
  readonly url: string
  readonly pid: number
  readonly said: () => string
  readonly hasEnded: () => boolean
  /** Stops it as a user would, and waits for that. */
  readonly stop: () => Promise<void>
}

/**
 * Starts the real `holdfast serve` in a folder, and waits until it listens or ends; runs this project's program unless `program` is given.
 */
export async function startServe(
  folder: string,
  argv: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  { user = {}, program = main }: { readonly user?: typeof nobody; readonly program?: string } = {},
): Promise<ServeProcess> {
  const child: ChildProcess = spawn(process.execPath, [program, "serve", "--port", "0", ...argv], {
    cwd: folder,
    env: { ...plainEnv(folder), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
  })
  let said = ""
  const { promise, resolve: settle } = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (data: Buffer) => {
      said += data.toString()
      const url = /listens at (http:\/\/[\w.:]+\d)/.exec(said)?.[1]
      if (url !== undefined) settle(url)
    })
  const ended = new Promise<void>((done) => child.on("close", () => done()))
  const url = await Promise.race([promise, ended.then(() => "")])
  return {
    url,
    pid: child.pid ?? 0,
    said: () => said,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stop: async () => {
      child.kill("SIGINT")
      await ended
    },
  }
}
