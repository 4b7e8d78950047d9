import "../../test/support/property.ts"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { describeStore } from "../../test/contracts/store/describe-store.ts"
import { hashEntry, type StoreOfLogs } from "./reserved-log.ts"
import { readStoreKey, sealedWith } from "./sealed-store.ts"
import { openSqliteDatabase } from "./sqlite-database.ts"
import { createSqliteLogs, openSqliteStore } from "./sqlite-store.ts"

const key = randomBytes(32)
const folder = mkdtempSync(join(tmpdir(), "holdfast-sealed-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0

describeStore("an encrypted store in a SQLite file", async (now) => {
  count += 1
  const path = join(folder, `${count}.db`)
  const store = await openSqliteStore({ path, now, key })
  return {
    store,
    reopen: async () => {
      await store.close()
      return openSqliteStore({ path, now, key })
    },
  }
})

test.each(["", "short", "0".repeat(63), "z".repeat(64), "not a key at all, but a sentence of some length."])(
  "%j is no key",
  (text) => {
    expect(() => readStoreKey(text)).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ option: "storeKey" }) }),
    )
  },
)

test("a key is read in hexadecimal and in base64", () => {
  for (const text of [key.toString("hex"), key.toString("base64"), `${key.toString("base64url")}\n`])
    expect(Buffer.from(readStoreKey(text))).toEqual(key)
})

const session = "s1"
const line = { seq: 1, type: "message", atMs: 1, body: "the words of the harbour master" }
const entry = { ...line, hash: hashEntry("", line) }

/** A store whose N-th write to its logs of keys fails, as if the process had been killed there. */
function dyingAt(store: StoreOfLogs, n: number): StoreOfLogs {
  let writes = 0
  const dies = (): void => {
    writes += 1
    if (writes >= n) throw new Error("killed")
  }
  return {
    ...store,
    close: async () => {},
    append: async (log, batch) => {
      if (/sealing/.test(log)) dies()
      return store.append(log, batch)
    },
    remove: async (log) => {
      if (/sealing/.test(log)) dies()
      return store.remove(log)
    },
  }
}

/** A key, and what a store that encrypted its texts with that very key had written to know it by. */
const once = Buffer.alloc(32, 7)
const sealedOnce = "hf-sealed1:S9+JQ6IKyKjHAW97nbDueOgzTgp/4vjVKFw0E5boXVeLR60YL+plbkExrbjTBzCsZVM="

describe("changing the key of a store", () => {
  const [old, next] = [randomBytes(32), randomBytes(32)]
  const logs = async (): Promise<StoreOfLogs> => {
    count += 1
    const path = join(folder, `${count}.db`)
    const first = await openSqliteStore({ path, key: old })
    await first.append(session, { after: 0, entries: [entry] })
    await first.close()
    return {
      ...createSqliteLogs(await openSqliteDatabase({ path, busyMs: 5_000, durability: "full" }), Date.now),
      close: async () => {},
    }
  }
  const textIn = async (store: StoreOfLogs, key: Uint8Array): Promise<string | undefined> => {
    try {
      return (await (await sealedWith(store, { key })).read(session))[0]?.body
    } catch (error) {
      expect(error).toMatchObject({ problem: { code: "store-sealed", reason: "other-key" } })
      return undefined
    }
  }

  test("the new key opens it, the old one does not, and what was said is there", async () => {
    const store = await logs()
    await sealedWith(store, { key: old, nextKey: next })
    expect([await textIn(store, old), await textIn(store, next)]).toEqual([undefined, line.body])
  })

  test.each([1, 2, 3, 4])("killed at write %i, one of the two keys opens it, and doing it again ends it", async (n) => {
    const store = await logs()
    await expect(sealedWith(dyingAt(store, n), { key: old, nextKey: next })).rejects.toThrow("killed")
    const opens = [await textIn(store, old), await textIn(store, next)].filter((text) => text !== undefined)
    expect(opens.length).toBeGreaterThan(0)
    expect(new Set(opens)).toEqual(new Set([line.body]))
    const again = (await textIn(store, old)) === undefined ? next : old
    await sealedWith(store, { key: again, nextKey: next })
    expect([await textIn(store, old), await textIn(store, next)]).toEqual([undefined, line.body])
  })

  test("a store from before data keys were wrapped takes another key too", async () => {
    count += 1
    const path = join(folder, `${count}.db`)
    const store = {
      ...createSqliteLogs(await openSqliteDatabase({ path, busyMs: 5_000, durability: "full" }), Date.now),
      close: async () => {},
    }
    const begun = { seq: 1, type: "sealing-begun", atMs: 0, body: sealedOnce }
    await store.append("sealing log", { after: 0, entries: [{ ...begun, hash: hashEntry("", begun) }] })
    await (await sealedWith(store, { key: once })).append(session, { after: 0, entries: [entry] })
    await sealedWith(store, { key: once, nextKey: next })
    expect([await textIn(store, once), await textIn(store, next)]).toEqual([undefined, line.body])
  })

  test("what held the data key under the old key is in no file any more", async () => {
    count += 1
    const path = join(folder, `${count}.db`)
    await (await openSqliteStore({ path, key: old })).close()
    const bytes = (): string =>
      readdirSync(folder)
        .filter((name) => name.startsWith(`${count}.db`))
        .map((name) => readFileSync(join(folder, name), "latin1"))
        .join("")
    const database = await openSqliteDatabase({ path, busyMs: 5_000, durability: "full" })
    const before = createSqliteLogs(database, Date.now)
    const held = (await before.read("sealing log"))[0]?.body ?? ""
    await before.close()
    expect(held.length).toBeGreaterThan(60)
    expect(bytes()).toContain(held.slice(8, 48))
    await (await openSqliteStore({ path, key: old, nextKey: next })).close()
    expect(bytes()).not.toContain(held.slice(8, 48))
  })

  test("a store without encryption is refused a key", async () => {
    count += 1
    const path = join(folder, `${count}.db`)
    const plain = await openSqliteStore({ path })
    await plain.append(session, { after: 0, entries: [entry] })
    await plain.close()
    await expect(openSqliteStore({ path, nextKey: next })).rejects.toMatchObject({
      problem: { code: "store-sealed", reason: "plain" },
    })
  })
})
