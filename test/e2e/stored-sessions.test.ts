import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { afterAll, expect, test } from "vitest"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openStore } from "../../src/store/open-store.ts"
import { holdfast as runLine } from "../fixtures/cli/command-line.ts"
import { storeSessions } from "../fixtures/mcp/stored-sessions.ts"
import { main } from "../support/programs.ts"
import { root } from "../support/source.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-stored-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const data = join(folder, "s.db")
const handles = await storeSessions(data)

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

async function holdfast(...args: readonly string[]): Promise<Ended> {
  const { exit, ...said } = await runLine([...args, "--data", data], { dateMs: Date.now })
  return { code: exit, ...said }
}

/** The program as built, until it ends. */
async function holdfastProcess(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args, "--data", data], { stdio: ["ignore", "pipe", "pipe"] })
  const said = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => (said.stdout += chunk))
  child.stderr.on("data", (chunk) => (said.stderr += chunk))
  const code = await new Promise<number | null>((done) => child.on("close", done))
  return { code, ...said }
}

/** Another process that writes to one session of the same file, message after message, until it is told to stop. */
function startWriter(): {
  readonly child: ChildProcess
  readonly begun: Promise<void>
  readonly ended: Promise<number | null>
} {
  const code = `
    const { createHoldfast } = await import(${JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href)})
    const holdfast = createHoldfast({ store: ${JSON.stringify(data)}, agent: "busy" })
    let going = true
    process.stdin.on("end", () => { going = false }).resume()
    for (let n = 0; going; n++) {
      const { durable } = await holdfast.session("busy").append([{ role: n % 2 ? "assistant" : "user", content: n + " words ".repeat(400) }])
      if (!durable) process.exitCode = 3
      if (n === 5) process.stdout.write("begun")
      await new Promise((done) => setTimeout(done, 1))
    }
    await holdfast.close()`
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", code])
  const begun = new Promise<void>((done) => child.stdout.once("data", () => done()))
  const ended = new Promise<number | null>((done) => child.on("close", done))
  return { child, begun, ended }
}

const entriesOf = async (session: string): Promise<number> => {
  const { stdout } = await holdfast("sessions", "show", session, "--json")
  return JSON.parse(stdout).overview.entries
}

test("while another process writes, everything can be read, and what is written is written beside it", async () => {
  const { child, begun, ended } = startWriter()
  await begun
  const before = await entriesOf("busy")
  for (const args of [
    ["list"],
    ["show", "busy", "--log"],
    ["export", "busy"],
    ["verify"],
    ["undo", "south"],
    ["fork", "busy", "twin"],
  ])
    expect([args, await holdfast("sessions", ...args)]).toMatchObject([args, { code: 0, stderr: "" }])
  expect(await holdfastProcess("sessions", "verify", "busy")).toMatchObject({ code: 0, stderr: "" })
  expect(await entriesOf("busy")).toBeGreaterThan(before)
  child.stdin?.end()
  expect(await ended).toBe(0)
  const { code, stdout } = await holdfast("sessions", "verify", "--json")
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, sessions: 5, damaged: [] })
})

async function ask(client: Client): Promise<void> {
  const handle = handles.get("north")
  const recalled = await client.callTool({ name: "recall", arguments: { handle, toLine: 2 } })
  expect(JSON.stringify(recalled.content)).toContain("Quay 1 of north")
  const other = await client.callTool({ name: "recall", arguments: { handle: handles.get("east") } })
  expect(other.isError).toBe(true)
  const found = await client.callTool({ name: "search_memory", arguments: { text: "quay" } })
  expect(JSON.stringify(found.structuredContent)).not.toMatch(/of (south|east)/)
  const [trace] = (await client.listResources()).resources
  const { contents } = await client.readResource({ uri: trace?.uri ?? "" })
  expect(contents).toMatchObject([{ text: expect.stringContaining("messages-dropped") }])
}

test("while another program holds the file locked for writing, a session is listed, shown, exported and served", async () => {
  const other = new DatabaseSync(data)
  other.exec("BEGIN IMMEDIATE")
  for (const args of [["list"], ["show", "north"], ["export", "north"], ["verify", "north"]])
    expect([args, await holdfast("sessions", ...args)]).toMatchObject([args, { code: 0, stderr: "" }])
  const refused = await holdfastProcess("sessions", "delete", "north", "--yes")
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("locked by another program") })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, "mcp", "--session", "north", "--data", data],
  })
  const client = new Client({ name: "test", version: "1" })
  await client.connect(transport)
  await ask(client)
  await client.close()
  other.exec("ROLLBACK")
  other.close()
})

test("the official client is served over HTTP by the program as built, until that is told to end", async () => {
  const child = spawn(process.execPath, [main, "mcp", "--session", "north", "--data", data, "--http", "0"])
  const url = await new Promise<string>((done) => {
    child.stderr.on("data", (chunk) => {
      const found = /http:\S+\/mcp/.exec(String(chunk))?.[0]
      if (found !== undefined) done(found)
    })
  })
  const ended = new Promise((done) => child.on("close", done))
  try {
    const client = new Client({ name: "test", version: "1" })
    const transport = new StreamableHTTPClientTransport(new URL(url))
    await client.connect(transport)
    await ask(client)
    await client.close()
  } finally {
    child.kill("SIGTERM")
  }
  expect(await ended).toBe(0)
})

test("an import that is interrupted leaves nothing of it behind", async () => {
  const store = await openStore(data)
  const messages = Array.from({ length: 150 }, (_, n) => ({ role: "user", content: `Number ${n}.` }))
  await createHoldfast({ store }).session("long").append(messages)
  const lines = (await holdfast("sessions", "export", "long")).stdout.split("\n")
  const child = spawn(process.execPath, [main, "sessions", "import", "-", "--as", "half", "--data", data])
  let said = ""
  child.stderr.on("data", (chunk) => (said += chunk))
  const ended = new Promise((done) => child.on("close", done))
  child.stdin.write(`${lines.slice(0, 140).join("\n")}\n`)
  while ((await store.session("half")) === undefined) await new Promise((done) => setTimeout(done, 20))
  child.kill("SIGINT")
  expect(await ended).toBe(1)
  expect(said).toContain("interrupted; nothing of it is left")
  expect(await store.session("half")).toBeUndefined()
  await store.close()
})
