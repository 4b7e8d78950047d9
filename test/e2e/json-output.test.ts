import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Command, isGroup } from "../../src/cli/command.ts"
import { commands } from "../../src/cli/run.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openStore } from "../../src/store/open-store.ts"
import { holdfast as runLine } from "../fixtures/cli/command-line.ts"
import { storeSessions } from "../fixtures/mcp/stored-sessions.ts"
import { main } from "../support/programs.ts"

/** Programs read what the terminal prints: with `--json` that is JSON and nothing else, whatever happens. */
const folder = mkdtempSync(join(tmpdir(), "holdfast-json-"))
const data = join(folder, "data")
const key = join(folder, "operator.key")
const request = join(folder, "request.json")
const cedar = join(folder, "night.cedar")
const config = join(folder, "stack.yaml")
const saved = join(folder, "saved.json")
const signed = join(folder, "signed.txt")
const remembered = join(folder, "remembered.db")
const encrypted = { HOLDFAST_DATA: join(folder, "encrypted.db"), HOLDFAST_STORE_KEY: randomBytes(32).toString("hex") }
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
  await storeSessions(remembered)
  writeFileSync(config, "stack:\n  - sections:\n      - { layer: base, name: identity, text: You are Ada. }\n")
  writeFileSync(join(folder, "next.key"), randomBytes(32).toString("hex"))
  writeFileSync(join(folder, "systemctl"), "#!/bin/sh\nexit 0\n")
  chmodSync(join(folder, "systemctl"), 0o755)
  writeFileSync(cedar, 'forbid(principal, action, resource == Holdfast::Tool::"sail");\n')
  writeFileSync(request, JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: words }] }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const holdfast = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runLine(argv, {
    env: { HOME: folder, HOLDFAST_DATA: data, PATH: `${folder}:${process.env.PATH}`, ...env },
    dateMs: Date.now,
  })

/** Every command by its words, those of groups included. */
async function leaves(): Promise<ReadonlyMap<string, Command>> {
  const found = new Map<string, Command>()
  for (const [name, load] of commands) {
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

/** What a command needs that another one printed. */
const printed = async (argv: readonly string[], field: string): Promise<string> =>
  String(JSON.parse((await holdfast([...argv, "--json"])).stdout)[field])

type Line = readonly (string | (() => Promise<string>))[]

const done: readonly Line[] = [
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
  [
    "policy",
    "submit",
    async () => {
      writeFileSync(signed, await printed(["pin", "Never sail at night.", "--key", key, "--print"], "signed"))
      return signed
    },
  ],
  ["unpin", () => printed(["pin", "Never sail in fog.", "--key", key], "rule"), "--key", key],
  ["memory", "day", "2026-11-15", "--agent", "harbour", "--data", remembered],
  ["stack", "show", "--config", config],
  [
    "stack",
    "diff",
    async () => {
      writeFileSync(saved, (await holdfast(["stack", "show", "--config", config, "--json"])).stdout)
      return saved
    },
    "--config",
    config,
  ],
  ["stack", "check", "--config", config],
  ["demo"],
  ["service", "install", "--data", join(folder, "served")],
  ["policy", "remove", "night", "--key", key],
  ["sessions", "undo", "voyage"],
  ["sessions", "delete", "other", "--yes"],
  ["erase", "--tenant", "nobody", "--yes"],
  ["service", "status"],
  ["service", "remove"],
  ["doctor", "--offline"],
]

const nameOf = (argv: Line): string =>
  argv
    .filter((word) => typeof word === "string")
    .slice(0, 2)
    .join(" ")

/** `sessions export` prints a session as lines, each of them an object. */
const objectsIn = (stdout: string): readonly unknown[] => {
  const values: readonly unknown[] = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  for (const value of values) expect(Object.prototype.toString.call(value)).toBe("[object Object]")
  return values
}

test.each(done.map((argv) => [nameOf(argv), argv] as const))("%s prints JSON alone", async (name, line) => {
  const argv = await Promise.all(line.map((word) => (typeof word === "string" ? word : word())))
  const { exit, stdout, stderr } = await holdfast([...argv, "--json"])
  expect([exit, stderr, stdout.slice(0, 300)]).toEqual([0, "", expect.any(String)])
  const values = objectsIn(stdout)
  expect(values.some((value) => Object.hasOwn(Object(value), "problem"))).toBe(false)
  if (name !== "sessions export") expect(values).toHaveLength(1)
})

test("keys store prints JSON alone, and the store opens with the new key", async () => {
  const store = await holdfast(["sessions", "import", join(folder, "berths.jsonl"), "--json"], encrypted)
  expect([store.exit, store.stderr]).toEqual([0, ""])
  const next = join(folder, "next.key")
  const { exit, stdout, stderr } = await holdfast(["keys", "store", "--new-key-file", next, "--json"], encrypted)
  expect([exit, stderr, objectsIn(stdout)]).toEqual([0, "", [{ changed: true }]])
  const old = await holdfast(["sessions", "list", "--json"], encrypted)
  expect([old.exit, Object.keys(JSON.parse(old.stdout))]).toEqual([1, ["problem"]])
  const withNext = { ...encrypted, HOLDFAST_STORE_KEY: readFileSync(next, "utf8") }
  expect((await holdfast(["sessions", "list", "--json"], withNext)).exit).toBe(0)
})

test("serve, open and tail print JSON alone, from the first line to the last", async () => {
  const place = join(folder, "live")
  const env = { PATH: process.env.PATH ?? "", HOME: folder, HOLDFAST_DATA: place }
  const started = (...argv: readonly string[]) => {
    const child = spawn(process.execPath, [main, ...argv, "--json"], { env, stdio: ["ignore", "pipe", "pipe"] })
    const [out, err]: [string[], string[]] = [[], []]
    const lines = createInterface({ input: child.stdout })
    lines.on("line", (line) => out.push(line))
    child.stderr.on("data", (text) => err.push(String(text)))
    return { child, out, err, lines }
  }
  const serve = started("serve", "--port", "0", "--upstream", "http://127.0.0.1:9")
  await once(serve.lines, "line")
  const open = await holdfast(["open", "--json"], { HOLDFAST_DATA: place })
  expect([open.exit, open.stderr, objectsIn(open.stdout)]).toEqual([
    0,
    "",
    [{ link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/inspector#code=/) }],
  ])
  const tail = started("tail")
  const url = new URL(JSON.parse(open.stdout).link).origin
  const heard = once(tail.lines, "line")
  // Nobody answers there: the exchange fails, and is an event all the same.
  const asking = setInterval(() => {
    const body = JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hello." }] })
    void fetch(`${url}/v1/messages`, { method: "POST", body, headers: { "x-api-key": "k" } }).catch(() => {})
  }, 300)
  await heard
  clearInterval(asking)
  for (const { child, out, err } of [tail, serve]) {
    child.kill("SIGINT")
    const [code] = await once(child, "exit")
    expect([code, err.join("")]).toEqual([0, ""])
    expect(objectsIn(out.join("\n")).length).toBeGreaterThan(0)
  }
})

test("no command is forgotten here", async () => {
  const tried = new Set([...done.map(nameOf), "keys store", "serve", "open", "tail"])
  const left = [...(await leaves()).keys()].filter(
    (name) => !withoutJson.includes(name) && ![...tried].some((one) => one === name || one.startsWith(`${name} `)),
  )
  expect(left).toEqual([])
})

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
