import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, describe, expect, test } from "vitest"
import { type Around, holdfast } from "../../test/fixtures/cli/command-line.ts"
import { storeSessions, talkOf, writtenMs } from "../../test/fixtures/mcp/stored-sessions.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { openStore } from "../store/open-store.ts"
import { commands } from "./run.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-sessions-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const filled = join(folder, "filled.db")
await storeSessions(filled)

let copies = 0
/** A store with the sessions north, south and east that a test may change. */
function copyOfStore(): string {
  copies += 1
  const path = join(folder, `copy-${copies}.db`)
  copyFileSync(filled, path)
  return path
}

const sessions = (argv: readonly string[], data = filled, around: Around = {}) =>
  holdfast(["sessions", ...argv, "--data", data], around)

const idsIn = async (data: string): Promise<readonly string[]> => {
  const { stdout } = await sessions(["list", "--json"], data)
  return JSON.parse(stdout).sessions.map(({ id }: { readonly id: string }) => id)
}

/** What would move a cursor or turn the reading direction. */
const acting = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

describe("help", () => {
  test("a group lists its commands, and each has a page, in lines that fit a terminal", async () => {
    for (const group of ["sessions", "memory"]) {
      const { exit, stdout } = await holdfast([group, "--help"])
      expect(exit).toBe(0)
      const loaded = await commands.get(group)?.()
      const inner = loaded !== undefined && "commands" in loaded ? [...loaded.commands.keys()] : []
      expect(inner.length).toBeGreaterThan(2)
      for (const name of inner) {
        expect(stdout).toContain(`  ${name} `)
        const page = await holdfast([group, name, "--help"])
        expect(page).toMatchObject({
          exit: 0,
          stderr: "",
          stdout: expect.stringContaining(`holdfast ${group} ${name}`),
        })
        expect(page.stdout).toBe((await holdfast(["help", group, name])).stdout)
        expect(Math.max(...page.stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(120)
      }
      expect((await holdfast(["help", group])).stdout).toBe(stdout)
    }
  })
})

describe("what cannot be meant", () => {
  const cases: readonly (readonly [why: string, argv: readonly string[], sentence: string, next: string])[] = [
    ["no command", [], "not said what to do with sessions", "list | show"],
    ["a misspelt command", ["lsit"], "no command sessions lsit", "Did you mean list?"],
    ["a session that is not named", ["show"], "not said which session", "sessions list"],
    ["a limit that is no number", ["list", "--limit", "many"], '--limit is "many"', "whole number"],
    ["deleting without a word of consent", ["delete", "north"], "Nothing was deleted", "--yes"],
    ["pruning without an age", ["prune"], "not said which sessions", "--older-than"],
    ["an age that is none", ["prune", "--older-than", "30 days"], '--older-than is "30 days"', "30d"],
    ["an age of nothing", ["prune", "--older-than", "0d"], '--older-than is "0d"', "30d"],
    ["a new name that is none", ["fork", "north", "two words"], "session", "1 to 200 characters"],
    [
      "a place of another kind",
      ["list", "--data", "mysql://me:hidden@host/db"],
      "no store that is known",
      "postgres://",
    ],
    ["no place at all", ["list", "--data="], "names no place", "folder"],
  ]
  test.each(cases)("%s is told, with what to do, and exit code 2", async (_why, argv, sentence, next) => {
    const given = argv.some((word) => word.startsWith("--data"))
    const { exit, stdout, stderr } = await holdfast([
      "sessions",
      ...argv,
      ...(given || argv.length === 0 ? [] : ["--data", filled]),
    ])
    const [first = "", second] = stderr
      .split("\n")
      .filter((line) => line !== "")
      .slice(-2)
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" })
    expect(first).toContain(sentence)
    expect(second).toContain(next)
    expect(stderr).not.toContain("hidden")
  })
})

describe("a store that cannot be used", () => {
  const text = join(folder, "list.txt")
  writeFileSync(text, "This is a shopping list.\n".repeat(400))
  const newer = copyOfStore()
  const database = new DatabaseSync(newer)
  database.exec("PRAGMA user_version = 99")
  database.close()
  const other = join(folder, "other.db")
  const theirs = new DatabaseSync(other)
  theirs.exec("CREATE TABLE theirs (a)")
  theirs.close()
  const cases: readonly (readonly [why: string, place: string, code: string, words: string])[] = [
    ["that is not there", join(folder, "nowhere.db"), "store-missing", "no store yet"],
    ["that is no store", text, "store-corrupt", "is damaged, or is no store"],
    ["of a newer version", newer, "store-newer", "newer version"],
    ["of another program", other, "store-unavailable", "another program"],
    [
      "below a file",
      join(text, "below", "x.db"),
      "store-unavailable",
      `${text}: it is a file, where a folder is needed`,
    ],
  ]
  test.each(cases)(
    "%s is told in a sentence, by every command that reads, and is not made",
    async (_why, place, code, words) => {
      for (const argv of [["list"], ["show", "north"], ["export", "north"], ["verify"], ["vacuum"]]) {
        const { exit, stdout, stderr } = await sessions(argv, place)
        expect({ argv, exit, stdout }).toEqual({ argv, exit: 1, stdout: "" })
        expect(stderr).toContain(words)
        expect(stderr.trimEnd().split("\n")).toHaveLength(2)
      }
      const { stdout } = await sessions(["list", "--json"], place)
      expect(JSON.parse(stdout)).toMatchObject({ problem: { code } })
      if (code === "store-missing") expect(statSync(place, { throwIfNoEntry: false })).toBeUndefined()
    },
  )

  test("a PostgreSQL that is not there is told without its address", async () => {
    const { exit, stderr } = await sessions(["list"], "postgres://me:hidden@127.0.0.1:1/none")
    expect(exit).toBe(1)
    expect(stderr).toContain("postgres store could not be reached")
    expect(stderr).not.toContain("hidden")
  })

  test("HOLDFAST_DATA names the place where --data does not, and a folder stands for the file in it", async () => {
    const env = { HOLDFAST_DATA: filled }
    expect((await holdfast(["sessions", "list"], { env })).stdout).toContain("north")
    expect((await holdfast(["sessions", "list", "--data", folder], { env })).stderr).toContain("holdfast.db")
  })
})

describe("list", () => {
  test("names the sessions, of all agents or of one", async () => {
    const { exit, stdout } = await sessions(["list"])
    expect(exit).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/\s+/).at(-1)),
    ).toEqual([
      "SESSION",
      ...["north", "south", "east"].toSorted((one, other) => stdout.indexOf(one) - stdout.indexOf(other)),
    ])
    expect((await sessions(["list", "--agent", "mill"])).stdout).not.toContain("north")
    expect((await sessions(["list", "--agent", "nobody"])).stdout).toBe("There is no session.\n")
  })

  test("says that there are more than it was asked for", async () => {
    expect((await sessions(["list", "--limit", "2"])).stdout).toContain("There are more")
    expect(JSON.parse((await sessions(["list", "--limit", "2", "--json"])).stdout)).toMatchObject({ more: true })
    expect((await sessions(["list", "--limit", "3"])).stdout).not.toContain("There are more")
  })
})

describe("a session by less than its name", () => {
  test("a beginning that fits no other, and @last, are enough for every command", async () => {
    expect((await sessions(["show", "nor"])).stdout).toContain("Session north")
    expect((await sessions(["show", "@last"])).stdout).toMatch(/^Session (?:north|south|east) /)
    expect((await sessions(["export", "nor"])).stdout).toContain('"north"')
    const copy = copyOfStore()
    expect((await sessions(["delete", "ea"], copy)).stderr).toContain("Session east has")
    expect((await sessions(["delete", "ea", "--yes"], copy)).stdout).toContain("Deleted: east")
    expect(await idsIn(copy)).toHaveLength(2)
  })

  test("one that fits several names them, and one that fits none is unknown", async () => {
    const copy = copyOfStore()
    await sessions(["fork", "north", "north-2"], copy)
    expect((await sessions(["show", "north"], copy)).stdout).toContain("Session north ")
    const { exit, stderr } = await sessions(["show", "nort"], copy)
    expect(exit).toBe(2)
    expect(stderr).toContain("2 sessions begin with nort")
    expect(stderr).toContain("north-2")
    expect((await sessions(["show", "west"])).stderr).toContain("west")
  })

  test("a gateway's session is named by what its client calls it, and what stands beside it does not count", async () => {
    const path = join(folder, "gateway-names.db")
    const store = await openStore(path)
    const holdfast = createHoldfast({ store, format: "openai-chat" })
    for (const id of ["0123456789abcdef.4f1c", "0123456789abcdef.4f1c~side-00ff"])
      await holdfast.session(id).append([{ role: "user", content: `Where is ${id}?` }])
    await holdfast.close()
    await store.close()
    expect((await sessions(["show", "4f"], path)).stdout).toContain("Session 0123456789abcdef.4f1c")
    expect((await sessions(["show", "4f"], path)).stdout).not.toContain("~side")
    expect((await sessions(["show", "@last"], path)).stdout).not.toContain("~side")
  })
})

describe("list, as a person reads it", () => {
  test("has the first words, the compactions, and what the model was last reported to have read", async () => {
    const path = join(folder, "read.db")
    const store = await openStore(path)
    const holdfast = createHoldfast({ store, format: "openai-chat", model: "gpt-5" })
    const session = holdfast.session("s")
    await session.append([{ role: "user", content: "Where do the crates stand?" }])
    await session.prepare()
    const message = { role: "assistant", content: "In the hall." }
    await session.record({
      choices: [{ index: 0, finish_reason: "stop", message }],
      usage: { prompt_tokens: 4321, completion_tokens: 5 },
    })
    await holdfast.close()
    await store.close()
    const { stdout } = await sessions(["list"], path)
    expect(stdout).toMatch(/4,321 +0 +Where do the crates stand\? +s\n/)
    expect(JSON.parse((await sessions(["list", "--json"])).stdout).sessions[0]).toMatchObject({
      compactions: 1,
      firstWords: expect.stringContaining("Read the plan of"),
    })
  })
})

describe("a compaction", () => {
  test("is shown with its sizes, what it left out, and the handoff as the model reads it", async () => {
    const { exit, stdout } = await sessions(["show", "north", "--compaction", "last"])
    expect(exit).toBe(0)
    const { compaction, handoff, dropped } = JSON.parse(
      (await sessions(["show", "north", "--compaction", "last", "--json"])).stdout,
    )
    expect(stdout).toContain(
      `${compaction.beforeTokens.toLocaleString("en")} -> ${compaction.afterTokens.toLocaleString("en")} tokens`,
    )
    expect(dropped.length).toBeGreaterThan(0)
    expect(stdout).toContain("What the model reads in their place")
    expect(handoff).toContain("quay 7")
    expect(stdout.replace(/\n\| /g, " ").replace(/\s+/g, " ")).toContain("close quay 7 of north")
    expect(stdout).not.toMatch(acting)
    expect((await sessions(["show", "north", "--compaction", compaction.id])).stdout).toBe(stdout)
  })

  test("that is none is told", async () => {
    expect((await sessions(["show", "north", "--compaction", "e1"])).exit).toBe(1)
  })
})

describe("show", () => {
  test("tells what a session is, and nothing of it acts on a terminal", async () => {
    const { exit, stdout } = await sessions(["show", "north", "--log"])
    expect(exit).toBe(0)
    for (const words of [
      "19 messages",
      "1 compaction",
      "summary: ",
      "in force",
      "1 digest",
      "Never close quay 4",
      "user: Now write",
    ])
      expect(stdout).toContain(words)
    expect(stdout).toMatch(/e19 .* \[result\] Quay 0 of north/)
    expect(stdout).not.toMatch(acting)
  })

  test("as JSON it has the same and more; the session's secret is not in it", async () => {
    const { stdout } = await sessions(["show", "north", "--log", "--json"])
    const { session, overview, pins, log } = JSON.parse(stdout)
    expect(session).toMatchObject({ id: "north", agent: "harbour" })
    expect(overview).toMatchObject({ checkpoints: [{ remedy: "summary", atMs: writtenMs }], durable: true })
    expect([pins.length, log.length]).toEqual([1, session.head.seq])
    expect(stdout).not.toMatch(acting)
    const store = await openStore(filled)
    const [opened] = await store.read("north", { limit: 1 })
    await store.close()
    const { secret } = JSON.parse(opened?.body ?? "")
    expect(secret).toMatch(/^[0-9a-f]{32}$/)
    expect(stdout).not.toContain(secret)
  })

  test("explains one entry: what it says, how it is shown, and why", async () => {
    const early = await sessions(["show", "north", "--entry", "e5"])
    expect(early.stdout).toContain("Quay 10 of north, part 0")
    expect(early.stdout).toContain("a digest stands for it")
    expect(early.stdout).toMatch(/left out by e\d+/)
    expect((await sessions(["show", "north", "--entry", "e21"])).stdout).toContain("whole, as it came in")
    const { explanation } = JSON.parse((await sessions(["show", "north", "--entry", "e22", "--json"])).stdout)
    expect(explanation).toMatchObject({ type: "checkpoint-installed", trace: expect.any(Array) })
  })

  test.each(["e99", "e0", "five", "5"])(
    "an entry %s that is not there is told, with how to find one",
    async (entry) => {
      const { exit, stderr } = await sessions(["show", "north", "--entry", entry])
      expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining("--log lists the entries") })
    },
  )

  test.each(["show", "export", "verify", "undo", "fork", "delete"])(
    "%s of a session that is not there is told, and makes none",
    async (name) => {
      const data = copyOfStore()
      const { exit, stderr } = await sessions([name, "nobody"], data)
      expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining("There is no session nobody") })
      expect(await idsIn(data)).toHaveLength(3)
    },
  )
})

describe("export and import", () => {
  test("a session goes through a pipe, or a file, and is the same", async () => {
    const { exit, stdout } = await sessions(["export", "north"])
    expect(exit).toBe(0)
    expect(stdout).not.toMatch(acting)
    const data = join(folder, "new", "place")
    const imported = await sessions(["import", "-"], data, { stdin: stdout })
    expect(imported).toMatchObject({ exit: 0, stdout: expect.stringContaining("23 entries") })
    expect((await sessions(["export", "north"], data)).stdout).toBe(stdout)
    const out = join(folder, "north.jsonl")
    expect((await sessions(["export", "north", "--out", out])).exit).toBe(0)
    expect(readFileSync(out, "utf8")).toBe(stdout)
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect((await sessions(["import", out, "--as", "copy"], data)).exit).toBe(0)
    expect((await idsIn(data)).toSorted()).toEqual(["copy", "north"])
  })

  test("a misspelt name leaves a file that is there as it was", async () => {
    const out = join(folder, "kept.jsonl")
    writeFileSync(out, "kept")
    expect((await sessions(["export", "nroth", "--out", out])).exit).toBe(1)
    expect(readFileSync(out, "utf8")).toBe("kept")
    const { exit, stderr } = await sessions(["export", "north", "--out", join(folder, "no", "folder.jsonl")])
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining("its folder does not exist") })
  })

  test("what cannot be imported is told, and leaves nothing behind", async () => {
    const { stdout } = await sessions(["export", "north"])
    const lines = stdout.trimEnd().split("\n")
    const cases: readonly (readonly [file: string | Uint8Array, words: string])[] = [
      [stdout, "There is a session north already"],
      ["", "a header"],
      ["not JSON\n", "Line 1"],
      [lines.slice(0, -1).join("\n").replace('"north"', '"cut"'), "the closing line"],
      [stdout.replace('"session":"north"', '"session":"two words"'), "without blanks"],
      [new Uint8Array([0x7b, 0xff, 0x0a]), "text in UTF-8"],
      [changedTime(lines).replace('"session":"north"', '"session":"forged"'), "does not follow from the one before it"],
    ]
    const data = copyOfStore()
    for (const [stdin, words] of cases) {
      const { exit, stderr } = await sessions(["import"], data, { stdin })
      expect({ words, exit: exit > 0, stderr }).toEqual({ words, exit: true, stderr: expect.stringContaining(words) })
    }
    expect(await idsIn(data)).toHaveLength(3)
    expect((await sessions(["import", join(folder, "nowhere")], data)).stderr).toContain("There is no file")
    expect((await sessions(["import", folder], data)).stderr).toContain("is a folder")
    expect((await sessions(["import"], data, { terminal: true })).exit).toBe(2)
  })

  /** An entry says another time than its hash does. */
  const changedTime = (lines: readonly string[]): string =>
    lines.map((line) => (line.includes('"seq":5,') ? line.replace(`"atMs":${writtenMs}`, '"atMs":7') : line)).join("\n")
})

describe("delete, prune, vacuum", () => {
  test("one session is deleted, with its memory, and the room is given back", async () => {
    const data = copyOfStore()
    expect(await sessions(["delete", "north", "--yes"], data)).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^Deleted: north, 23 entries, \d+ lines of memory/),
    })
    expect((await idsIn(data)).toSorted()).toEqual(["east", "south"])
    const { stdout } = await holdfast(["memory", "search", "north", "--agent", "harbour", "--data", data])
    expect(stdout).toContain("Nothing was found")
    const { beforeBytes, afterBytes } = JSON.parse((await sessions(["vacuum", "--json"], data)).stdout)
    expect(afterBytes).toBeLessThan(beforeBytes)
  })

  test("old sessions are named before they go, and go only then", async () => {
    const data = copyOfStore()
    const dateMs = () => Date.now() + 40 * 24 * 3_600_000
    const first = await sessions(["prune", "--older-than", "30d"], data, { dateMs })
    expect(first.stdout).toContain("3 sessions would go")
    expect(first.stdout).toContain("south")
    expect(await idsIn(data)).toHaveLength(3)
    expect((await sessions(["prune", "--older-than", "6w", "--yes"], data, { dateMs })).stdout).toBe(
      "Deleted: 0 sessions.\n",
    )
    expect((await sessions(["prune", "--older-than", "30d", "--yes"], data, { dateMs })).stdout).toBe(
      "Deleted: 3 sessions.\n",
    )
    expect(await idsIn(data)).toEqual([])
  })
})

describe("verify", () => {
  test("a whole store is whole", async () => {
    expect(await sessions(["verify"])).toEqual({ exit: 0, stdout: "Whole: 3 sessions, 69 entries.\n", stderr: "" })
    expect((await sessions(["verify", "south"])).stdout).toBe("Whole: 1 session, 23 entries.\n")
  })

  const damages: readonly (readonly [why: string, sql: string])[] = [
    ["an entry that was changed", "UPDATE entries SET at_ms = 7 WHERE session = 'north' AND seq = 9"],
    ["entries that are gone", "DELETE FROM entries WHERE session = 'north' AND seq > 20"],
    ["a text that is gone", "DELETE FROM payloads WHERE session = 'north'"],
  ]
  test.each(damages)("%s is found and named; the others are still checked", async (_why, sql) => {
    const data = copyOfStore()
    const database = new DatabaseSync(data)
    database.exec(sql)
    database.close()
    const { exit, stdout, stderr } = await sessions(["verify"], data)
    expect({ exit, stdout }).toEqual({
      exit: 1,
      stdout: expect.stringMatching(/^Whole: 2 sessions, 46 entries\.\nDamaged: north: /),
    })
    expect(stderr).toContain("1 session of 3 damaged")
    const { problem } = JSON.parse((await sessions(["verify", "--json"], data)).stdout)
    expect(problem).toMatchObject({ code: "store-corrupt", damaged: [{ session: "north" }] })
  })

  test("overwritten pages that belong to no session are found", async () => {
    const data = copyOfStore()
    const database = new DatabaseSync(data)
    const pages = database.prepare("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'aliases'").all()
    database.close()
    const file = await open(data, "r+")
    for (const { rootpage } of pages) await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, (Number(rootpage) - 1) * 4096)
    await file.close()
    const { exit, stdout, stderr } = await sessions(["verify"], data)
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: expect.stringContaining("Damaged: the store's file: ") })
    expect(stderr).toContain("The store's file is damaged")
  })
})

describe("undo and fork", () => {
  test("a compaction is taken back, once", async () => {
    const data = copyOfStore()
    const { exit, stdout } = await sessions(["undo", "north"], data)
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: "Taken back: e22; no compaction is in force any more. 19 messages shown, 0 left out.\n",
    })
    const again = await sessions(["undo", "north"], data)
    expect(again).toMatchObject({ exit: 1, stderr: expect.stringContaining("there is none to undo") })
    expect((await sessions(["show", "north"], data)).stdout).toContain(", undone")
  })

  test("a store that is locked for writing takes nothing back, and says so", async () => {
    const data = copyOfStore()
    const other = new DatabaseSync(data)
    other.exec("BEGIN IMMEDIATE")
    const { exit, stderr } = await sessions(["undo", "north"], data)
    other.exec("COMMIT")
    other.close()
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining("is not taken back") })
    expect((await sessions(["undo", "north"], data)).exit).toBe(0)
  })

  test("a fork has what there was, or less, and does not touch what it came from", async () => {
    const data = copyOfStore()
    expect((await sessions(["fork", "north", "later"], data)).stdout).toContain(
      "later: a session of its own, with 23 entries",
    )
    expect((await sessions(["fork", "north", "early", "--at", "e10"], data)).stdout).toContain("10 entries")
    const named = JSON.parse((await sessions(["fork", "north", "--json"], data)).stdout)
    expect(await idsIn(data)).toContain(named.session)
    expect((await sessions(["fork", "north", "early"], data)).stderr).toContain("There is a session early already")
    expect((await sessions(["fork", "north", "--at", "e99"], data)).stderr).toContain("no entry e99")
    expect(await idsIn(data)).toHaveLength(6)
    expect((await sessions(["verify"], data)).exit).toBe(0)
  })
})

test("a history that went another way is told as a branch", async () => {
  const data = copyOfStore()
  const store = await openStore(data)
  const session = createHoldfast({ store, agent: "mill" }).session("turned")
  const [goal, ...rest] = talkOf("turned")
  for (const messages of [
    [goal, ...rest.slice(0, 4)],
    [goal, ...rest.slice(0, 2), { role: "user", content: "Stop." }],
  ])
    await session.prepare({ format: "openai-chat", body: { model: "gpt-5", messages } })
  await store.close()
  const { stdout } = await sessions(["show", "turned", "--log"], data)
  expect(stdout).toMatch(/Branches {3}e\d+: 4 messages, the one that the session is on\n {11}e\d+: 5 messages\n/)
  expect(stdout).toContain("the history goes another way behind e")
})
