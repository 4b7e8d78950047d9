import type { Client, Pool, PoolConfig } from "pg"
import { HoldfastError, loadOptional, type Problem, refuseOption } from "../message/errors.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import type { StoreKeys } from "./sealed-store.ts"
import { createRowReader, type StoredRow } from "./stored-row.ts"

export const postgresRows = createRowReader("postgres")

/** A database connection with limits on everything. It throws `HoldfastError`s, and no error quotes the URL. */
export type Database = {
  /** Runs statements separately. The work is retried when the connection fails, so it must be repeatable. */
  readonly call: <Value>(work: DatabaseWork<Value>) => Promise<Value>
  readonly transact: <Value>(work: DatabaseWork<Value>) => Promise<Value>
  /** Runs long statements, on a separate connection. */
  readonly callLong: <Value>(limitMs: number, work: DatabaseWork<Value>) => Promise<Value>
  /**
   * Receives the notifications of a channel, on a connection of its own that is reopened when it breaks. A call without a payload means
   * that some may have been missed. Returns a function that stops it.
   */
  readonly listen: (channel: string, listener: (payload: string | undefined) => void) => () => void
  readonly close: () => Promise<void>
}

/** How long to wait beyond the server's own timeout before the connection counts as dead. */
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

  const fromPool = async (): Promise<DatabaseConnection> => {
    const client = await pool.connect()
    return { query: (config) => client.query(config), release: async (broken) => client.release(broken) }
  }
  const ownConnection = (limitMs: number) => async (): Promise<DatabaseConnection> => {
    const client = new pg.Client(configOf(settings, limitMs)).on("error", ignore)
    await client.connect()
    return { query: (config) => client.query(config), release: () => client.end() }
  }
  const start = <Value>(
    open: () => Promise<DatabaseConnection>,
    work: DatabaseWork<Value>,
    statementMs: number,
  ): Promise<Value> => {
    if (closing !== undefined) return Promise.reject(new HoldfastError({ code: "store-closed", store: "postgres" }))
    const call = withRetries(open, work, { connectMs: limits.connectMs, statementMs, now })
    const settled = call.then(ignore, ignore)
    running.add(settled)
    void settled.then(() => running.delete(settled))
    return call
  }
  const listening = new Set<() => Promise<void>>()
  return {
    listen: (channel, listener) => {
      const end = keepListening(() => new pg.Client(configOf(settings, limits.statementMs)), channel, listener)
      listening.add(end)
      return () => {
        listening.delete(end)
        void end()
      }
    },
    call: (work) => start(fromPool, work, limits.statementMs),
    transact: (work) => start(fromPool, inTransaction(work), limits.statementMs),
    callLong: (limitMs, work) => start(ownConnection(limitMs), work, limitMs),
    close: () => {
      // The pool drops waiting callers when it ends, so wait for all of them first.
      closing ??= Promise.all(running).then(async () => {
        await Promise.all([...listening].map((end) => end()))
        await pool.end()
      })
      return closing
    },
  }
}

/** Delay before a lost connection is reopened. */
const reconnectMs = 2000

function keepListening(
  open: () => Client,
  channel: string,
  listener: (payload: string | undefined) => void,
): () => Promise<void> {
  let ended = false
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  const connect = async (): Promise<void> => {
    const line = open()
    client = line
    const lost = (): void => {
      if (ended || client !== line) return
      client = undefined
      timer = setTimeout(() => void connect(), reconnectMs)
      timer.unref()
      line.end().catch(ignore)
    }
    line.on("error", lost).on("end", lost)
    line.on("notification", ({ channel: on, payload }) => {
      if (on === channel) listener(payload ?? "")
    })
    try {
      await line.connect()
      await line.query(`listen ${channel}`)
      listener(undefined)
    } catch {
      // Whatever the error was, the next attempt finds out; calls in the meantime report it.
      lost()
    }
  }
  void connect()
  return async () => {
    ended = true
    clearTimeout(timer)
    await client?.end().catch(ignore)
  }
}

/** A connection that breaks while idle is replaced by the next call; without a listener the error would end the process. */
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

const loadPg = (): Promise<typeof import("pg")> =>
  loadOptional(
    () => import("pg"),
    "the PostgreSQL store",
    () => "pg",
  )

export type PostgresOptions = StoreKeys & {
  /** `postgres://user:password@host:port/database`, with `?sslmode=…` and the like. */
  readonly url: string
  readonly pool?: Partial<PoolLimits>
  /** The schema of the tables. Two stores in different schemas of one database are independent. */
  readonly schema?: string
  readonly now?: () => number
}

type PoolLimits = {
  readonly max: number
  /** An idle connection is closed after this time. */
  readonly idleMs: number
  /** Time limit for getting a connection, and for retrying a call without one. */
  readonly connectMs: number
  /** Time limit for one statement, including waiting for locks. */
  readonly statementMs: number
}

/** `schema` is quoted for use in statements. */
type PostgresSettings = { readonly url: string; readonly schema: string; readonly limits: PoolLimits }

/** Eight concurrent sessions wrote 1,500 appends of 4 KB a second on two busy cores; a server accepts a hundred connections by default. */
const defaults: PoolLimits = { max: 10, idleMs: 30_000, connectMs: 5_000, statementMs: 10_000 }

/** The longest timer (2^31 - 1). */
const largest = 2_147_483_647

/** PostgreSQL cuts names at 63 bytes. */
const maxSchemaName = 63

/** Names of the options. An invalid one is an `option-invalid` Problem, which never quotes the URL. */
const postgresNames = optionNames<PostgresOptions>()("url pool schema now key nextKey")

export function readPostgresOptions(options: PostgresOptions): PostgresSettings {
  checkOptionNames(options, postgresNames, "openPostgresStore")
  const { url, pool = {}, schema = "holdfast" } = options
  checkOptionNames(pool, Object.keys(defaults), "openPostgresStore", "pool")
  checkPlace(url, schema, maxSchemaName)
  const limits = { ...defaults, ...present(pool) }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isInteger(value) || value < 1 || value > largest)
      refuseOption(`pool.${name}`, "a whole number above 0", `${value}`)
  }
  return { url, schema: `"${schema}"`, limits }
}

/** Refuses a wrong url, which is never quoted, and a schema whose name is not plain or is one of the server's own. */
export function checkPlace(url: string, schema: string, maxLength: number): void {
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol))
    refuseOption("url", "a url that begins with postgres:// or postgresql://", "something else")
  if (schema.length > maxLength || !/^(?!pg_)[a-z_][a-z0-9_]*$/.test(schema))
    refuseOption("schema", "a name of a-z, 0-9 and _", JSON.stringify(schema.slice(0, 80)))
}

export type QueryResult = { readonly rows: readonly StoredRow[]; readonly count: number }

/** A named statement is planned once per connection. */
export type SqlStatement = { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }
export type RunStatement = (statement: SqlStatement) => Promise<QueryResult>

/** Work on one connection. With `again`, an earlier attempt was interrupted and may or may not have taken effect. */
type DatabaseWork<Value> = (ask: RunStatement, again: boolean) => Promise<Value>

type DatabaseConnection = {
  readonly query: (config: Query) => Promise<{ readonly rows: StoredRow[]; readonly rowCount: number | null }>
  readonly release: (broken: boolean) => Promise<void>
}
type Query = { readonly name?: string; readonly text: string; readonly values: unknown[] }

type RetryLimits = { readonly connectMs: number; readonly statementMs: number; readonly now: () => number }

/** Seven attempts with pauses that double from 50 ms take three seconds: longer than a restart of the server. */
const maxTries = 7
const firstPauseMs = 50

/**
 * Retries until the work succeeds, fails finally, or takes too long. Only errors of the database are retried; errors of the work itself are
 * thrown to the caller.
 */
async function withRetries<Value>(
  open: () => Promise<DatabaseConnection>,
  work: DatabaseWork<Value>,
  { connectMs, statementMs, now }: RetryLimits,
): Promise<Value> {
  const began = now()
  let again = false
  for (let tries = 1; ; tries += 1) {
    let failure: Failure | undefined
    let connection: DatabaseConnection | undefined
    let broken = true
    const note = (error: unknown): never => {
      failure = readFailure(error, connection !== undefined, statementMs)
      throw new HoldfastError(failure.problem)
    }
    const pauseMs = firstPauseMs * 2 ** (tries - 1)
    try {
      connection = await open().catch(note)
      const value = await work(askOn(connection, note), again)
      broken = false
      return value
    } catch (error) {
      if (failure === undefined) throw error
      const late = now() - began + pauseMs > connectMs
      if (failure.outcome === "final" || tries === maxTries || late) throw new HoldfastError(failure.problem)
      again ||= failure.outcome === "unknown"
    } finally {
      // A connection with a failure may be inside a transaction: do not reuse it.
      await connection?.release(broken)
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function askOn({ query }: DatabaseConnection, note: (error: unknown) => never): RunStatement {
  return async ({ name, text, values = [] }) => {
    const config = { ...(name === undefined ? {} : { name }), text, values: [...values] }
    const { rows, rowCount } = await query(config).catch(note)
    return { rows, count: rowCount ?? 0 }
  }
}

export function inTransaction<Value>(work: DatabaseWork<Value>): DatabaseWork<Value> {
  return async (ask, again) => {
    await ask({ text: "begin isolation level read committed" })
    const value = await work(ask, again)
    await ask({ text: "commit" })
    return value
  }
}

/** The meaning of a database error, and whether a retry can help. */
type Failure = {
  readonly problem: Problem
  /**
   * `undone`: nothing happened, and a retry may succeed. `unknown`: the connection was lost, and it is unknown what took effect. `final`:
   * nothing happened, and an immediate retry would not help.
   */
  readonly outcome: "undone" | "unknown" | "final"
}

/** A serialization failure or deadlock: rolled back, and meant to be retried. */
const rolledBack = /^40(001|P01)$/

/** The server is starting, stopping, out of connections, or read-only. */
const awayForNow = /^(57P03|53300|53400|25006)$/

/** Refused while connecting: no address, no route, no listener. */
const neverConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/

/** The connection broke: network errors, SQLSTATE class 08, and a server shutdown. */
const connectionLost = /^(ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|08...|57P0[1245])$/

/** The code of a system or database error, which contains neither host nor user, unlike its message. */
const codeShape = /^[A-Z0-9_]{2,48}$/

/** Classifies an error of `pg`. Its message is never shown: it may quote the address, the user or a value. */
export function readFailure(error: unknown, connected: boolean, waitedMs: number): Failure {
  if (error instanceof HoldfastError) return { problem: error.problem, outcome: "final" }
  const code = codeOf(error)
  const unavailable = (reason: string): Problem => ({ code: "store-unavailable", store: "postgres", reason })
  if (code === undefined) {
    const reason = connected
      ? "the connection was lost or gave no answer in time"
      : "no connection could be made in time"
    return { problem: unavailable(reason), outcome: connected ? "unknown" : "undone" }
  }
  const named = unavailable(code)
  if (rolledBack.test(code))
    return { problem: { code: "store-locked", store: "postgres", waitedMs }, outcome: "undone" }
  if (awayForNow.test(code) || neverConnected.test(code)) return { problem: named, outcome: "undone" }
  if (connectionLost.test(code)) return { problem: named, outcome: connected ? "unknown" : "undone" }
  return { problem: finalProblem(code, waitedMs) ?? named, outcome: "final" }
}

function finalProblem(code: string, waitedMs: number): Problem | undefined {
  switch (code) {
    case "53100":
      return { code: "store-full", store: "postgres" }
    case "55P03":
    case "57014":
      return { code: "store-locked", store: "postgres", waitedMs }
    case "XX001":
    case "XX002":
      return { code: "store-corrupt", store: "postgres", session: "(unknown)", reason: code }
    default:
      return undefined
  }
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined
  return typeof code === "string" && codeShape.test(code) ? code : undefined
}
