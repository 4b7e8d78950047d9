import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inflateRawSync } from "node:zlib"
import { afterEach, expect, test } from "vitest"
import { run } from "../src/cli/run.ts"
import { createHoldfast } from "../src/session/holdfast.ts"
import { createMemoryStore } from "../src/store/memory-store.ts"
import { openStore } from "../src/store/open-store.ts"
import { applyRetention } from "../src/store/prune.ts"
import type { Store } from "../src/store/store.ts"

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

/** How often a word stands in the files of a folder, packed texts included. */
function countIn(folder: string, word: string): number {
  let found = 0
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name))
    found += bytes.toString("latin1").split(word).length - 1
    for (let at = 0; at < bytes.length; at++) found += inflatedAt(bytes, at).split(word).length - 1
  }
  return found
}

/** The first part of a raw deflate stream that may begin here; random bytes end at once. */
function inflatedAt(bytes: Buffer, at: number): string {
  // Level 1 writes its blocks with fixed or dynamic codes; other first bits begin none of ours.
  if (((bytes[at] ?? 0) & 6) === 6 || ((bytes[at] ?? 0) & 6) === 0) return ""
  try {
    const piece = bytes.subarray(at, at + 400)
    return inflateRawSync(piece, { finishFlush: 2, maxOutputLength: 2000 }).toString("latin1")
  } catch {
    return ""
  }
}

async function holdfast(...argv: readonly string[]): Promise<{ code: number; text: string }> {
  let text = ""
  const write = async (piece: string): Promise<void> => {
    text += piece
  }
  const sink = { write, isTerminal: false, hasColour: false }
  const code = await run(argv, {
    stdin: (async function* () {})(),
    stdinIsTerminal: false,
    stdout: sink,
    stderr: sink,
    nowMs: () => 0,
    dateMs: Date.now,
    env: {},
    debug: false,
  })
  return { code, text }
}

test("what sessions delete removes is in no file any more, while another program has the store open", async () => {
  const folder = newFolder()
  const store = await openStore(join(folder, "holdfast.db"))
  await fill(store)
  for (const word of words.ann) expect(countIn(folder, word)).toBeGreaterThan(0)
  const { code } = await holdfast("sessions", "delete", "ann.talk", "--yes", "--data", folder)
  expect(code).toBe(0)
  expect(countIn(folder, words.ann[0])).toBe(0)
  for (const word of words.bob) expect(countIn(folder, word)).toBeGreaterThan(0)
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
  for (const word of words.ann) expect([word, countIn(folder, word)]).toEqual([word, 0])
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
  expect(countIn(folder, words.bob[0])).toBe(0)
  await made.close()
  await store.close()
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
