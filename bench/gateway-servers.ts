import { type ChildProcess, fork, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

/** A process of the bench: its URL, and how to query and stop it. */
export type BenchProcess = {
  readonly url: string
  readonly child: ChildProcess
  readonly stop: () => Promise<void>
}

const here = dirname(fileURLToPath(import.meta.url))
/** Inside the folder of the packages, so that imports of them resolve. */
const folder = join(here, "../node_modules/.cache/holdfast-bench")

/** Bundles a child to plain JavaScript, as it is published, so that no process's memory includes a compiler. */
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

/** Starts one of our own processes, and waits until it reports its URL. */
export async function startChild(
  name: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<BenchProcess> {
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

/** Sends a process a question, and waits for its answer. */
export function askChild<Answer>({ child }: BenchProcess, question: object): Promise<Answer> {
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

/** Returns the folder of an installed package. */
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

/** Starts Portkey's gateway as its package starts it for production. */
export async function startPortkey(): Promise<BenchProcess> {
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
export function residentMb({ child }: BenchProcess): number {
  try {
    return (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1024) / 1e6
  } catch {
    return Number.NaN
  }
}

/** Node options that make a child write its CPU profile, if requested. */
export const profiling: readonly string[] =
  process.env.HOLDFAST_BENCH_PROFILE === undefined
    ? []
    : ["--cpu-prof", `--cpu-prof-dir=${process.env.HOLDFAST_BENCH_PROFILE}`]
