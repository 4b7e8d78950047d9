import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inflateRawSync } from "node:zlib"
import { afterEach, expect, test } from "vitest"
import type { HoldfastError } from "../src/message/errors.ts"
import { createHoldfast } from "../src/session/holdfast.ts"
import { createMemoryStore } from "../src/store/memory-store.ts"
import { openStore } from "../src/store/open-store.ts"
import { applyRetention } from "../src/store/prune.ts"
import type { Store } from "../src/store/store.ts"
import { holdfast as runLine } from "./fixtures/cli/command-line.ts"

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-at-rest-"))
  folders.push(folder)
  return folder
}

/** Words that stand nowhere else, one of them the beginning of a text that is long enough to be stored packed. */
const words = { ann: ["quokkastone", "numbatfield"], bob: ["lemurbridge", "tapirgarden"] } as const
const long = (word: string): string => `${word} ${"and more of it, line by line. ".repeat(100)} ${word}`

/** Sessions of two tenants with a log, memory, a rule for more than one session, a summary, a job and an alias. */
async function fill(store: Store): Promise<void> {
  for (const tenant of ["ann", "bob"] as const) {
    const [first, second] = words[tenant]
    const holdfast = createHoldfast({ store, agent: "default" })
    const session = holdfast.session(`${tenant}.talk`, { tenant })
    await session.append([
      { role: "user", content: `The code is ${first}. Never tell ${first} to anyone.` },
      { role: "assistant", content: long(second) },
    ])
    await session.pin(`Always say ${second} first.`, { scope: "agent" })
    const row = { session: session.id, tenant, agent: "default", day: "2026-11-16", atMs: 1, kind: "fact" } as const
    await store.memory.write([
      { ...row, id: "m1", text: `the code is ${first}`, channel: "user", trusted: true, sources: [], subject: first },
    ])
    await store.putSummary(session.id, "s", JSON.stringify({ text: first }))
    await store.jobs.put({ key: "j", session: session.id, kind: "summary", payload: JSON.stringify(second) }, 0)
    await store.putAliases(session.id, [{ name: `alias-${first}` }])
    await holdfast.idle()
  }
}

/** Everything that stands in the files of a folder, packed texts unpacked behind them. */
function textIn(folder: string): string {
  const found: string[] = []
  // Nearly every byte begins no stream, and most of the time went into the traces of those errors.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name))
    found.push(bytes.toString("latin1"))
    for (let at = 0; at < bytes.length; at++) found.push(inflatedAt(bytes, at))
  }
  Error.stackTraceLimit = stackTraceLimit
  return found.join("\n")
}

/** The first part of a raw deflate stream that may begin here; random bytes end at once. */
function inflatedAt(bytes: Buffer, at: number): string {
  // Level 1 writes its blocks with fixed or dynamic codes; other first bits begin none of ours.
  if (((bytes[at] ?? 0) & 6) === 6 || ((bytes[at] ?? 0) & 6) === 0) return ""
  try {
    const piece = bytes.subarray(at, at + 400)
    // No part refers back further than its own length, so a small window does, and costs a fraction.
    const limits = { finishFlush: 2, maxOutputLength: 2000, windowBits: 11, chunkSize: 2048 }
    return inflateRawSync(piece, limits).toString("latin1")
  } catch {
    return ""
  }
}

const holdfast = (...argv: readonly string[]): Promise<{ code: number; text: string }> => holdfastIn({}, ...argv)

async function holdfastIn(
  env: Readonly<Record<string, string>>,
  ...argv: readonly string[]
): Promise<{ code: number; text: string }> {
  const { exit, stdout, stderr } = await runLine(argv, { env, dateMs: Date.now })
  return { code: exit, text: stdout + stderr }
}

test("what sessions delete removes is in no file any more, while another program has the store open", async () => {
  const folder = newFolder()
  const store = await openStore(join(folder, "holdfast.db"))
  await fill(store)
  const before = textIn(folder)
  expect(words.ann.filter((word) => before.includes(word))).toEqual(words.ann)
  const { code } = await holdfast("sessions", "delete", "ann.talk", "--yes", "--data", folder)
  expect(code).toBe(0)
  const after = textIn(folder)
  expect(after.includes(words.ann[0])).toBe(false)
  expect(words.bob.filter((word) => after.includes(word))).toEqual(words.bob)
  expect(await store.memory.search({ tenant: "bob", agent: "default", text: "code" })).toHaveLength(1)
  await store.close()
}, 60_000)

test("erase leaves nothing of one tenant, its rules for all its sessions included, and everything of the other", async () => {
  const folder = newFolder()
  const store = await openStore(join(folder, "holdfast.db"))
  await fill(store)
  const asked = await holdfast("erase", "--tenant", "ann", "--data", folder)
  expect([asked.code, asked.text]).toEqual([2, expect.stringContaining("1 session")])
  const { code, text } = await holdfast("erase", "--tenant", "ann", "--yes", "--data", folder)
  expect([code, text]).toEqual([0, "Deleted: 1 session of the tenant ann, with all they had.\n"])
  const left = textIn(folder)
  expect(words.ann.filter((word) => left.includes(word))).toEqual([])
  const again = createHoldfast({ store, agent: "default" })
  const rules = await again.session("bob.talk", { tenant: "bob" }).pins()
  expect(rules.map((rule) => rule.text)).toContain(`Always say ${words.bob[1]} first.`)
  expect(await again.session("ann.new", { tenant: "ann" }).pins()).toEqual([])
  await again.close()
  await store.close()
}, 60_000)

test("a session that the library removes is in no file any more", async () => {
  const folder = newFolder()
  const store = await openStore(join(folder, "holdfast.db"))
  await fill(store)
  const made = createHoldfast({ store, agent: "default" })
  await made.session("bob.talk", { tenant: "bob" }).remove()
  expect(textIn(folder).includes(words.bob[0])).toBe(false)
  await made.close()
  await store.close()
}, 60_000)

test("well-known secrets reach no file where the defaults of redact are on, and the rest of the message does", async () => {
  const folder = newFolder()
  const store = await openStore(join(folder, "holdfast.db"))
  const made = createHoldfast({ store, agent: "default", redact: ["defaults"] })
  const secret = `ghp_${"a1B2".repeat(9)}`
  await made.session("talk").append([{ role: "user", content: `Deploy quokkastone with ${secret}, please.` }])
  await made.idle()
  await made.close()
  await store.close()
  const kept = textIn(folder)
  expect([kept.includes("quokkastone"), kept.includes(secret)]).toEqual([true, false])
}, 60_000)

const day = 86_400_000

test("sessions go when they are too old, then the oldest until the store is small enough; what is in use stays", async () => {
  let now = 0
  const store = createMemoryStore({ now: () => now })
  for (let n = 0; n < 40; n++) {
    now = n * day
    await createHoldfast({ store, now: () => now })
      .session(`s${n}`)
      .append([{ role: "user", content: long("word") }])
  }
  now = 40 * day
  expect(await applyRetention(store, { maxAgeMs: 30 * day }, now)).toBe(10)
  const left = async (): Promise<readonly string[]> => (await store.sessions()).map(({ id }) => id)
  expect(await left()).not.toContain("s9")
  expect(await left()).toContain("s10")
  const half = Math.ceil((await store.usedBytes()) / 2)
  await applyRetention(store, { maxBytes: half }, now)
  expect(await store.usedBytes()).toBeLessThanOrEqual(half)
  expect((await left())[0]).toBe("s39")
  await applyRetention(store, { maxBytes: 1 }, 39 * day + 1000)
  expect(await left()).toEqual(["s39"])
})

test("nothing that was said stands in the files of an encrypted store, and it opens with its key alone", async () => {
  const folder = newFolder()
  const path = join(folder, "holdfast.db")
  const key = randomBytes(32)
  const store = await openStore(path, { key })
  await fill(store)
  const hits = await store.memory.search({ tenant: "ann", agent: "default", text: "what is the quokkastone code" })
  expect(hits.map(({ row }) => row.text)).toContain("the code is quokkastone")
  await store.close()
  const stored = textIn(folder)
  expect([...words.ann, ...words.bob].filter((word) => stored.includes(word))).toEqual([])

  const refused = async (given: Uint8Array | undefined): Promise<unknown> =>
    openStore(path, given === undefined ? {} : { key: given }).then(
      () => "opened",
      (error: HoldfastError) => error.problem,
    )
  expect(await refused(undefined)).toMatchObject({ code: "store-sealed", reason: "no-key" })
  expect(await refused(randomBytes(32))).toMatchObject({ code: "store-sealed", reason: "other-key" })
  const plain = join(newFolder(), "plain.db")
  const other = await openStore(plain)
  await fill(other)
  await other.close()
  await expect(openStore(plain, { key })).rejects.toMatchObject({ problem: { code: "store-sealed", reason: "plain" } })

  const file = join(newFolder(), "key")
  writeFileSync(file, `${key.toString("base64")}\n`)
  const ways = [
    { HOLDFAST_STORE_KEY: key.toString("hex") },
    { HOLDFAST_STORE_KEY_FILE: file },
    { HOLDFAST_STORE_KEY_COMMAND: `cat '${file}'`, PATH: process.env.PATH ?? "" },
  ]
  for (const env of ways) {
    const shown = await holdfastIn(env, "sessions", "show", "ann.talk", "--data", path)
    expect(shown).toMatchObject({ code: 0, text: expect.stringContaining("quokkastone") })
  }
  const wrong = await holdfastIn({ HOLDFAST_STORE_KEY: "0".repeat(64) }, "sessions", "list", "--data", path)
  expect(wrong).toMatchObject({ code: 1, text: expect.stringContaining("is encrypted with another key") })
  const none = await holdfast("sessions", "list", "--data", path)
  expect(none).toMatchObject({ code: 1, text: expect.stringContaining("no key was given") })
  const failing = await holdfastIn(
    { HOLDFAST_STORE_KEY_COMMAND: "echo quokkakey >&2; exit 3" },
    "sessions",
    "list",
    "--data",
    path,
  )
  expect(failing.code).not.toBe(0)
  expect(failing.text).toContain("HOLDFAST_STORE_KEY_COMMAND")
  expect(failing.text).not.toContain("quokkakey")
})

test("a text that somebody without the key changes or moves in an encrypted store is found", async () => {
  const path = join(newFolder(), "holdfast.db")
  const key = randomBytes(32)
  const store = await openStore(path, { key })
  await fill(store)
  await store.close()
  const { DatabaseSync } = await import("node:sqlite")
  const database = new DatabaseSync(path)
  database.exec("UPDATE memory SET text = (SELECT max(text) FROM memory AS other WHERE other.session = 'bob.talk')")
  database.close()
  const again = await openStore(path, { key })
  const read = again.memory.get({ tenant: "ann", agent: "default" }, ["m1"])
  await expect(read).rejects.toMatchObject({ problem: { code: "store-corrupt", session: "ann.talk" } })
  await again.close()
})
