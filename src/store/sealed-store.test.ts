import "../../test/support/property.ts"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { describeStore } from "../../test/contracts/store/describe-store.ts"
import { readStoreKey } from "./sealed-store.ts"
import { openSqliteStore } from "./sqlite-store.ts"

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
