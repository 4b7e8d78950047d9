import { type ChildProcess, execFile, spawn } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { afterEach, expect, test } from "vitest"
import { root, sourceHash } from "../../scripts/source-hash.ts"
import { asTyped } from "../../src/cli/command.ts"

/** What `npm start` runs. */
const script = resolve(import.meta.dirname, "../../scripts/start.ts")
const built = resolve(import.meta.dirname, "../../dist")

const running: ChildProcess[] = []
const folders: string[] = []
afterEach(async () => {
  for (const child of running.splice(0)) child.kill("SIGKILL")
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

type Started = { readonly said: string; readonly exit?: number | null }

/** Runs until it listens or ends. */
async function start(argv: readonly string[], env: Record<string, string> = {}): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-start-"))
  folders.push(folder)
  const child = spawn(process.execPath, [script, ...argv], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOLDFAST_DATA: folder,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
  })
  running.push(child)
  const { promise, resolve: settle } = Promise.withResolvers<Started>()
  let said = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => {
      said += data.toString()
      if (/listens at/.test(said)) settle({ said })
    })
  }
  child.on("close", (exit) => settle({ said, exit }))
  return await promise
}

const portOf = ({ said }: Started): number => Number(/listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1])

async function takePort(): Promise<{ readonly port: number; readonly release: () => Promise<void> }> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { port, release: () => new Promise((done) => server.close(() => done())) }
}

test("npm start takes the options of serve", { timeout: 60_000 }, async () => {
  const free = await takePort()
  await free.release()
  expect(portOf(await start(["--port", String(free.port)]))).toBe(free.port)
})

test("where the port is in use, what npm start then says works", { timeout: 120_000 }, async () => {
  const taken = await takePort()
  const refused = await start([], { HOLDFAST_PORT: String(taken.port) })
  expect(refused).toMatchObject({ exit: 1, said: expect.stringContaining(`${taken.port}, which is in use`) })
  const [, options = ""] = /npm start -- ([^)\n]+)\)/.exec(refused.said) ?? []
  const [, variable = ""] = /(HOLDFAST_\w+)=N/.exec(refused.said) ?? []
  const free = await takePort()
  await free.release()
  const n = String(free.port)
  const byOption = await start(options.replace("N", n).split(" "), {
    HOLDFAST_PORT: String(taken.port),
  })
  expect(portOf(byOption)).toBe(free.port)
  for (const child of running.splice(0)) child.kill("SIGKILL")
  await new Promise((done) => setTimeout(done, 300))
  expect(portOf(await start([], { [variable]: n }))).toBe(free.port)
  await taken.release()
})

test("npm start passes other commands on", { timeout: 60_000 }, async () => {
  const { exit, said } = await start(["sessions", "list"])
  expect({ exit, said }).toEqual({ exit: 1, said: expect.stringContaining("There is no store yet") })
})

test("texts name the command that works where the program was started", () => {
  const text = "holdfast demo: see holdfast open, or holdfast sessions show @last; holdfast itself is fine"
  const typed = (call: string) =>
    `holdfast demo: see ${call} open, or ${call} sessions show @last; holdfast itself is fine`
  expect(asTyped(text, { npm_lifecycle_event: "start", npm_package_name: "holdfast" })).toBe(typed("npm start --"))
  expect(asTyped(text, { npm_command: "exec", npm_lifecycle_script: "'holdfast' 'open'" })).toBe(typed("npx holdfast"))
  for (const env of [
    {},
    { npm_lifecycle_event: "start", npm_package_name: "mine" },
    { npm_lifecycle_event: "npx" },
    { npm_command: "exec", npm_lifecycle_script: "vitest run" },
  ])
    expect(asTyped(text, env)).toBe(text)
})

test("npm start builds nothing where nothing has changed", { timeout: 120_000 }, async () => {
  await start(["--version"])
  const { ino } = await stat(built)
  expect(await start(["--version"])).toEqual({ exit: 0, said: expect.stringMatching(/^holdfast \d/) })
  expect((await stat(built)).ino).toBe(ino)
})

test("the fast checks begin with a build, which does nothing where nothing has changed", {
  timeout: 120_000,
}, async () => {
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"))
  // Examples and tests import the package by its name: without dist their types cannot be checked.
  expect(scripts.check).toMatch(/^node scripts\/build\.ts --if-changed && /)
  await start(["--version"])
  const { ino } = await stat(built)
  await promisify(execFile)(process.execPath, [join(root, "scripts/build.ts"), "--if-changed"])
  expect((await stat(built)).ino).toBe(ino)
})

test("a build is asked for by what it is made from, and by nothing else", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-hash-"))
  folders.push(folder)
  await mkdir(join(folder, "src/room"), { recursive: true })
  await mkdir(join(folder, "scripts"))
  const scripts = ["scripts/build.ts", "scripts/lazy-patterns.ts", "scripts/source-hash.ts"]
  const names = ["package.json", "tsconfig.json", "tsconfig.build.json", ...scripts]
  const sources = ["src/index.ts", "src/room/one.ts"]
  for (const name of [...names, ...sources]) await writeFile(join(folder, name), name)
  const first = sourceHash(folder)
  await utimes(join(folder, "src/index.ts"), 1, 1)
  await writeFile(join(folder, "src/room/one.test.ts"), "a test")
  await writeFile(join(folder, "README.md"), "words")
  expect(sourceHash(folder)).toBe(first)
  const seen = new Set([first])
  for (const name of [...names, ...sources, "src/room/new.ts"]) {
    await writeFile(join(folder, name), "changed")
    seen.add(sourceHash(folder))
  }
  await rm(join(folder, "src/room/new.ts"))
  expect(seen.size).toBe(names.length + sources.length + 2)
  expect(seen.has(sourceHash(folder))).toBe(true)
})
