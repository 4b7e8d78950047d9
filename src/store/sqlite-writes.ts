import { HoldfastError } from "../message/errors.ts"
import type { SqliteDatabase, SqliteTables } from "./sqlite-database.ts"
import { ANY_SESSION } from "./sqlite-problem.ts"

type Write = SqliteDatabase["write"]
type Waiting = {
  readonly session: string
  readonly work: (tables: SqliteTables) => void
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/** Whoever reads or writes meanwhile waits for a transaction, so it must not become long. */
const maxTogether = 64

/**
 * What is asked for in the same moment is written in one transaction, for each has to wait for the disk. Where that fails, each is
 * tried by itself, so that nobody fails for what another asked.
 */
export function createSqliteWrites(alone: Write): { readonly write: Write; readonly flush: () => void } {
  let waiting: Waiting[] = []
  const flush = (): void => {
    const all = waiting
    waiting = []
    for (let at = 0; at < all.length; at += maxTogether) void together(alone, all.slice(at, at + maxTogether))
  }
  const write = <Result>(session: string, work: (tables: SqliteTables) => Result): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    if (waiting.length === 0) setImmediate(flush)
    let settle = (): void => {}
    const keep = (tables: SqliteTables): void => {
      const result = work(tables)
      settle = () => resolve(result)
    }
    waiting.push({ session, work: keep, done: () => settle(), failed: reject })
    return promise
  }
  return { write, flush }
}

async function together(alone: Write, all: readonly Waiting[]): Promise<void> {
  const [first] = all
  if (first === undefined || all.length === 1)
    return first && alone(first.session, first.work).then(first.done, first.failed)
  const each = (tables: SqliteTables): void => {
    for (const { work } of all) work(tables)
  }
  try {
    await alone(ANY_SESSION, each)
  } catch (error) {
    // Whoever has the database has it still.
    const isLocked = error instanceof HoldfastError && error.problem.code === "store-locked"
    for (const one of all) {
      if (isLocked) one.failed(error)
      else await alone(one.session, one.work).then(one.done, one.failed)
    }
    return
  }
  for (const { done } of all) done()
}
