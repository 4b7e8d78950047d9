import { spawnSync } from "node:child_process"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { createServer as createHttp, type Server as HttpServer } from "node:http"
import { type AddressInfo, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeEach, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { openSqliteStore } from "../store/sqlite-store.ts"
import {
  type Check,
  checkClock,
  checkGateways,
  checkNode,
  checkOperator,
  checkPackages,
  checkPort,
  checkStore,
  checkUpstream,
  diskCheck,
  doctorCommand,
} from "./doctor-command.ts"
import { commandHelp } from "./run.ts"
import { askEnforced, enforcedLines, noteGateway } from "./running-gateway.ts"

const root = await mkdtemp(join(tmpdir(), "holdfast-doctor-"))
let [folder, n] = ["", 0]
const servers: (Server | HttpServer)[] = []
beforeEach(async () => {
  folder = join(root, String(n++))
  await mkdir(folder)
})
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done))
})
afterAll(() => rm(root, { recursive: true }))

/** A server on a free port of this machine. */
async function listening(server: Server | HttpServer): Promise<number> {
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const address: AddressInfo | string | null = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** A port at which nobody listens. */
async function closedPort(): Promise<number> {
  const port = await listening(createServer())
  await new Promise((done) => servers.pop()?.close(done))
  return port
}

const doctor = (argv: readonly string[], env: Record<string, string> = {}) =>
  holdfast(["doctor", ...argv], { env, dateMs: () => Date.UTC(2026, 10, 15) })

const stateOf = ({ name, state }: Check): string => `${name}: ${state}`

test("a machine on which all is well: each thing with its state, and the exit code is 0", async () => {
  const port = await listening(createServer())
  await writeFile(join(folder, "claude"), "", { mode: 0o755 })
  const argv = ["--data", folder, "--port", "0", "--upstream", `http://127.0.0.1:${port}`]
  const { exit, stdout, stderr } = await doctor(argv, { PATH: folder })
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  for (const line of [
    "ok    node: Node.js",
    "ok    config: none",
    "ok    store: ",
    "ok    operator: ",
    "ok    port: ",
    `ok    upstream upstream: 127.0.0.1:${port} answers`,
    "ok    client claude: ANTHROPIC_BASE_URL=http://127.0.0.1:4141 claude",
    "Nothing stands in the way",
  ])
    expect(stdout).toContain(line)
  const json = JSON.parse((await doctor([...argv, "--json"], { PATH: folder })).stdout)
  expect(json).toMatchObject({
    ok: true,
    checks: expect.arrayContaining([{ name: "config", state: "ok", says: "none; the usual values hold" }]),
  })
})

test("what fails is told with what to do, and the exit code is 1", async () => {
  const port = await closedPort()
  const argv = ["--data", folder, "--port", "0", "--upstream", `http://127.0.0.1:${port}`]
  const { exit, stdout, stderr } = await doctor(argv)
  expect(exit).toBe(1)
  expect(stdout).toContain(
    `fail  upstream upstream: 127.0.0.1:${port}: no connection (ECONNREFUSED)\n      Check the address`,
  )
  expect(stdout).toContain("warn  clients: none of claude")
  expect(stderr).toContain("1 thing stands in the way; 1 warning.")
  expect((await doctor([...argv, "--offline"])).exit).toBe(0)
  const json = await doctor([...argv, "--json"])
  expect(JSON.parse(json.stdout)).toMatchObject({
    problem: { code: "doctor-failed", checks: expect.arrayContaining([expect.objectContaining({ state: "fail" })]) },
  })
})

test("every fault of a configuration is a thing that fails, and no secret is shown", async () => {
  await writeFile(join(folder, "c.yaml"), "listen:\n  token: hunter2\nrecall: 7\n")
  const { exit, stdout, stderr } = await doctor(["--config", join(folder, "c.yaml")])
  expect(exit).toBe(1)
  expect(stdout.match(/fail {2}config: /g)).toHaveLength(2)
  expect(`${stdout}${stderr}`).not.toContain("hunter2")
})

test("a port is free, another program's, or a holdfast's", async () => {
  const port = await closedPort()
  expect(await checkPort("127.0.0.1", port)).toMatchObject({ state: "ok", says: `127.0.0.1:${port} is free` })
  const other = await listening(createHttp((_request, response) => void response.end("hello")))
  expect(await checkPort("127.0.0.1", other)).toMatchObject({
    state: "fail",
    says: `127.0.0.1:${other} is in use by another program`,
  })
  const own = await listening(
    createHttp((_request, response) => void response.end('{"status":"ok","version":"1.2.3"}')),
  )
  expect(await checkPort("127.0.0.1", own)).toMatchObject({
    state: "ok",
    says: `a holdfast 1.2.3 answers at 127.0.0.1:${own} already`,
  })
  expect(await checkPort("203.0.113.7", 4141)).toMatchObject({
    state: "fail",
    says: expect.stringContaining("EADDRNOTAVAIL"),
  })
})

test("an upstream that takes no connection in time, or none by TLS, fails if it was named and is a warning if not", async () => {
  const silent = await listening(createServer((socket) => void socket.resume()))
  const baseUrl = `https://127.0.0.1:${silent}`
  expect(await checkUpstream({ name: "a", baseUrl }, true, 50)).toMatchObject({
    state: "fail",
    says: `127.0.0.1:${silent}: no connection within 50 ms`,
  })
  expect(await checkUpstream({ name: "a", baseUrl }, false, 50)).toMatchObject({ state: "warn" })
  const plain = await listening(createServer((socket) => void socket.resume().end("no TLS here")))
  expect(await checkUpstream({ name: "a", baseUrl: `https://127.0.0.1:${plain}` }, true)).toMatchObject({
    state: "fail",
    says: expect.stringContaining("no connection ("),
  })
})

test("a store is read if it is there, and not made if it is not", async () => {
  const place = join(folder, "holdfast.db")
  expect((await checkStore(place)).checks.map(stateOf)[0]).toBe("store: ok")
  await expect(checkStore(place)).resolves.toMatchObject({
    checks: [{ says: expect.stringContaining("is not there yet") }, {}],
  })
  const store = await openSqliteStore({ path: place })
  await store.append("s", { after: 0, entries: [{ seq: 1, hash: "h", type: "t", atMs: 5, body: "{}" }] })
  await store.close()
  const read = await checkStore(place)
  expect(read.checks[0]).toMatchObject({ state: "ok", says: expect.stringContaining("can be read and written") })
  expect(read.newestMs).toBeTypeOf("number")
  await writeFile(place, "this is no database, whatever its name says".repeat(200))
  expect((await checkStore(place)).checks[0]).toMatchObject({ name: "store", state: "fail" })
})

test("a store on a full disk cannot be written", async ({ onTestFinished }) => {
  // A small disk of its own where one may be made; elsewhere one that says that it is full.
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]).status === 0
  if (isMounted) onTestFinished(() => void spawnSync("umount", ["-l", folder]))
  const place = join(folder, "holdfast.db")
  const store = await openSqliteStore({ path: place })
  await store.append("s", { after: 0, entries: [{ seq: 1, hash: "h", type: "t", atMs: 5, body: "{}" }] })
  await store.close()
  const full = isMounted ? undefined : () => Promise.resolve("there is no room left (ENOSPC)")
  if (isMounted) await writeFile(join(folder, "filler"), Buffer.alloc(4 * 1024 ** 2)).catch(() => {})
  const { checks } = await checkStore(place, {}, full)
  expect(checks[0]).toMatchObject({
    name: "store",
    state: "fail",
    says: expect.stringContaining("cannot be written: there is no room left (ENOSPC)"),
  })
  expect((await readdir(folder)).filter((name) => name.includes("doctor"))).toEqual([])
})

test("a gateway that has ended without a word is gone, and not one that says nothing", async () => {
  const place = join(folder, "holdfast.db")
  const closed = createServer()
  const port = await listening(closed)
  await new Promise((done) => servers.splice(0)[0]?.close(done))
  const note = { url: `http://127.0.0.1:${port}`, pid: process.pid, startedMs: 1, version: "0" }
  const forget = noteGateway(place, note)
  expect(await checkGateways(place)).toEqual([
    {
      name: "gateway",
      state: "warn",
      says: expect.stringContaining("is gone"),
      next: expect.stringContaining("Start it"),
    },
  ])
  expect(enforcedLines(place, await askEnforced(place), { rules: [], policies: [] })[0]).toContain("is gone")
  forget()
  const other = await listening(createHttp((_request, response) => response.writeHead(403).end()))
  const again = noteGateway(place, { ...note, url: `http://127.0.0.1:${other}` })
  expect(await checkGateways(place)).toMatchObject([{ says: expect.stringContaining("does not say what it enforces") }])
  again()
})

test.each([
  [10 * 1024 ** 3, "ok", "10.0 GB free"],
  [500 * 1024 ** 2, "warn", "500 MB free"],
  [10 * 1024 ** 2, "fail", "10 MB free"],
])("a disk with %i bytes left: %s", (bytes, state, says) => {
  expect(diskCheck(bytes, "")).toMatchObject({ state, says })
})

test("the operator's directory is read as a start would read it", async () => {
  const policy = join(folder, "policy")
  const now = (): number => 0
  expect(await checkOperator(undefined, policy, now)).toMatchObject({
    state: "ok",
    says: expect.stringContaining("no policy directory"),
  })
  expect(await checkOperator(policy, policy, now)).toMatchObject({ state: "fail" })
  await mkdir(policy, { mode: 0o700 })
  await writeFile(join(policy, "a.md"), "- Never delete a backup.\n", { mode: 0o600 })
  expect(await checkOperator(undefined, policy, now)).toMatchObject({ state: "ok", says: "1 rule, 0 policies, 0 keys" })
})

test.each([
  ["20.9.0", "fail"],
  ["22.5.0", "fail"],
  ["22.13.0", "warn"],
  ["22.18.0", "ok"],
  ["24.1.0", "ok"],
])("Node.js %s: %s", (version, state) => {
  expect(checkNode(version).state).toBe(state)
})

test.each([
  [Date.UTC(2026, 10, 15), undefined, "ok"],
  [Date.UTC(2026, 10, 15), Date.UTC(2026, 10, 16), "warn"],
  [0, undefined, "fail"],
  [Number.NaN, undefined, "fail"],
])("a clock that says %d beside a store of %s: %s", (nowMs, newestMs, state) => {
  expect(checkClock(nowMs, newestMs).state).toBe(state)
})

test("a missing package fails only where the configuration needs it", () => {
  const without = (gone: string) => (name: string) => name !== gone
  expect(checkPackages({ postgres: false, telemetry: false }, without("pg")).map(stateOf)).toEqual(["packages: ok"])
  expect(checkPackages({ postgres: true, telemetry: false }, without("pg"))).toEqual([
    {
      name: "package pg",
      state: "fail",
      says: "not installed, and needed for a store in PostgreSQL",
      next: "npm install pg",
    },
  ])
  expect(checkPackages({ postgres: true, telemetry: true })).toEqual([
    { name: "packages", state: "ok", says: "all optional ones are installed" },
  ])
})

test("help says how to write it, in lines that fit a terminal", () => {
  const help = commandHelp("doctor", doctorCommand)
  expect(help).toContain("--offline")
  expect(Math.max(...help.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(120)
})
