import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { isBusy, sqliteError } from "./sqlite-problem.ts"

/** That this process alone serves from a store's file. It ends with the process, however that ends. */
export type Claim = { readonly release: () => void }

/**
 * Claim the file of a store for one gateway. Two of them would each hold in memory what the other does not know. The claim is a lock of
 * the operating system on a file beside it, taken through SQLite; who has it stands in another one, for people to read. Other programs
 * that read or write the store are not concerned.
 */
export async function claimFile(path: string): Promise<Claim> {
  const { DatabaseSync } = await import("node:sqlite")
  const lockPath = `${path}.serving`
  const ownerPath = `${path}.serving-by`
  try {
    const lock = new DatabaseSync(lockPath)
    try {
      chmodSync(lockPath, 0o600)
      lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE")
    } catch (error) {
      lock.close()
      throw error
    }
    const owner = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`
    writeFileSync(ownerPath, `${owner}\n`, { mode: 0o600 })
    return {
      release: () => {
        rmSync(ownerPath, { force: true })
        if (lock.isOpen) lock.close()
      },
    }
  } catch (error) {
    if (!isBusy(error)) throw sqliteError(error, { session: "*", waitedMs: 0, path })
    throw new HoldfastError({ code: "store-in-use", store: "sqlite", path, ...present({ owner: ownerIn(ownerPath) }) })
  }
}

/** Longer is no line of ours. */
const maxOwner = 300

function ownerIn(path: string): string | undefined {
  try {
    const [line = ""] = readFileSync(path, "utf8").slice(0, maxOwner).split("\n", 1)
    return /^process \d+ on [\w.-]+, since [\dTZ:.-]+$/.test(line) ? line : undefined
  } catch {
    // It says who, and nothing depends on it: whoever began a moment ago has not written it yet.
    return undefined
  }
}
