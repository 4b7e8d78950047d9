import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { HoldfastError } from "../message/errors.ts"
import { createSqliteWrites, openSqliteDatabase, type SqliteDatabase, type SqliteTables } from "./sqlite-database.ts"

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-writes-"))
})
afterAll(() => rm(folder, { recursive: true }))

let made = 0
function open(): Promise<SqliteDatabase> {
  made++
  return openSqliteDatabase({ path: join(folder, `${made}.db`), busyMs: 50, durability: "normal" })
}

const name =
  (text: string, isBad = false) =>
  ({ run }: SqliteTables): string => {
    run("INSERT INTO aliases (name, session) VALUES (?, 's')", text)
    if (isBad) throw new HoldfastError({ code: "store-full", store: "sqlite" })
    return text
  }
const named = (database: SqliteDatabase): Promise<readonly unknown[]> =>
  database.read("s", ({ all }) => all("SELECT name FROM aliases ORDER BY name").map((row) => row.name))

test("simultaneous writes are one transaction, and each gets its own result", async () => {
  const database = await open()
  let transactions = 0
  const { write } = createSqliteWrites((session, work) => {
    transactions++
    return database.write(session, work)
  })
  expect(await Promise.all([write("s", name("a")), write("s", name("b")), write("s", name("c"))])).toEqual([
    "a",
    "b",
    "c",
  ])
  expect(transactions).toBe(1)
  expect(await write("s", name("d"))).toBe("d")
  expect(transactions).toBe(2)
  database.close()
})

test("writes that take long together are several transactions, in their order, and others are served in between", async () => {
  const database = await open()
  const order: string[] = []
  const { write } = createSqliteWrites((session, work) => {
    order.push("begin")
    return database.write(session, work)
  })
  const slow =
    (text: string) =>
    (tables: SqliteTables): string => {
      const untilMs = performance.now() + 6
      while (performance.now() < untilMs);
      order.push(text)
      return name(text)(tables)
    }
  const texts = ["a", "b", "c", "d", "e"]
  expect(await Promise.all(texts.map((text) => write("s", slow(text))))).toEqual(texts)
  expect(order.filter((step) => step !== "begin")).toEqual(texts)
  expect(order.filter((step) => step === "begin").length).toBeGreaterThanOrEqual(3)
  expect(await named(database)).toEqual(texts)
  database.close()
})

test("no write fails because of another one", async () => {
  const database = await open()
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 90 }), async (fails) => {
      round++
      const before = await named(database)
      const texts = fails.map((_, n) => `${round}-${n}`)
      const answers = await Promise.allSettled(texts.map((text, n) => database.write("s", name(text, fails[n]))))
      expect(answers.map(({ status }) => status)).toEqual(fails.map((isBad) => (isBad ? "rejected" : "fulfilled")))
      const good = texts.filter((_, n) => !fails[n])
      expect(await named(database)).toEqual([...before, ...good].sort())
    }),
  )
  database.close()
})

test("all waiting writes are told at once that the database is locked", async () => {
  let tries = 0
  const locked = new HoldfastError({ code: "store-locked", store: "sqlite", waitedMs: 50 })
  const { write } = createSqliteWrites(() => {
    tries++
    return Promise.reject(locked)
  })
  const answers = await Promise.allSettled([write("s", name("a")), write("s", name("b"))])
  expect(answers.map((answer) => answer.status === "rejected" && answer.reason)).toEqual([locked, locked])
  expect(tries).toBe(1)
})

test("writes requested before closing are written", async () => {
  const path = join(folder, "closed.db")
  const database = await openSqliteDatabase({ path, busyMs: 50, durability: "normal" })
  const writing = Promise.all([database.write("s", name("a")), database.write("s", name("b"))])
  database.close()
  expect(await writing).toEqual(["a", "b"])
  const again = await openSqliteDatabase({ path, busyMs: 50, durability: "normal" })
  expect(await named(again)).toEqual(["a", "b"])
  again.close()
})
