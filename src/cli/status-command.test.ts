import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { type ModelServer, startModelServer } from "../../test/model-server/model-server.ts"
import { main } from "../../test/support/programs.ts"
import { type ServeProcess, startServe } from "../../test/support/serve-process.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { tallyLogs } from "./log-tally.ts"
import { commands } from "./run.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-status-"))
const data = join(folder, "data")
let model: ModelServer
let serve: ServeProcess
beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "In the hall." }) })
  serve = await startServe(folder, ["--data", data, "--upstream", model.url, "--window", "6000"])
}, 60_000)
afterAll(async () => {
  await serve.stop()
  await model.close()
  rmSync(folder, { recursive: true, force: true })
})

async function ask(turns: number): Promise<void> {
  const messages: object[] = []
  for (let n = 0; n < turns; n++) {
    const words =
      n === 0 ? "From now on, never write to the north table." : "blue crates stand in the hall. ".repeat(90)
    messages.push({ role: "user", content: `${words} Turn ${n}` })
    const answer = await fetch(`${serve.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "k", "x-holdfast-session": "crates" },
      body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 50, messages }),
    })
    expect(answer.status).toBe(200)
    const body: unknown = await answer.json()
    messages.push({ role: "assistant", content: Object(body).content })
  }
}

describe("a gateway that runs", { timeout: 120_000 }, () => {
  test("tail prints a line for each call and compaction, and status has it all on one screen", async () => {
    const child = spawn(process.execPath, [main, "tail", "--data", data], { stdio: ["ignore", "pipe", "pipe"] })
    let [said, told] = ["", ""]
    child.stdout.on("data", (bytes: Buffer) => (said += bytes))
    child.stderr.on("data", (bytes: Buffer) => (told += bytes))
    for (let n = 0; n < 400 && !told.includes("following"); n++) await new Promise((done) => setTimeout(done, 50))
    await ask(12)
    for (let n = 0; n < 100 && !(said.match(/200 claude/g)?.length === 12); n++)
      await new Promise((done) => setTimeout(done, 50))
    child.kill("SIGINT")
    expect(await new Promise((done) => child.on("close", done))).toBe(0)
    expect(said.match(/200 claude-sonnet-4-5, /g)).toHaveLength(12)
    expect(said).toMatch(/crates +compacted [\d,]+ -> [\d,]+ tokens/)
    expect(said).toMatch(/1 rule found and pinned/)
    const { exit, stdout } = await holdfast(["status", "--data", data], { dateMs: Date.now })
    expect(exit).toBe(0)
    expect(stdout).toContain(`Gateway    ${serve.url} since `)
    expect(stdout).toMatch(/Sessions +1, 1 written to today/)
    expect(stdout).toMatch(/Today +12 model calls, [1-9]\d* compactions?, about [\d,]+ tokens/)
    expect(stdout).toContain("Degraded   no")
    expect(stdout).toContain("From now on, never write to the")
    const json = JSON.parse((await holdfast(["status", "--data", data, "--json"], { dateMs: Date.now })).stdout)
    expect(json).toMatchObject({
      running: true,
      sessions: 1,
      tally: { calls: 12, rules: 1, denied: 0 },
    })
    // One number for one thing: what tail printed of a compaction is what the session's own screen says.
    const shown = (await holdfast(["sessions", "show", "@last", "--data", data])).stdout
    const sizes = [...said.matchAll(/compacted ([\d,]+ -> [\d,]+) tokens/g)].map(([, pair = ""]) => pair)
    expect(sizes.length).toBe(json.tally.compactions)
    for (const pair of sizes) expect(shown).toContain(pair)
  })
})

describe("nothing runs", () => {
  test("status says so and how to start; tail has nothing to follow", async () => {
    const empty = join(folder, "empty")
    const { exit, stdout } = await holdfast(["status", "--data", empty])
    expect(exit).toBe(0)
    expect(stdout).toContain("none runs on this store")
    expect(await holdfast(["tail", "--data", empty])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("No gateway serves"),
    })
  })
})

test("what compactions took out counts for every later call, until it is undone", async () => {
  const logs = createMemoryStore()
  const store = createHoldfast({
    store: logs,
    format: "openai-chat",
    model: "gpt-5",
    windowTokens: 3000,
    reserveTokens: 100,
  })
  const session = store.session("s")
  const answer = { role: "assistant", content: "Yes." }
  const turn = async (n: number): Promise<void> => {
    await session.append([{ role: "user", content: `${"blue crates stand in the hall. ".repeat(60)} ${n}` }])
    const { receipt } = await session.prepare()
    await session.record({
      choices: [{ index: 0, finish_reason: "stop", message: answer }],
      usage: { prompt_tokens: receipt.contextTokens, completion_tokens: 1 },
    })
  }
  for (let n = 0; n < 10; n++) await turn(n)
  const { checkpoints } = await session.overview()
  expect(checkpoints.length).toBeGreaterThan(0)
  const rows = await logs.sessions()
  const tallied = (several: typeof rows, sinceMs: number) => tallyLogs(logs, several, store.storedRules, sinceMs)
  const tally = await tallied(rows, 0)
  expect(tally).toMatchObject({ calls: 10, compactions: checkpoints.length })
  const least = checkpoints.reduce((sum, { beforeTokens, afterTokens }) => sum + beforeTokens - afterTokens, 0)
  expect(tally.savedTokens).toBeGreaterThanOrEqual(least)
  expect(await tallied(rows, Date.now() + 1000)).toMatchObject({ calls: 0, compactions: 0, savedTokens: 0 })
  expect((await tallied([...rows, ...rows], 0)).savedTokens).toBe(2 * tally.savedTokens)
  await store.close()
})

test("the demo by itself keeps its promises and leaves nothing behind", { timeout: 120_000 }, async () => {
  const place = mkdtempSync(join(folder, "demo-"))
  const { status, stdout } = spawnSync(process.execPath, [main, "demo", "--json"], { cwd: place, encoding: "utf8" })
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ asPromised: true })
  expect(spawnSync("ls", ["-A", place], { encoding: "utf8" }).stdout).toBe("")
})

describe("completion", () => {
  /** What bash offers for a line. */
  async function offered(...words: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await holdfast(["completion", "bash"])
    const script = join(folder, "complete.sh")
    writeFileSync(script, stdout)
    const list = `holdfast() { echo '{"sessions":[{"id":"t.berths","name":"berths"},{"id":"t.berths-2","name":"berths-2"}]}'; }`
    const line = `source ${script}; ${list}; COMP_WORDS=(holdfast ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout: said, stderr } = spawnSync("bash", ["--norc", "-c", line], { encoding: "utf8" })
    expect(stderr).toBe("")
    return said.split("\n").filter((word) => word !== "")
  }

  test.each<[words: readonly string[], expected: readonly string[]]>([
    [["re"], ["replay", "recall"]],
    [["sessions", "ex"], ["export"]],
    [["sessions", "show", "--comp"], ["--compaction"]],
    [["replay", "--str"], ["--strategy"]],
    [["replay", "--strategy", "oldest"], ["oldest-drop"]],
    [["wrap", "cl"], ["claude"]],
    [["completion", "f"], ["fish"]],
    [["replay", "some"], []],
    [
      ["sessions", "show", "be"],
      ["berths", "berths-2"],
    ],
    [["recall", "@"], ["@last"]],
    [["rules", "why", "berths-"], ["berths-2"]],
    [["sessions", "import", "be"], []],
  ])("%j", async (words, expected) => {
    expect(await offered(...words)).toEqual(expected)
  })

  test("every command is in every script, and a shell that is not known is told", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { exit, stdout } = await holdfast(["completion", shell])
      expect(exit).toBe(0)
      for (const name of commands.keys()) expect(stdout).toContain(name)
    }
    expect(await holdfast(["completion", "csh"])).toMatchObject({ exit: 2 })
  })
})
