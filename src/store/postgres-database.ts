import type { Pool, PoolConfig } from "pg"
import { HoldfastError } from "../message/errors.ts"
import type { PostgresSettings } from "./postgres-options.ts"
import { inTransaction, type Line, persist, type Work } from "./postgres-persist.ts"

/** A database that is asked with limits on everything. What it throws is a `HoldfastError`, and no error quotes the url. */
export type Database = {
  /** Every statement for itself. The work is tried again when the connection fails: it must bear being repeated. */
  readonly call: <Value>(work: Work<Value>) => Promise<Value>
  /** All statements or none. */
  readonly transact: <Value>(work: Work<Value>) => Promise<Value>
  /** Statements that take long, on a connection of their own. */
  readonly callLong: <Value>(limitMs: number, work: Work<Value>) => Promise<Value>
  readonly close: () => Promise<void>
}

/** How much longer than the server we wait for its answer before we hold the connection for dead. */
const graceMs = 1_000

export async function openDatabase(
  settings: PostgresSettings,
  now: () => number = () => performance.now(),
): Promise<Database> {
  const pg = await loadPg()
  const { limits } = settings
  const pool = createPool(pg.Pool, { ...configOf(settings, limits.statementMs), max: limits.max })
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  const fromPool = async (): Promise<Line> => {
    const client = await pool.connect()
    return { query: (config) => client.query(config), release: async (broken) => client.release(broken) }
  }
  const ownLine = (limitMs: number) => async (): Promise<Line> => {
    const client = new pg.Client(configOf(settings, limitMs)).on("error", ignore)
    await client.connect()
    return { query: (config) => client.query(config), release: () => client.end() }
  }
  const start = <Value>(open: () => Promise<Line>, work: Work<Value>, statementMs: number): Promise<Value> => {
    if (closing !== undefined) return Promise.reject(new HoldfastError({ code: "store-closed", store: "postgres" }))
    const call = persist(open, work, { connectMs: limits.connectMs, statementMs, now })
    const settled = call.then(ignore, ignore)
    running.add(settled)
    void settled.then(() => running.delete(settled))
    return call
  }
  return {
    call: (work) => start(fromPool, work, limits.statementMs),
    transact: (work) => start(fromPool, inTransaction(work), limits.statementMs),
    callLong: (limitMs, work) => start(ownLine(limitMs), work, limitMs),
    close: () => {
      // The pool forgets who waits for a connection when it ends, so everyone is served first.
      closing ??= Promise.all(running).then(() => pool.end())
      return closing
    },
  }
}

/** A connection that breaks while nobody uses it is replaced by the next call; without a listener it would end the process. */
function ignore(): void {}

function createPool(PoolOf: typeof Pool, config: PoolConfig): Pool {
  return new PoolOf(config).on("error", ignore).on("connect", (client) => client.on("error", ignore))
}

function configOf({ url, limits }: PostgresSettings, statementMs: number): PoolConfig {
  return {
    connectionString: url,
    application_name: "holdfast",
    idleTimeoutMillis: limits.idleMs,
    connectionTimeoutMillis: limits.connectMs,
    statement_timeout: statementMs,
    lock_timeout: limits.statementMs,
    idle_in_transaction_session_timeout: statementMs,
    query_timeout: statementMs + graceMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: limits.connectMs,
  }
}

async function loadPg(): Promise<typeof import("pg")> {
  return import("pg").catch((error: unknown) => {
    const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"
    if (!missing) throw error
    throw new HoldfastError({ code: "package-missing", package: "pg", purpose: "the PostgreSQL store" })
  })
}
