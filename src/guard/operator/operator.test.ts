import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { describeOperator } from "../../../test/contracts/operator/describe-operator.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { openSqliteStore } from "../../store/sqlite-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-operator-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0

describeOperator("the operator's channel in memory", async () => createMemoryStore())
describeOperator("the operator's channel in a SQLite file", () => {
  files += 1
  return openSqliteStore({ path: join(folder, `${files}.db`) })
})
