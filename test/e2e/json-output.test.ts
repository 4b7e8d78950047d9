import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Command, isGroup } from "../../src/cli/command.ts"
import { commands, run } from "../../src/cli/run.ts"
import type { Sink } from "../../src/cli/terminal/output.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openStore } from "../../src/store/open-store.ts"

/** Programs read what the terminal prints: with `--json` that is JSON and nothing else, whatever happens. */
const folder = mkdtempSync(join(tmpdir(), "holdfast-json-"))
const data = join(folder, "data")
const key = join(folder, "operator.key")
const request = join(folder, "request.json")
const cedar = join(folder, "night.cedar")
const words = "Never delete a branch. Which berths are free?"

beforeAll(async () => {
  mkdirSync(join(data, "policy/keys"), { recursive: true, mode: 0o700 })
  writeFileSync(join(data, "policy/house.md"), "- Never sail in a storm.\n", { mode: 0o600 })
  const store = await openStore(join(data, "holdfast.db"))
  const holdfast = createHoldfast({ store, format: "openai-chat", windowTokens: 6000 })
  const session = holdfast.session("berths")
  await session.append([
    { role: "user", content: words },
    { role: "assistant", content: "Berth 7 is free." },
  ])
  await session.pin("Never leave a rope on the quay.")
  const voyage = holdfast.session("voyage")
  for (let n = 0; n < 40; n++)
    await voyage.append([
      { role: n % 2 === 0 ? "user" : "assistant", content: `Leg ${n}: ${"the wind turns. ".repeat(60)}` },
    ])
  await voyage.prepare({ model: "gpt-5" })
  await holdfast.close()
  await store.close()
  writeFileSync(cedar, 'forbid(principal, action, resource == Holdfast::Tool::"sail");\n')
  writeFileSync(request, JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: words }] }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sink = (): Sink & { readonly said: () => string } => {
  const texts: string[] = []
  return {
    write: async (text) => void texts.push(text),
    isTerminal: false,
    hasColour: false,
    said: () => texts.join(""),
  }
}

async function holdfast(argv: readonly string[]) {
  const [stdout, stderr] = [sink(), sink()]
  const none = async function* (): AsyncGenerator<Uint8Array> {}
  const exit = await run(argv, {
    ...{ stdin: none(), stdinIsTerminal: false, stdout, stderr, nowMs: () => performance.now(), dateMs: Date.now },
    ...{ env: { HOME: folder, HOLDFAST_DATA: data }, debug: false },
  })
  return { exit, stdout: stdout.said(), stderr: stderr.said() }
}

/** Every command by its words, those of groups included. */
async function leaves(): Promise<ReadonlyMap<string, Command>> {
  const found = new Map<string, Command>()
  for (const [name, { load }] of commands) {
    const loaded = await load()
    if (!isGroup(loaded)) found.set(name, loaded)
    else for (const [inner, command] of loaded.commands) found.set(`${name} ${inner}`, command)
  }
  return found
}

/** What they print is a script, or the protocol of somebody else. */
const withoutJson = ["wrap", "mcp", "completion"]

test("every command takes --json, but those whose output is not theirs to choose", async () => {
  const without = [...(await leaves())].filter(([, { options }]) => !Object.hasOwn(options, "json"))
  expect(without.map(([name]) => name)).toEqual(withoutJson)
})

test("a wrong option is one JSON object with the nearest right one, and exit code 2, for every command", async () => {
  for (const [name, { options }] of await leaves()) {
    if (withoutJson.includes(name)) continue
    const [known = "json"] = Object.keys(options).filter((option) => option.length > 4)
    const { exit, stdout, stderr } = await holdfast([...name.split(" "), `--${known}x`, "--json"])
    const { problem } = JSON.parse(stdout)
    expect([name, exit, stderr, problem.code]).toEqual([name, 2, "", "usage-invalid"])
    expect([name, problem.next]).toEqual([name, expect.stringContaining(`--${known}`)])
  }
})

const done: readonly (readonly string[])[] = [
  ["compact", request, "--budget", "2000"],
  ["status"],
  ["replay", request],
  ["sessions", "list"],
  ["sessions", "show", "@last"],
  ["sessions", "show", "@last", "--log"],
  ["sessions", "export", "berths"],
  ["sessions", "export", "berths", "--out", join(folder, "berths.jsonl")],
  ["sessions", "import", join(folder, "berths.jsonl"), "--as", "again"],
  ["sessions", "verify"],
  ["sessions", "fork", "berths", "other"],
  ["sessions", "prune", "--older-than", "30d"],
  ["sessions", "vacuum"],
  ["rules", "list", "berths"],
  ["rules", "why", "berths", "rope"],
  ["rules", "add", "berths", "Never moor at berth 9."],
  ["rules", "demote", "berths", "berth 9"],
  ["rules", "remove", "berths", "berth 9"],
  ["search", "berth"],
  ["recall", "berths", "e2"],
  ["memory", "search", "berth"],
  ["memory", "days"],
  ["policy", "show"],
  ["policy", "check"],
  ["policy", "suggest", "berths"],
  ["policy", "log"],
  ["policy", "verify"],
  ["keys", "new", key],
  ["keys", "trust", key.replace(".key", ".pub")],
  ["keys", "list"],
  ["pin", "Never sail alone.", "--key", key],
  ["policy", "add", "night", cedar, "--key", key],
  ["policy", "try", cedar],
  ["policy", "remove", "night", "--key", key],
  ["sessions", "undo", "voyage"],
  ["sessions", "delete", "other", "--yes"],
  ["erase", "--tenant", "nobody", "--yes"],
  ["service", "status"],
  ["doctor", "--offline"],
]

test.each(done.map((argv) => [argv.slice(0, 2).join(" "), argv] as const))(
  "%s prints JSON alone",
  async (_name, argv) => {
    const { exit, stdout, stderr } = await holdfast([...argv, "--json"])
    const lines = stdout.trimEnd().split("\n")
    const read = (): readonly unknown[] => lines.map((line) => JSON.parse(line))
    expect([stderr, read().every((value) => typeof value === "object")]).toEqual(["", true])
    expect([exit, stdout.slice(0, 300)]).toEqual([0, expect.any(String)])
  },
)

const failing: readonly (readonly string[])[] = [
  ["sessions", "show", "nosuch"],
  ["sessions", "export", "nosuch"],
  ["sessions", "undo", "berths"],
  ["rules", "why", "berths", "nothing like it"],
  ["recall", "berths", "e999"],
  ["compact", join(folder, "reqest.json")],
  ["replay", join(folder, "reqest.json")],
  ["memory", "day", "2026-11-15"],
  ["stack", "show"],
  ["stack", "check"],
  ["policy", "check", join(folder, "nosuch")],
  ["policy", "submit", join(folder, "nosuch")],
  ["unpin", "nosuch", "--key", join(folder, "nosuch.key")],
  ["open", "--print"],
  ["tail"],
]

test.each(failing.map((argv) => [argv.slice(0, 2).join(" "), argv] as const))(
  "%s that cannot be done says why and what next, as JSON",
  async (_name, argv) => {
    const { exit, stdout, stderr } = await holdfast([...argv, "--json"])
    const { problem } = JSON.parse(stdout)
    expect([exit > 0, stderr]).toEqual([true, ""])
    expect(problem).toEqual(
      expect.objectContaining({ code: expect.any(String), sentence: expect.stringMatching(/\w/) }),
    )
    expect(problem.next).toMatch(/\w/)
    const told = await holdfast(argv)
    expect([told.exit, told.stdout]).toEqual([exit, ""])
    expect(told.stderr).toContain("holdfast: ")
  },
)
