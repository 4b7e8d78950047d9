import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, describe, expect, test } from "vitest"
import { type Around, holdfast } from "../../test/fixtures/cli/command-line.ts"
import { storeSessions } from "../../test/fixtures/mcp/stored-sessions.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { openStore } from "../store/open-store.ts"
import { commands } from "./run.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-policy-cli-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const nowMs = Date.UTC(2026, 10, 15, 12)

type Desk = {
  readonly inside: (...names: readonly string[]) => string
  readonly run: (argv: readonly string[], around?: Around) => ReturnType<typeof holdfast>
  /** Run what has to work. */
  readonly ask: (...argv: readonly string[]) => Promise<string>
}

let desks = 0
/** A folder with a store of its own, and the policy directory beside it. */
function openDesk(): Desk {
  desks += 1
  const root = join(folder, `${desks}`)
  mkdirSync(root, { mode: 0o755 })
  const inside = (...names: readonly string[]): string => join(root, ...names)
  let calls = 0
  const run: Desk["run"] = (argv, around = {}) => {
    calls += 1
    const dateMs = (): number => nowMs + calls
    return holdfast(argv, { dateMs, ...around, env: { HOLDFAST_DATA: inside("hf.db"), ...around.env } })
  }
  const ask = async (...argv: readonly string[]): Promise<string> => {
    const { exit, stdout, stderr } = await run(argv)
    expect({ argv, exit, stderr }).toEqual({ argv, exit: 0, stderr: "" })
    return stdout
  }
  return { inside, run, ask }
}

/** A desk at which a key is trusted. */
async function openTrusting(): Promise<Desk & { readonly key: string }> {
  const desk = openDesk()
  const key = desk.inside("operator.key")
  await desk.ask("keys", "new", key)
  await desk.ask("keys", "trust", desk.inside("operator.pub"))
  return { ...desk, key }
}

describe("a policy on trial", () => {
  const store = async (place: string): Promise<void> => {
    const opened = await openStore(place)
    const session = createHoldfast({ store: opened, format: "openai-chat" }).session("mails")
    const call = (to: string, id: string) => ({
      id,
      type: "function",
      function: { name: "send_email", arguments: JSON.stringify({ to, body: "hi" }) },
    })
    await session.append([
      { role: "user", content: "Write to both." },
      {
        role: "assistant",
        content: null,
        tool_calls: [call("ann@acme.example", "c1"), call("eve@evil.example", "c2")],
      },
      { role: "tool", tool_call_id: "c1", content: "sent" },
      { role: "tool", tool_call_id: "c2", content: "sent" },
      { role: "assistant", content: '<tool_call>{"name":"send_email","arguments":{"to":"contact-7"}}</tool_call>' },
    ])
    await opened.close()
  }

  test("is told with what it would have stopped in stored sessions, and changes nothing", async () => {
    const { inside, ask } = openDesk()
    await store(inside("hf.db"))
    const policy = inside("mail.json")
    writeFileSync(policy, JSON.stringify({ template: "email-domains", domains: ["acme.example"], mode: "observe" }))
    const said = await ask("policy", "try", policy, "--days", "3650")
    expect(said).toContain("3 calls in 1 session: 1 let through, 1 asked about, 1 denied.")
    expect(said).toContain("evil.example")
    const told = JSON.parse(await ask("policy", "try", policy, "--sessions", "mails", "--json"))
    expect(told).toMatchObject({ sessions: 1, calls: 3, denied: 1, asked: 1 })
    expect(told.stopped.map(({ tool, decision }: { tool: string; decision: string }) => [tool, decision])).toEqual([
      ["send_email", "deny"],
      ["send_email", "ask"],
    ])
    expect(await ask("policy")).toContain("No policy stands.")
  })

  test("has to be said, and has to be one", async () => {
    const { inside, run } = openDesk()
    await store(inside("hf.db"))
    expect((await run(["policy", "try"])).exit).toBe(2)
    writeFileSync(inside("bad.json"), JSON.stringify({ template: "no-such" }))
    expect((await run(["policy", "try", inside("bad.json")])).exit).toBe(1)
  })
})

describe("help", () => {
  test("each command has a page, in lines that fit a terminal", async () => {
    for (const name of ["policy", "keys", "pin", "unpin"]) {
      const loaded = await commands.get(name)?.()
      const inner = loaded !== undefined && "commands" in loaded ? [...loaded.commands.keys()] : []
      for (const argv of [[name], ...inner.map((command) => [name, command])]) {
        const { exit, stdout, stderr } = await holdfast([...argv, "--help"])
        expect({ argv, exit, stderr }).toEqual({ argv, exit: 0, stderr: "" })
        expect(stdout).toContain(`holdfast ${argv.slice(0, 1).join(" ")}`)
        expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(120)
      }
    }
  })
})

describe("keys", () => {
  test("a pair is made, the private half for its owner alone, and neither is ever written over", async () => {
    const { inside, run } = openDesk()
    const { stdout } = await run(["keys", "new", inside("a.key"), "--json"])
    const { fingerprint } = JSON.parse(stdout)
    expect(fingerprint).toMatch(/^[0-9a-f]{32}$/)
    const pem = readFileSync(inside("a.key"), "utf8")
    expect(stdout).not.toContain(pem.split("\n")[1])
    if (process.platform !== "win32") expect(statSync(inside("a.key")).mode & 0o777).toBe(0o600)
    const again = await run(["keys", "new", inside("a.key")])
    expect(again).toMatchObject({ exit: 1, stderr: expect.stringContaining("it is there already") })
    rmSync(inside("a.key"))
    expect(await run(["keys", "new", inside("a.key")])).toMatchObject({ exit: 1 })
    expect(existsSync(inside("a.key"))).toBe(false)
  })

  test("a key is trusted by copying it, once or twice, and listed", async () => {
    const { inside, ask, run } = openDesk()
    await ask("keys", "new", inside("a.key"))
    expect(await ask("keys", "trust", inside("a.pub"))).toContain(inside("policy", "keys", "a.pub"))
    await ask("keys", "trust", inside("a.pub"))
    expect(await ask("keys", "list")).toMatch(/[0-9a-f]{32} +trusted +keys\/a\.pub/)
    await ask("keys", "new", inside("b.key"))
    const { stdout } = await run(["keys", "list", "--json", "--policy", inside("policy")])
    expect(JSON.parse(stdout).keys).toMatchObject([{ state: "trusted", file: "keys/a.pub" }])
    writeFileSync(inside("c.pub"), readFileSync(inside("b.pub")))
    mkdirSync(inside("other"))
    writeFileSync(inside("other", "a.pub"), readFileSync(inside("b.pub")))
    expect(await run(["keys", "trust", inside("other", "a.pub")])).toMatchObject({ exit: 1 })
  })

  test("a private key is not trusted by mistake, and not quoted", async () => {
    const { inside, ask, run } = openDesk()
    await ask("keys", "new", inside("a.key"))
    const { exit, stderr } = await run(["keys", "trust", inside("a.key")])
    expect(exit).toBe(1)
    expect(stderr).toContain("this is a private one")
    expect(stderr).not.toContain(readFileSync(inside("a.key"), "utf8").split("\n")[1])
    expect(existsSync(inside("policy", "keys", "a.key.pub"))).toBe(false)
  })
})

describe("pin, unpin and policy", () => {
  test("a rule is pinned, shown with its id, taken back, and all of it is in the log", async () => {
    const { inside, ask, key } = await openTrusting()
    writeFileSync(inside("policy", "rules.md"), "- Never delete backups.\n", { mode: 0o644 })
    expect(await ask("policy")).toContain("Never delete backups.")
    const pinned = await ask("pin", "Never pay.", "--agent", "clerk", "--expires", "7d", "--key", key)
    expect(pinned).toContain("Pinned as c3, until 2026-11-22 12:00 (UTC).")
    expect(pinned).toContain("No gateway runs on this store: nothing of it is enforced until one is started.")
    const shown = await ask("policy")
    expect(shown).toMatch(/c3 +[0-9a-f]{32} +agent clerk +2026-11-22 12:00 +Never pay\./)
    expect(shown).toMatch(/rules\.md#1:[0-9a-f]{8} +rules\.md +all +never +Never delete backups\./)
    expect(await ask("unpin", "c3", "--key", key)).toBe("Taken back: c3.\n")
    expect(await ask("policy", "show")).not.toContain("Never pay.")
    const log = await ask("policy", "log")
    for (const words of ["begun, for", "1 rule in, 0 out", "pinned: Never pay.", "taken back: c3"])
      expect(log).toContain(words)
    expect(await ask("policy", "verify")).toMatch(/^Whole: 4 lines\. Head: 4:[0-9a-f]{64}\n$/)
  })

  test("policies are added from a file, shown in their words, and taken away", async () => {
    const { inside, ask, run, key } = await openTrusting()
    writeFileSync(inside("spend.json"), '{"template":"spend-limit","amount":100}')
    writeFileSync(inside("pay.cedar"), '@rule("No paying.") forbid(principal, action, resource);')
    await ask("policy", "add", "spending", inside("spend.json"), "--key", key)
    await ask("policy", "add", "paying", inside("pay.cedar"), "--key", key)
    const shown = await ask("policy")
    expect(shown).toMatch(/paying +paying +deny +No paying\./)
    expect(shown).toContain("No purchase or payment above 100 USD")
    await ask("policy", "remove", "paying", "--key", key)
    expect(await ask("policy")).not.toContain("No paying.")
    writeFileSync(inside("bad.cedar"), "\nforbid(")
    const bad = await run(["policy", "add", "bad", inside("bad.cedar"), "--key", key])
    expect(bad).toMatchObject({ exit: 1, stderr: expect.stringContaining("line 2") })
    writeFileSync(inside("bad.json"), '{"template":"be-nice"}')
    expect(await run(["policy", "add", "bad", inside("bad.json"), "--key", key])).toMatchObject({ exit: 1 })
  })

  test("a list of policies, as it is suggested, is added one by one, or not at all", async () => {
    const { inside, ask, run, key } = await openTrusting()
    const list = [
      { template: "spend-limit", amount: 100, from: "user in s e2", confidence: 0.95 },
      { template: "spend-limit", amount: 200, rule: "Two hundred at most.", mode: "observe" },
    ]
    writeFileSync(inside("list.json"), JSON.stringify(list))
    expect(await ask("policy", "add", "meant", inside("list.json"), "--key", key)).toContain("meant-1, meant-2")
    // One use of a template may be several policies.
    const named = async (): Promise<readonly string[]> => {
      const { policies } = JSON.parse(await ask("policy", "--json"))
      return [...new Set<string>(policies.map(({ id }: { id: string }) => id.replace(/\.\d+$/, "")))]
    }
    expect(await named()).toEqual(["meant-1", "meant-2"])
    await ask("policy", "remove", "meant-2", "--key", key)
    for (const wrong of [{ template: "be-nice" }, { template: "spend-limit", amount: "much" }, "forbid(", 7]) {
      writeFileSync(inside("wrong.json"), JSON.stringify([...list, wrong]))
      expect(await run(["policy", "add", "wrong", inside("wrong.json"), "--key", key])).toMatchObject({ exit: 1 })
    }
    writeFileSync(inside("none.json"), "[]")
    expect(await run(["policy", "add", "none", inside("none.json"), "--key", key])).toMatchObject({ exit: 1 })
    expect(await named()).toEqual(["meant-1"])
    const { stdout: signed } = await run(["policy", "add", "far", inside("list.json"), "--key", key, "--print"])
    expect(signed.trim().split("\n")).toHaveLength(2)
    expect((await run(["policy", "submit", "-"], { stdin: signed })).stdout).toMatch(
      /^Done, as c\d+\.\nDone, as c\d+\.\n/,
    )
    expect(await named()).toEqual(["meant-1", "far-1", "far-2"])
  })

  test("a command is signed far from the store, carried over, and counts once", async () => {
    const { inside, ask, run, key } = await openTrusting()
    await ask("pin", "First.", "--key", key)
    const { audience } = JSON.parse(await ask("policy", "--json"))
    const far = { HOLDFAST_DATA: inside("nowhere"), HOLDFAST_KEY: key }
    const unnamed = await run(["pin", "Far.", "--print"], { env: far })
    expect(unnamed).toMatchObject({ exit: 2, stderr: expect.stringContaining("--audience") })
    const { stdout: signed } = await run(["pin", "Far.", "--print", "--audience", audience], { env: far })
    expect(signed).toMatch(/^hf1\.[0-9a-f]{32}\.[\w-]+\.[\w-]{86}\n$/)
    expect(existsSync(inside("nowhere"))).toBe(false)
    expect(await run(["policy", "submit", "-"], { stdin: signed })).toMatchObject({
      exit: 0,
      stdout: "Pinned as c4.\n",
    })
    expect(await run(["policy", "submit"], { stdin: signed })).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("accepted already, as c4"),
    })
    const here = await ask("pin", "Here.", "--print", "--key", key)
    writeFileSync(inside("here.txt"), here)
    expect(await ask("policy", "submit", inside("here.txt"))).toContain("Pinned as")
  })

  test("what is wrong is said with the next step, for people and for programs", async () => {
    const { inside, ask, run, key } = await openTrusting()
    await ask("keys", "new", inside("stranger.key"))
    const cases: readonly (readonly [argv: readonly string[], exit: number, sentence: string, next: string])[] = [
      [["pin"], 2, "no rule to pin", "in quotes"],
      [["pin", "Ask."], 2, "with which key", "--key FILE"],
      [["pin", "Ask.", "--key", inside("none.key")], 1, "no file", "Check the name"],
      [["pin", "Ask.", "--key", key, "--expires", "soon"], 2, '"soon"', "7d"],
      [["pin", "Ask.", "--key", key, "--audience", "x"], 2, "--print", "store knows"],
      [["pin", "Ask.", "--key", inside("stranger.key")], 1, "key-unknown", `keys trust ${inside("stranger")}.pub`],
      [["pin", "Ask.", "--key", inside("operator.pub")], 1, "a private key of Ed25519", "keys new"],
      [["unpin"], 2, "which rule", "holdfast policy"],
      [["unpin", "c99", "--key", key], 1, "impossible", "what stands now"],
      [["policy", "remove", "--key", key], 2, "which policy", "holdfast policy"],
      [["policy", "lgo"], 2, "no command policy lgo", "Did you mean log?"],
      [["policy", "verify", "--head", "5"], 2, "--head", "a hash"],
      [["policy", "--policy", inside("nowhere")], 1, inside("nowhere"), "name the folder that has the policies"],
      [["policy", "--policy", ""], 2, "--policy", "folder"],
      [["keys", "trust"], 2, "which key", "operator.pub"],
    ]
    for (const [argv, exit, sentence, next] of cases) {
      const people = await run(argv)
      expect({ argv, exit: people.exit, stdout: people.stdout }).toEqual({ argv, exit, stdout: "" })
      expect(people.stderr).toContain(sentence)
      expect(people.stderr).toContain(next)
      const programs = await run([...argv, "--json"])
      expect(programs.exit).toBe(exit)
      expect(JSON.parse(programs.stdout).problem.next).toContain(next)
    }
  })

  test("a directory is checked with file and line, without a store", async () => {
    const { inside, run } = openDesk()
    mkdirSync(inside("policy"), { mode: 0o755 })
    writeFileSync(inside("policy", "a.md"), "# Mine\n\n- One.\n- Two.\n", { mode: 0o644 })
    const fine = await run(["policy", "check"])
    expect(fine).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("Nothing is wrong: 2 rules, 0 policies, 0 keys."),
    })
    writeFileSync(inside("policy", "b.cedar"), "\n\nforbid(", { mode: 0o644 })
    const { exit, stderr } = await run(["policy", "check", inside("policy")])
    expect(exit).toBe(1)
    expect(stderr).toContain("The policy b.cedar, line 3")
    expect(JSON.parse((await run(["policy", "check", "--json"])).stdout).problem).toMatchObject({
      code: "policy-invalid",
      policy: "b.cedar",
      line: 3,
    })
    expect(existsSync(inside("hf.db"))).toBe(false)
  })

  test("without a store or a directory nothing stands, and nothing is made by looking", async () => {
    const { inside, ask } = openDesk()
    expect(await ask("policy")).toContain("No rule of the operator stands.")
    expect(await ask("policy", "log")).toBe("The audit log is empty.\n")
    expect(await ask("policy", "verify")).toBe("The audit log is empty.\n")
    expect(existsSync(inside("hf.db"))).toBe(false)
  })

  test("a log that was tampered with is found, and one whose end was cut off by the head that was kept", async () => {
    const { inside, ask, run, key } = await openTrusting()
    await ask("pin", "One.", "--key", key)
    await ask("pin", "Two.", "--key", key)
    const { head } = JSON.parse(await ask("policy", "verify", "--json"))
    await ask("policy", "verify", "--head", head)
    const database = new DatabaseSync(inside("hf.db"))
    const last = database.prepare("SELECT max(seq) AS seq FROM entries").get()?.seq
    database.exec(`DELETE FROM entries WHERE seq = ${last}`)
    expect(await run(["policy", "verify"])).toMatchObject({ exit: 1, stderr: expect.stringContaining("missing") })
    database.exec(
      `UPDATE sessions SET head_seq = seq, head_hash = hash FROM (SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1)`,
    )
    database.close()
    expect((await run(["policy", "verify"])).exit).toBe(0)
    expect(await run(["policy", "verify", "--head", head])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("missing"),
    })
  })

  test.skipIf(process.platform === "win32")("a private key that others may read is not used", async () => {
    const { run, key } = await openTrusting()
    chmodSync(key, 0o640)
    expect(await run(["pin", "Ask.", "--key", key])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("chmod 600"),
    })
  })

  test("a key that is gone although it signed what stands is told by name, with what to do", async () => {
    const { inside, ask, run, key } = await openTrusting()
    await ask("pin", "Stays.", "--key", key)
    rmSync(inside("policy", "keys", "operator.pub"))
    const { exit, stderr } = await run(["policy"])
    expect(exit).toBe(1)
    expect(stderr).toMatch(/The key [0-9a-f]{32} .*keys\/retired/)
    expect(stderr).toContain("Put its .pub file")
  })

  test("what a rule says cannot act on a terminal", async () => {
    const { ask, key } = await openTrusting()
    await ask("pin", "Ask\u001b[2J \u202efirst.", "--key", key)
    for (const argv of [["policy"], ["policy", "log"], ["policy", "--json"]])
      expect(await ask(...argv)).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e]/u)
  })
})

describe("the audit log is no session", () => {
  test("no command of sessions lists, shows, exports, forks, deletes, prunes, imports over or verifies it", async () => {
    const { inside, ask, run, key } = await openTrusting()
    await storeSessions(inside("hf.db"))
    await ask("pin", "Stays.", "--key", key)
    const listed = JSON.parse(await ask("sessions", "list", "--json")).sessions
    expect(listed.map(({ id }: { readonly id: string }) => id).sort()).toEqual(["east", "north", "south"])
    for (const argv of [
      ["show", "operator log"],
      ["export", "operator log"],
      ["verify", "operator log"],
      ["undo", "operator log"],
      ["fork", "operator log", "mine"],
      ["fork", "north", "operator log"],
      ["delete", "operator log", "--yes"],
    ])
      expect({ argv, exit: (await run(["sessions", ...argv])).exit }).not.toMatchObject({ exit: 0 })
    const exported = await ask("sessions", "export", "north")
    for (const argv of [
      ["import", "-", "--as", "operator log"],
      ["import", "-"],
    ]) {
      const stdin = exported.replace('"session":"north"', '"session":"operator log"')
      expect((await run(["sessions", ...argv], { stdin })).exit).not.toBe(0)
    }
    const dateMs = (): number => Date.now() + 48 * 3_600_000
    expect(await run(["sessions", "prune", "--older-than", "1d", "--yes"], { dateMs })).toMatchObject({
      stdout: "Deleted: 3 sessions.\n",
    })
    expect((await run(["mcp", "--session", "operator log"])).exit).not.toBe(0)
    expect(await ask("policy")).toContain("Stays.")
    expect(await ask("policy", "verify")).toContain("Whole: 3 lines.")
  })
})
