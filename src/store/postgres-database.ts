import type { Client, Pool, PoolConfig } from "pg"
import { assert } from "../message/assert.ts"
import { HoldfastError, type Problem } from "../message/errors.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import { fromStorable } from "./packed-text.ts"

/** A database that is asked with limits on everything. What it throws is a `HoldfastError`, and no error quotes the url. */
export type Database = {
  /** Every statement for itself. The work is tried again when the connection fails: it must bear being repeated. */
  readonly call: <Value>(work: DatabaseWork<Value>) => Promise<Value>
  /** All statements or none. */
  readonly transact: <Value>(work: DatabaseWork<Value>) => Promise<Value>
  /** Statements that take long, on a connection of their own. */
  readonly callLong: <Value>(limitMs: number, work: DatabaseWork<Value>) => Promise<Value>
  /**
   * Hear what is notified on a channel, on a connection of its own that is made anew when it breaks. A call without a payload says that
   * something may have been missed. The answer ends it.
   */
  readonly listen: (channel: string, listener: (payload: string | undefined) => void) => () => void
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
  const start = <Value>(open: () => Promise<Line>, work: DatabaseWork<Value>, statementMs: number): Promise<Value> => {
    if (closing !== undefined) return Promise.reject(new HoldfastError({ code: "store-closed", store: "postgres" }))
    const call = persist(open, work, { connectMs: limits.connectMs, statementMs, now })
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
    callLong: (limitMs, work) => start(ownLine(limitMs), work, limitMs),
    close: () => {
      // The pool forgets who waits for a connection when it ends, so everyone is served first.
      closing ??= Promise.all(running).then(async () => {
        await Promise.all([...listening].map((end) => end()))
        await pool.end()
      })
      return closing
    },
  }
}

/** A connection that was lost is made anew so much later. */
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
      // Whatever it was, the next try finds out; what is asked meanwhile says it.
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

export type PostgresOptions = {
  /** `postgres://user:password@host:port/database`, with `?sslmode=…` and the like. */
  readonly url: string
  readonly pool?: Partial<PoolLimits>
  /** Where the tables are. Two stores of different schemas in one database know nothing of each other. */
  readonly schema?: string
  readonly now?: () => number
}

type PoolLimits = {
  /** Connections at once. */
  readonly max: number
  /** A connection that nobody needed for so long is closed. */
  readonly idleMs: number
  /** The longest wait for a connection, and how long a call that found none goes on trying. */
  readonly connectMs: number
  /** The longest that one statement may take, waiting for locks included. */
  readonly statementMs: number
}

/** `schema` is in quotes, ready to stand in a statement. */
type PostgresSettings = { readonly url: string; readonly schema: string; readonly limits: PoolLimits }

/** Eight sessions at once wrote 1,500 appends of 4 KB a second on two busy cores; a server takes a hundred connections by default. */
const defaults: PoolLimits = { max: 10, idleMs: 30_000, connectMs: 5_000, statementMs: 10_000 }

/** The longest wait that a timer takes (2^31 - 1). */
const largest = 2_147_483_647

/** A plain name that nothing can hide in. PostgreSQL cuts names at 63 bytes and keeps those in pg_ for itself. */
const schemaShape = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/

/** The options in full, or an `option-invalid` Problem, which never quotes the url. */
const postgresNames = optionNames<PostgresOptions>({ url: true, pool: true, schema: true, now: true })

export function readPostgresOptions(options: PostgresOptions): PostgresSettings {
  checkOptionNames(options, postgresNames, "openPostgresStore")
  const { url, pool = {}, schema = "holdfast" } = options
  checkOptionNames(pool, Object.keys(defaults), "openPostgresStore", "pool")
  if (!isPostgresUrl(url)) refuse("url", "a url that begins with postgres:// or postgresql://", "something else")
  if (!schemaShape.test(schema)) refuse("schema", "a name of a-z, 0-9 and _", JSON.stringify(schema.slice(0, 80)))
  const limits = { ...defaults, ...present(pool) }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isInteger(value) || value < 1 || value > largest)
      refuse(`pool.${name}`, "a whole number above 0", `${value}`)
  }
  return { url, schema: `"${schema}"`, limits }
}

function isPostgresUrl(url: string): boolean {
  return URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)
}

function refuse(option: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found })
}

export type PostgresRow = Readonly<Record<string, unknown>>
export type QueryResult = { readonly rows: readonly PostgresRow[]; readonly count: number }

/** A statement with a name is planned once for each connection. */
export type SqlStatement = { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }
export type RunStatement = (statement: SqlStatement) => Promise<QueryResult>

/** Work on one connection. With `again`, an earlier try was cut off, and it may or may not have taken effect. */
export type DatabaseWork<Value> = (ask: RunStatement, again: boolean) => Promise<Value>

/** A connection for the length of one try. */
type Line = {
  readonly query: (config: Query) => Promise<{ readonly rows: PostgresRow[]; readonly rowCount: number | null }>
  readonly release: (broken: boolean) => Promise<void>
}
type Query = { readonly name?: string; readonly text: string; readonly values: unknown[] }

/** How long to go on trying, and how long one statement may take. */
type Patience = { readonly connectMs: number; readonly statementMs: number; readonly now: () => number }

/** Seven tries with pauses that double from 50 ms go on for three seconds: longer than a restart of the server takes. */
const mostTries = 7
const firstPauseMs = 50

/** Try until it works, fails for good, or takes too long. */
async function persist<Value>(
  open: () => Promise<Line>,
  work: DatabaseWork<Value>,
  patience: Patience,
): Promise<Value> {
  const began = patience.now()
  let again = false
  for (let tries = 1; ; tries += 1) {
    const tried: Tried<Value> = await tryOnce(open, work, again, patience.statementMs)
    if (tried.type === "done") return tried.value
    const { problem, outcome }: Failure = tried.failure
    const pauseMs = firstPauseMs * 2 ** (tries - 1)
    const late = patience.now() - began + pauseMs > patience.connectMs
    if (outcome === "final" || tries === mostTries || late) throw new HoldfastError(problem)
    again ||= outcome === "unknown"
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

type Tried<Value> =
  | { readonly type: "done"; readonly value: Value }
  | { readonly type: "failed"; readonly failure: Failure }

/** Only what the database throws is a failure; what the work throws by itself goes on to the caller. */
async function tryOnce<Value>(
  open: () => Promise<Line>,
  work: DatabaseWork<Value>,
  again: boolean,
  statementMs: number,
): Promise<Tried<Value>> {
  let failure: Failure | undefined
  let line: Line | undefined
  let broken = true
  const note = (error: unknown): never => {
    failure = readFailure(error, line !== undefined, statementMs)
    throw new HoldfastError(failure.problem)
  }
  try {
    line = await open().catch(note)
    const value = await work(askOn(line, note), again)
    broken = false
    return { type: "done", value }
  } catch (error) {
    if (failure === undefined) throw error
    return { type: "failed", failure }
  } finally {
    // A connection on which something failed may be in the middle of a transaction: it is not used again.
    await line?.release(broken)
  }
}

function askOn({ query }: Line, note: (error: unknown) => never): RunStatement {
  return async ({ name, text, values = [] }) => {
    const config = { ...(name === undefined ? {} : { name }), text, values: [...values] }
    const { rows, rowCount } = await query(config).catch(note)
    return { rows, count: rowCount ?? 0 }
  }
}

/** The work as one transaction. */
export function inTransaction<Value>(work: DatabaseWork<Value>): DatabaseWork<Value> {
  return async (ask, again) => {
    await ask({ text: "begin isolation level read committed" })
    const value = await work(ask, again)
    await ask({ text: "commit" })
    return value
  }
}

/** What an error of the database means, and whether trying again can help. */
type Failure = {
  readonly problem: Problem
  /**
   * `undone`: nothing happened, and the next try may succeed. `unknown`: the connection was lost, and nobody knows what was done before.
   * `final`: nothing happened, and trying again at once would change nothing.
   */
  readonly outcome: "undone" | "unknown" | "final"
}

/** A serialization failure and a deadlock: rolled back, and meant to be tried again. */
const rolledBack = /^40(001|P01)$/

/** The server starts, stops, has no connection left, or has become a read-only copy. */
const awayForNow = /^(57P03|53300|53400|25006)$/

/** Refused while connecting: no address, no route, nobody there. */
const neverConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/

/** The connection broke: the errors of the network, SQLSTATE class 08, and a server that was told to stop. */
const connectionLost = /^(ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|08...|57P0[1245])$/

/** The code of a system or database error: it names neither host nor user, unlike its message. */
const codeShape = /^[A-Z0-9_]{2,48}$/

/** Read an error of `pg`. Its message is never told: it may quote the address, the user or a value. */
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

/** A column that our own tables promise to be a text. */
export function textColumn(row: PostgresRow, column: string): string {
  const value = row[column]
  assert(typeof value === "string", `column ${column} is no text`)
  return fromStorable(value)
}

export function numberColumn(row: PostgresRow, column: string): number {
  const value = row[column]
  assert(typeof value === "number", `column ${column} is no number`)
  return value
}

/** `undefined` where the column is null. */
export function textOrNoneIn(row: PostgresRow, column: string): string | undefined {
  return row[column] === null ? undefined : textColumn(row, column)
}

export function numberOrNoneIn(row: PostgresRow, column: string): number | undefined {
  return row[column] === null ? undefined : numberColumn(row, column)
}

export function textsIn(row: PostgresRow, column: string): readonly string[] {
  const value = row[column]
  assert(Array.isArray(value), `column ${column} is no list`)
  return value.map((text: unknown) => {
    assert(typeof text === "string", `column ${column} holds something that is no text`)
    return fromStorable(text)
  })
}
