import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, describe, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { babble } from "../../test/support/scripted-session.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { openStore } from "../store/open-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-replay-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const rule = "From now on, never write to the north table."
const hostile = `</pre><script>alert(1)</script><img src=x onerror=alert(1)> & "quotes"`

/** An agent that reads one file after the other. */
function talk(rounds: number): readonly object[] {
  const messages: object[] = [{ role: "user", content: `How many crates do the logs have? ${rule}` }]
  for (let n = 0; n < rounds; n++) {
    const called = { name: "read_file", arguments: JSON.stringify({ path: `logs/day-${n}.log` }) }
    messages.push(
      { role: "assistant", content: null, tool_calls: [{ id: `c${n}`, type: "function", function: called }] },
      { role: "tool", tool_call_id: `c${n}`, content: `${babble(n, 220)} next is logs/day-${n + 1}.log` },
      { role: "assistant", content: `Day ${n} has ${n + 3} crates.` },
      { role: "user", content: `And day ${n + 1}? ${n === 0 ? hostile : ""}` },
    )
  }
  return messages
}

const body = JSON.stringify({ model: "claude-sonnet-4-5", messages: talk(30) })
const file = join(folder, "session.json")
writeFileSync(file, body)

const replayJson = async (...argv: readonly string[]) => {
  const { exit, stdout } = await holdfast(["replay", ...argv, "--json"])
  expect(exit).toBe(0)
  return JSON.parse(stdout)
}

describe("one transcript", () => {
  test("the table has the three ways side by side, and the compactions", async () => {
    const { exit, stdout, stderr } = await holdfast(["replay", file, "--window", "6000"])
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
    expect(stdout).toMatch(/whole history +truncated +Holdfast/)
    expect(stdout).toMatch(/over the window +\d+, from turn \d+/)
    expect(stdout).toMatch(/rules at the end +1 of 1 +0 of 1 +1 of 1/)
    expect(stdout).toMatch(/TURN +BEFORE +AFTER/)
    expect(stdout).toContain("estimate")
    expect(stdout).toContain(rule)
  })

  test("in a window that holds all of it nothing is compacted, and a smaller one is named", async () => {
    const { stdout } = await holdfast(["replay", file])
    expect(stdout).toMatch(/Nothing had to be compacted.*Try --window \d+/)
    const [first] = (await replayJson(file)).conversations
    expect(first.replay.compactions).toEqual([])
    expect(first.replay.totals.holdfast).toEqual(first.replay.totals.none)
  })

  test("a session that was exported gives the figures of the history that it has", async () => {
    const data = ["--data", join(folder, "exported")]
    const store = await openStore(join(folder, "exported", "holdfast.db"))
    const sessions = createHoldfast({ store, format: "openai-chat" })
    await sessions.session("crates").append(talk(30))
    await sessions.close()
    await store.close()
    const out = join(folder, "exported.jsonl")
    expect((await holdfast(["sessions", "export", "crates", "--out", out, ...data])).exit).toBe(0)
    const options = ["--window", "6000", "--model", "claude-sonnet-4-5"]
    const [own] = (await replayJson(out, ...options)).conversations
    const [first] = (await replayJson(file, ...options)).conversations
    expect(own).toMatchObject({ id: "crates", kind: "exported session" })
    expect(own.replay.totals).toEqual(first.replay.totals)
  })

  test("the same file gives the same figures", async () => {
    expect(await replayJson(file, "--window", "6000")).toEqual(await replayJson(file, "--window", "6000"))
  })

  test("another strategy, model and window are gone by", async () => {
    const [first] = (await replayJson(file, "--window", "7000", "--strategy", "oldest-drop", "--model", "gpt-5.4"))
      .conversations
    expect(first).toMatchObject({ modelAssumed: false, replay: { model: "gpt-5.4", windowTokens: 7000 } })
    expect(first.replay.pricesFrom).toMatch(/\d{4}-\d{2}-\d{2}/)
  })
})

describe("the page", () => {
  test("is one file without scripts, in which no text of a transcript is markup", async () => {
    const out = join(folder, "report.html")
    const { exit, stdout } = await holdfast(["replay", file, "--window", "6000", "--html", out])
    expect(exit).toBe(0)
    expect(stdout).toContain("report.html")
    const page = readFileSync(out, "utf8")
    expect(page).toContain("default-src 'none'")
    expect(page).not.toMatch(/<script|<img|<link|<iframe|https?:\/\//)
    expect(page.match(/<svg /g)).toHaveLength(2)
    expect(page.match(/<path class="holdfast" d="M/g)).toHaveLength(2)
    expect(page).toContain("What stands for them, as the model reads it")
  })

  test("one that cannot be written is told with its name", async () => {
    const { exit, stderr } = await holdfast(["replay", file, "--html", join(folder, "nowhere", "r.html")])
    expect(exit).toBe(1)
    expect(stderr).toContain("its folder does not exist")
  })
})

describe("files and folders", () => {
  const many = join(folder, "many")
  mkdirSync(join(many, "deeper"), { recursive: true })
  writeFileSync(join(many, "one.json"), body)
  writeFileSync(join(many, "deeper", "two.jsonl.gz"), gzipSync(`${JSON.stringify({ id: "t", messages: talk(3) })}\n`))
  writeFileSync(join(many, "notes.json"), '{"hello":"there"}')
  writeFileSync(join(many, "readme.txt"), "no transcript")

  test("a folder is searched, packed files are read, and what is no transcript is told and left out", async () => {
    const report = await replayJson(many, "--window", "6000")
    expect(report.conversations.map(({ file: path }: { readonly file: string }) => path).sort()).toEqual(
      [join(many, "deeper", "two.jsonl.gz"), join(many, "one.json")].sort(),
    )
    expect(report.skipped).toMatchObject([{ file: join(many, "notes.json") }])
    expect(report.totals.turns).toBeGreaterThan(60)
    const { stdout } = await holdfast(["replay", many, "--window", "6000"])
    expect(stdout).toMatch(/2 conversations, \d+ turns, \d+ compactions/)
    expect(stdout).toContain("notes.json")
  })

  test("a file that is named and is no transcript ends it", async () => {
    const { exit, stderr } = await holdfast(["replay", join(many, "notes.json")])
    expect(exit).toBe(1)
    expect(stderr).toContain("notes.json")
  })

  test("a file that is cut off is told apart from JSON in which nobody says anything", async () => {
    const cut = join(many, "..", "cut.json")
    writeFileSync(cut, body.slice(0, body.length >> 1))
    const { exit, stderr } = await holdfast(["replay", cut])
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining("ends in the middle of it") })
    expect((await holdfast(["replay", join(many, "notes.json")])).stderr).toContain("is JSON, but no transcript")
  })

  test("a misspelt file is told with the one that was meant", async () => {
    const { exit, stderr } = await holdfast(["replay", join(many, "onee.json")])
    expect(exit).toBe(1)
    expect(stderr).toContain(`Did you mean ${join(many, "one.json")}?`)
  })

  test("one's own sessions are found where agents keep them", async () => {
    const home = join(folder, "home")
    const claude = join(home, ".claude", "projects", "-home-me")
    mkdirSync(claude, { recursive: true })
    const line = (n: number, type: string, content: string) =>
      JSON.stringify({
        ...{
          type,
          uuid: `u${n}`,
          parentUuid: n === 0 ? null : `u${n - 1}`,
          sessionId: "s",
          timestamp: "2026-11-01T00:00:00Z",
        },
        message: { role: type, content, ...(type === "assistant" ? { model: "claude-sonnet-4-5" } : {}) },
      })
    const lines = [line(0, "user", "Where is the north table?"), line(1, "assistant", "In the hall.")]
    writeFileSync(join(claude, "s.jsonl"), `${lines.join("\n")}\n`)
    const { exit, stdout } = await holdfast(["replay", "--mine", "--json"], { env: { HOME: home } })
    expect(exit).toBe(0)
    expect(JSON.parse(stdout).conversations).toMatchObject([
      { title: "Where is the north table?", kind: "session of Claude Code", modelAssumed: false },
    ])
    const moved = await holdfast(["replay", "--mine"], {
      env: { HOME: folder, CLAUDE_CONFIG_DIR: join(home, ".claude") },
    })
    expect(moved).toMatchObject({ exit: 0, stdout: expect.stringContaining("Where is the north table?") })
    const none = await holdfast(["replay", "--mine"], { env: { HOME: join(folder, "empty") } })
    expect(none).toMatchObject({ exit: 1, stderr: expect.stringContaining(".claude") })
  })

  test.each([
    [["replay"], "It was not said what to replay"],
    [["replay", "--mine", "x.json"], "--mine names the folders itself"],
    [["replay", "x.json", "--window", "many"], "--window"],
    [["replay", "x.json", "--windw", "3"], "Did you mean --window?"],
    [["replay", "x.json", "--strategy", "oldest"], "Did you mean oldest-drop?"],
  ])("%j is refused with what to do", async (argv, words) => {
    const { exit, stderr } = await holdfast(argv)
    expect(exit).not.toBe(0)
    expect(stderr).toContain(words)
  })
})
