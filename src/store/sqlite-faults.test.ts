import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, describe, expect, test } from "vitest"
import { batch, clerk, entry, payloads, row } from "../../test/contracts/store/example-rows.ts"
import { fc, runs } from "../../test/support/property.ts"
import { HoldfastError } from "../message/errors.ts"
import { reserveLog } from "./reserved-log.ts"
import { openSqliteDatabase } from "./sqlite-database.ts"
import { createSqliteLogs, openSqliteStore } from "./sqlite-store.ts"
import type { Store } from "./store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-faults-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const newPath = (): string => {
  files += 1
  return join(folder, `${files}.db`)
}
const problem = (code: string) => ({ problem: { code, store: "sqlite" } })

/** A store with direct access to its database. */
async function openBoth(path = newPath()) {
  const database = await openSqliteDatabase({ path, busyMs: 50, durability: "full" })
  return { database, store: reserveLog(createSqliteLogs(database, () => 100)) }
}

describe("a full disk", () => {
  test("is reported, and nothing is written; with free space writing continues", async () => {
    const { database, store } = await openBoth()
    await store.append("s", batch(0, 3))
    await database.maintain(["PRAGMA max_page_count = 40"])
    let seed = 1
    const noise = Array.from({ length: 200_000 }, () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      return String.fromCharCode(0x4e00 + ((seed >>> 16) % 20_000))
    }).join("")
    const large = batch(3, 2, "a", { payloads: payloads(noise) })
    await expect(store.append("s", large)).rejects.toMatchObject(problem("store-full"))
    expect(await store.head("s")).toEqual({ seq: 3, hash: "a-3" })
    expect((await store.holdings("s")).payloads).toEqual([])
    await database.maintain(["PRAGMA max_page_count = 1000000"])
    expect(await store.append("s", large)).toEqual({ type: "appended" })
    expect(await store.payloads("s", [...payloads(noise).keys()])).toEqual(payloads(noise))
  })
})

describe("a lock that another program holds", () => {
  test("is reported when the time is up; reads continue, and writes once the lock is gone", async () => {
    const path = newPath()
    const store = await openSqliteStore({ path, busyMs: 50 })
    await store.append("s", batch(0, 1))
    const other = new DatabaseSync(path)
    other.exec("BEGIN IMMEDIATE")
    await expect(store.append("s", batch(1, 1))).rejects.toMatchObject({
      problem: { code: "store-locked", store: "sqlite", waitedMs: 50 },
    })
    expect(await store.read("s")).toEqual([entry(1)])
    other.exec("COMMIT")
    expect(await store.append("s", batch(1, 1))).toEqual({ type: "appended" })
    other.close()
  })

  test("is waited for without blocking the process", async () => {
    const path = newPath()
    const store = await openSqliteStore({ path, busyMs: 60_000 })
    const other = new DatabaseSync(path)
    other.exec("BEGIN IMMEDIATE")
    const waiting = store.append("s", batch(0, 1))
    setTimeout(() => other.exec("COMMIT"), 30)
    expect(await waiting).toEqual({ type: "appended" })
    other.close()
  })

  test("does not prevent opening a new store at the same moment", async () => {
    const path = newPath()
    const stores = await Promise.all(Array.from({ length: 5 }, () => openSqliteStore({ path })))
    const answers = await Promise.all(stores.map((store, at) => store.append("s", batch(0, 1, `w${at}`))))
    expect(answers.filter(({ type }) => type === "appended")).toHaveLength(1)
  })
})

describe("a file that cannot be used", () => {
  test("that is not a database is corrupt and stays unchanged", async () => {
    const path = newPath()
    const text = "This is a shopping list, not a database.\n".repeat(500)
    writeFileSync(path, text)
    await expect(openSqliteStore({ path })).rejects.toMatchObject(problem("store-corrupt"))
    expect(readFileSync(path, "utf8")).toBe(text)
  })

  test("of another program is not changed", async () => {
    const path = newPath()
    const other = new DatabaseSync(path)
    other.exec("CREATE TABLE theirs (a); PRAGMA user_version = 1")
    other.close()
    await expect(openSqliteStore({ path })).rejects.toMatchObject(problem("store-unavailable"))
    const again = new DatabaseSync(path)
    expect(again.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "theirs" }])
  })

  test("of a newer version is not changed", async () => {
    const { database, store } = await openBoth()
    const path = join(folder, `${files}.db`)
    await database.maintain(["PRAGMA user_version = 99"])
    await store.close()
    const newer = { problem: { code: "store-newer", store: "sqlite", version: 99, known: 5 } }
    await expect(openSqliteStore({ path })).rejects.toMatchObject(newer)
  })

  test("under something that is not a folder, or that is itself a folder, cannot be opened", async () => {
    const path = newPath()
    writeFileSync(path, "")
    await expect(openSqliteStore({ path: join(path, "below.db") })).rejects.toMatchObject(problem("store-unavailable"))
    await expect(openSqliteStore({ path: folder })).rejects.toMatchObject(problem("store-unavailable"))
    await expect(openSqliteStore({ path: "" })).rejects.toMatchObject({ problem: { code: "option-invalid" } })
    await expect(openSqliteStore({ path: "a\0b" })).rejects.toMatchObject({ problem: { code: "option-invalid" } })
  })

  test("that is read-only refuses every write and can still be read", async () => {
    const { database, store } = await openBoth()
    await store.append("s", batch(0, 1))
    await database.maintain(["PRAGMA query_only = ON"])
    await expect(store.append("s", batch(1, 1))).rejects.toMatchObject(problem("store-unavailable"))
    await expect(store.remove("s")).rejects.toMatchObject(problem("store-unavailable"))
    expect(await store.read("s")).toEqual([entry(1)])
  })

  test("that was deleted or replaced while open refuses writes that would be lost", async () => {
    const path = newPath()
    const store = await openSqliteStore({ path })
    await store.append("s", batch(0, 1))
    renameSync(path, `${path}.moved`)
    await expect(store.append("s", batch(1, 1))).rejects.toMatchObject(problem("store-unavailable"))
    writeFileSync(path, "")
    await expect(store.append("s", batch(1, 1))).rejects.toMatchObject(problem("store-unavailable"))
    unlinkSync(path)
    await store.close()
  })
})

test("the file, its folder and its companion files are readable only by the owner", async () => {
  const path = join(folder, "new", "folder", "store.db")
  const store = await openSqliteStore({ path })
  await store.append("s", batch(0, 1))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, "new", "folder")).mode & 0o777).toBe(0o700)
  await store.close()
})

test("a large repetitive text takes little space, and deleted data frees its space", async () => {
  const path = newPath()
  const store = await openSqliteStore({ path })
  const text = "the same line again and again\n".repeat(200_000)
  await store.append("s", { after: 0, entries: [entry(1, "a", { body: text })], payloads: payloads(text) })
  await store.vacuum()
  expect(statSync(path).size).toBeLessThan(500_000)
  const full = statSync(path).size
  await store.remove("s")
  await store.vacuum()
  expect(statSync(path).size).toBeLessThan(full)
})

const aliasesOf = (session: string) =>
  Array.from({ length: 40 }, (_, at) => ({ name: `${session} ${at}`, entry: `e${at}` }))

/** The bytes of a healthy file with sessions that use all tables. */
async function healthyFile(): Promise<Buffer> {
  const path = newPath()
  const store = await openSqliteStore({ path })
  for (const session of ["a", "b", "c", "d"]) {
    await store.append(session, {
      after: 0,
      entries: Array.from({ length: 40 }, (_, at) => entry(at + 1, session, { body: `${session} ${at} `.repeat(60) })),
      payloads: payloads(`${session} payload `.repeat(40), `${session} large payload ${"abc def ".repeat(3000)}`),
    })
    await store.memory.write(Array.from({ length: 20 }, (_, at) => row(at, `${session} line ${at}`, { session })))
    await store.putAliases(session, aliasesOf(session))
  }
  await store.close()
  return readFileSync(path)
}

/** Everything read from a damaged file is what was written, or a Problem; returns which. */
async function readAll(store: Store): Promise<readonly string[]> {
  const codes: string[] = []
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
      codes.push("right")
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      codes.push(error.problem.code)
    }
  }
  for (const session of ["a", "b", "c", "d"]) {
    await attempt(async () => {
      const { seq } = await store.head(session)
      const entries = await store.read(session, { to: 40 })
      const expected = Array.from({ length: 40 }, (_, at) =>
        entry(at + 1, session, { body: `${session} ${at} `.repeat(60) }),
      )
      if (seq === 40) expect(entries).toEqual(expected)
    })
    await attempt(async () => {
      const texts = payloads(`${session} payload `.repeat(40), `${session} large payload ${"abc def ".repeat(3000)}`)
      expect(await store.payloads(session, [...texts.keys()])).toEqual(texts)
    })
    await attempt(async () => void (await store.memory.search({ ...clerk, text: `${session} line`, session })))
    await attempt(async () => void (await store.holdings(session)))
    await attempt(async () => void (await store.findAliases(aliasesOf(session).map(({ name }) => name))))
    await attempt(() => store.putAliases(session, aliasesOf(session)))
    await attempt(async () => void (await store.append(session, batch(40, 1, session))))
  }
  return codes
}

describe("a damaged file", () => {
  test("with any bytes overwritten reads correctly or reports that it is corrupt, and never crashes", async () => {
    const healthy = await healthyFile()
    const seen = new Set<string>()
    const damage = fc.record({
      at: fc.nat(healthy.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 3000 }),
    })
    const property = fc.asyncProperty(damage, async ({ at, bytes }) => {
      const path = newPath()
      const damaged = Buffer.from(healthy)
      damaged.set(bytes.subarray(0, damaged.length - at), at)
      writeFileSync(path, damaged)
      const store = await openSqliteStore({ path }).catch((error: unknown) => {
        expect(error).toBeInstanceOf(HoldfastError)
        return undefined
      })
      if (store !== undefined) for (const code of await readAll(store)) seen.add(code)
      await store?.close()
      rmSync(path, { force: true })
    })
    await fc.assert(property, { numRuns: Math.max(5, Math.ceil(runs / 10)) })
    expect(seen.has("right")).toBe(true)
    expect(seen.has("store-corrupt")).toBe(true)
  })

  test("cut short, before it is opened or while it is open", async () => {
    const healthy = await healthyFile()
    for (const size of [0, 100, 4096, 5000, Math.floor(healthy.length / 2), healthy.length - 1]) {
      const path = newPath()
      writeFileSync(path, healthy.subarray(0, size))
      const store = await openSqliteStore({ path }).catch((error: unknown) => {
        expect(error).toBeInstanceOf(HoldfastError)
        return undefined
      })
      if (store !== undefined) await readAll(store)
      await store?.close()
      writeFileSync(path, healthy)
      const open = await openSqliteStore({ path })
      truncateSync(path, size)
      await readAll(open)
      await open.close()
    }
  })

  test("in one payload affects only that session", async () => {
    const healthy = await healthyFile()
    const path = newPath()
    writeFileSync(path, healthy)
    const file = openSync(path, "r+")
    writeSync(file, "X", healthy.indexOf("b payload b payload"))
    closeSync(file)
    const store = await openSqliteStore({ path })
    const text = "b payload ".repeat(40)
    const corrupt = { problem: { code: "store-corrupt", session: "b" } }
    await expect(store.payloads("b", [...payloads(text).keys()])).rejects.toMatchObject(corrupt)
    expect(await store.read("b")).toHaveLength(40)
    const other = payloads("a payload ".repeat(40))
    expect(await store.payloads("a", [...other.keys()])).toEqual(other)
  })

  test("in one entry affects only that session", async () => {
    const healthy = await healthyFile()
    const path = newPath()
    healthy.write("X", healthy.indexOf("c 7 c 7"))
    writeFileSync(path, healthy)
    const store = await openSqliteStore({ path })
    await expect(store.read("c")).rejects.toMatchObject({ problem: { code: "store-corrupt", session: "c" } })
    expect(await store.read("c", { to: 7 })).toHaveLength(7)
    expect(await store.read("d")).toHaveLength(40)
  })
})

test("work that fails in the middle leaves nothing, and the next succeeds", async () => {
  const { database, store } = await openBoth()
  const broken = database.write("s", ({ run }) => {
    run("INSERT INTO summaries VALUES ('s', 'k', '{}')")
    throw new Error("in the middle")
  })
  await expect(broken).rejects.toThrow("in the middle")
  expect(await store.getSummary("s", "k")).toBeUndefined()
  expect(await store.putSummary("s", "k", "{}")).toBe(true)
})
