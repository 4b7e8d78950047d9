import { type ChildProcess, fork, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

/** A process of the bench: where it serves, and how to ask and to stop it. */
export type Served = {
  readonly url: string
  readonly child: ChildProcess
  readonly stop: () => Promise<void>
}

const here = dirname(fileURLToPath(import.meta.url))
/** Below the folder of the packages, so that theirs are found. */
const folder = join(here, "../node_modules/.cache/holdfast-bench")

/** The child as plain JavaScript, as it is published: so nobody's memory is that of a compiler. */
async function bundled(name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`)
  await build({
    entryPoints: [join(here, `${name}.ts`)],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile,
    logLevel: "warning",
  })
  return outfile
}

const started = new Map<string, Promise<string>>()

/** Start one of our own processes, and wait until it says where it serves. */
export async function startChild(
  name: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<Served> {
  const file = started.get(name) ?? bundled(name)
  started.set(name, file)
  const child = fork(await file, args, {
    execArgv: ["--expose-gc", ...execArgv],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.once("message", ({ url }: { readonly url: string }) => resolve(url))
  child.once("exit", (code) => reject(new Error(`${name} ended with ${code}`)))
  return { url: await promise, child, stop: () => stopped(child) }
}

/** Ask a process something, and wait for its answer. */
export function askChild<Answer>({ child }: Served, question: object): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const ended = (): void => reject(new Error("the process ended"))
  child.once("exit", ended)
  child.once("message", (answer: Answer) => {
    child.off("exit", ended)
    resolve(answer)
  })
  child.send(question)
  return promise
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once("exit", () => resolve())
  if (child.connected) child.disconnect()
  else child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000)
  await promise
  clearTimeout(timer)
}

async function freePort(): Promise<number> {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", resolve)
  await promise
  const address = server.address()
  server.close()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** The folder of a package that is installed here. */
export const packageFolder = (name: string): string => {
  const main = createRequire(import.meta.url).resolve.paths(name) ?? []
  const found = main.map((path) => join(path, name)).find((path) => readable(join(path, "package.json")))
  if (found === undefined) throw new Error(`${name} is not installed: npm install`)
  return found
}

function readable(file: string): boolean {
  try {
    readFileSync(file)
    return true
  } catch {
    return false
  }
}

/** Portkey's gateway as its package starts it, for production. */
export async function startPortkey(): Promise<Served> {
  const port = await freePort()
  const file = join(packageFolder("@portkey-ai/gateway"), "build/start-server.js")
  const env = { ...process.env, NODE_ENV: "production" }
  const child = spawn(process.execPath, [file, `--port=${port}`, "--headless"], { env, stdio: "ignore" })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) return { url, child, stop: () => stopped(child) }
    if (tries > 100) throw new Error("Portkey's gateway does not start")
    await sleep(100)
  }
}

/** Resident megabytes of a process; Linux only. */
export function residentMb({ child }: Served): number {
  try {
    return (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1024) / 1e6
  } catch {
    return Number.NaN
  }
}

/** Options of Node by which a child writes its CPU profile, where that is asked for. */
export const profiling: readonly string[] =
  process.env.HOLDFAST_BENCH_PROFILE === undefined
    ? []
    : ["--cpu-prof", `--cpu-prof-dir=${process.env.HOLDFAST_BENCH_PROFILE}`]
