import "../../test/support/property.ts"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { describeStore } from "../../test/contracts/store/describe-store.ts"
import { openSqliteStore } from "./sqlite-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0

describeStore("a store in a SQLite file", async (now) => {
  files += 1
  const path = join(folder, `${files}.db`)
  const store = await openSqliteStore({ path, now })
  return {
    store,
    reopen: async () => {
      await store.close()
      return openSqliteStore({ path, now })
    },
  }
})
