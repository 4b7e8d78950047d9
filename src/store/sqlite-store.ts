import { resolve } from "node:path"
import { HoldfastError, refuseOption } from "../message/errors.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { createPause } from "./pace.ts"
import { type PackedText, packAtOnce, packText, toStorable } from "./packed-text.ts"
import { reserveLog, type StoreOfLogs } from "./reserved-log.ts"
import { type StoreKeys, sealedWith } from "./sealed-store.ts"
import { createLogReader, createSessionReader, createSqlJobs } from "./sql-calls.ts"
import { openSqliteDatabase, type SqliteDatabase, type SqliteTables } from "./sqlite-database.ts"
import { checksum, createSqliteDialect, sqliteHead, sqliteRows } from "./sqlite-dialect.ts"
import { createSqliteMemory } from "./sqlite-memory.ts"
import {
  type Alias,
  type Appended,
  type Batch,
  checkBatch,
  isSameBatch,
  possibleDuplicates,
  type SessionId,
  type Store,
  type StoredEntry,
  wholeRange,
} from "./store.ts"
import { ANY_SESSION } from "./stored-row.ts"

export type SqliteOptions = StoreKeys & {
  /** The file; it and its folder are created if they do not exist. */
  readonly path: string
  readonly now?: () => number
  /** How long a call waits while another program has the file locked. */
  readonly busyMs?: number
  /** With `normal`, a power failure may lose the last appends; a crash of the process loses nothing. */
  readonly durability?: "full" | "normal"
}

const sqliteNames = optionNames<SqliteOptions>()("path now busyMs durability key nextKey")

/** Longer than any of our calls holds the lock, shorter than a person waits. */
const BUSY_MS = 5000

/** A store in one file, which several processes may open at once. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  checkOptionNames(options, sqliteNames, "openSqliteStore")
  const { path, now = Date.now, busyMs = BUSY_MS, durability = "full" } = options
  if (path === "" || path.includes("\0") || !path.isWellFormed()) {
    refuseOption("path", "a file name", "none")
  }
  const database = await openSqliteDatabase({ path: resolve(path), busyMs, durability })
  return reserveLog(await sealedWith(createSqliteLogs(database, now), options))
}

/** Limit on the damage messages reported. */
const maxDamages = 100

/** Checks every page and index, which takes as long as reading the whole file. */
async function checkSqlite(database: SqliteDatabase): Promise<readonly string[]> {
  try {
    const rows = await database.read(ANY_SESSION, ({ all }) => all(`PRAGMA integrity_check(${maxDamages})`))
    const words = rows.map((row) => sqliteRows.text(row, "integrity_check"))
    return words.length === 1 && words[0] === "ok" ? [] : words
  } catch (error) {
    // Some damage aborts the check itself.
    if (!(error instanceof HoldfastError) || error.problem.code !== "store-corrupt") throw error
    return [error.problem.reason]
  }
}

export function createSqliteLogs(database: SqliteDatabase, now: () => number): StoreOfLogs {
  const dialect = createSqliteDialect(database)
  return {
    kind: "sqlite",
    isShared: false,
    append: (session, batch) => appendToSqlite(database, session, batch, now()),
    ...createLogReader(dialect),
    ...createSessionReader(dialect),
    copy: (from, to, upTo) => database.write(from, (tables) => copy(tables, [from, to].map(toStorable), upTo, now())),
    remove: (session) => database.write(session, (tables) => remove(tables, toStorable(session))),
    putAliases: (session, aliases) => database.write(session, (tables) => putAliases(tables, session, aliases)),
    jobs: createSqlJobs(dialect),
    memory: createSqliteMemory(database, dialect),
    check: () => checkSqlite(database),
    // The index marks deleted words and drops them only when it is merged.
    scrub: async () => {
      await database.maintain(["INSERT INTO memory_words (memory_words) VALUES ('optimize')"])
      await database.truncateLog()
    },
    usedBytes: () =>
      database.read(ANY_SESSION, ({ get }) => {
        const pragma = (name: string): number => sqliteRows.number(get(`PRAGMA ${name}`) ?? {}, name)
        return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
      }),
    vacuum: () =>
      database.maintain([
        "INSERT INTO memory_words (memory_words) VALUES ('optimize')",
        "VACUUM",
        "PRAGMA wal_checkpoint(TRUNCATE)",
      ]),
    close: async () => database.close(),
  }
}

/** A name belongs to the session it was last set for. Unchanged aliases are not written again. */
function putAliases({ run }: SqliteTables, session: SessionId, aliases: readonly Alias[]): void {
  const sql = `INSERT INTO aliases (name, session, entry) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET session = excluded.session, entry = excluded.entry
    WHERE session <> excluded.session OR entry IS NOT excluded.entry`
  for (const { name, entry } of aliases)
    run(sql, toStorable(name), toStorable(session), entry === undefined ? null : toStorable(entry))
}

/** A batch was not written yet, because these payloads are missing and not compressed yet. */
type MissingPayloads = { readonly type: "wanting"; readonly hashes: readonly string[] }

/** A batch prepared outside the transaction, to keep the transaction short. */
type PreparedBatch = {
  readonly session: SessionId
  readonly batch: Batch
  readonly bodies: readonly PackedText[]
  readonly payloads: Map<string, PackedText>
  readonly atMs: number
}

/** Appends a batch in one transaction. Large payloads are compressed only if they are not stored yet. */
async function appendToSqlite(
  database: SqliteDatabase,
  session: SessionId,
  batch: Batch,
  atMs: number,
): Promise<Appended> {
  checkBatch(batch)
  const ready: PreparedBatch = { session, batch, ...(await pack(batch)), atMs }
  for (;;) {
    const answer = await database.write(session, (tables) => append(tables, ready))
    if (answer.type !== "wanting") return answer
    for (const hash of answer.hashes) ready.payloads.set(hash, await packText(batch.payloads?.get(hash) ?? ""))
  }
}

/** Compresses all bodies and small payloads, in slices: there may be thousands. */
async function pack({ entries, payloads = new Map() }: Batch): Promise<Pick<PreparedBatch, "bodies" | "payloads">> {
  const bodies: PackedText[] = []
  const packed = new Map<string, PackedText>()
  const pause = createPause()
  for (const { body } of entries) {
    bodies.push(packAtOnce(body) ?? (await packText(body)))
    await pause()
  }
  for (const [hash, text] of payloads) {
    const small = packAtOnce(text)
    if (small !== undefined) packed.set(hash, small)
    await pause()
  }
  return { bodies, payloads: packed }
}

function append(tables: SqliteTables, ready: PreparedBatch): Appended | MissingPayloads {
  const { session, batch } = ready
  const head = sqliteHead(tables, session)
  const last = batch.entries.at(-1)
  if (batch.after > head.seq) return { type: "conflict", head }
  if (last === undefined) return { type: "appended" }
  if (batch.after < head.seq) {
    const sql = "SELECT hash FROM entries WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq"
    const there = tables.all(sql, toStorable(session), batch.after, last.seq).map((row) => sqliteRows.text(row, "hash"))
    return isSameBatch(batch, there) ? { type: "appended" } : { type: "conflict", head }
  }
  const duplicate = duplicateIn(tables, ready)
  if (duplicate !== undefined) return { type: "duplicate", seq: duplicate }
  const absent = absentPayloads(tables, ready)
  const wanting = absent.filter((hash) => !ready.payloads.has(hash))
  if (wanting.length > 0) return { type: "wanting", hashes: wanting }
  write(tables, ready, last, absent)
  return { type: "appended" }
}

function duplicateIn({ get }: SqliteTables, { session, batch }: PreparedBatch): number | undefined {
  const sql = "SELECT seq FROM entries WHERE session = ? AND parent = ? AND key = ? LIMIT 1"
  for (const { parent, key } of possibleDuplicates(batch)) {
    const row = get(sql, toStorable(session), parent, toStorable(key))
    if (row !== undefined) return sqliteRows.number(row, "seq")
  }
  return undefined
}

function absentPayloads({ get }: SqliteTables, { session, batch }: PreparedBatch): readonly string[] {
  const sql = "SELECT 1 FROM payloads WHERE session = ? AND hash = ?"
  return [...(batch.payloads?.keys() ?? [])].filter((hash) => !get(sql, toStorable(session), toStorable(hash)))
}

function write({ run }: SqliteTables, ready: PreparedBatch, last: StoredEntry, absent: readonly string[]): void {
  const { batch, bodies, payloads, atMs } = ready
  const session = toStorable(ready.session)
  run(
    `INSERT INTO sessions (session, tenant, agent, head_seq, head_hash, created_ms, updated_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      tenant = CASE tenant WHEN '' THEN excluded.tenant ELSE tenant END,
      agent = CASE agent WHEN '' THEN excluded.agent ELSE agent END,
      head_seq = excluded.head_seq, head_hash = excluded.head_hash, updated_ms = excluded.updated_ms`,
    ...[
      session,
      toStorable(batch.tenant ?? ""),
      toStorable(batch.agent ?? ""),
      last.seq,
      toStorable(last.hash),
      atMs,
      atMs,
    ],
  )
  for (const [at, entry] of batch.entries.entries()) {
    const body = bodies[at] ?? ""
    const { seq, hash, type, parent = null, key } = entry
    run(
      "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[session, seq, toStorable(hash), toStorable(type), entry.atMs, parent],
      ...[key === undefined ? null : toStorable(key), checksum(entry, body), isPacked(body), body],
    )
  }
  for (const hash of absent) {
    const body = payloads.get(hash) ?? ""
    run("INSERT INTO payloads VALUES (?, ?, ?, ?)", session, toStorable(hash), isPacked(body), body)
  }
}

function isPacked(body: PackedText): number {
  return typeof body === "string" ? 0 : 1
}

function copy(
  { get, run }: SqliteTables,
  [from = "", to = ""]: readonly string[],
  upTo: number,
  atMs: number,
): boolean {
  if (get("SELECT 1 FROM sessions WHERE session = ?", to) !== undefined) return false
  const last = wholeRange({ to: upTo }).to
  const copied = run(
    `INSERT INTO sessions (session, tenant, agent, head_seq, head_hash, created_ms, updated_ms)
      SELECT ?, tenant, agent, seq, hash, ?, ? FROM entries JOIN sessions USING (session)
      WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`,
    ...[to, atMs, atMs, from, last],
  )
  if (copied === 0) return true
  run(
    `INSERT INTO entries SELECT ?, seq, hash, type, at_ms, parent, key, checksum, packed, body FROM entries
      WHERE session = ? AND seq <= ? ORDER BY seq`,
    ...[to, from, last],
  )
  run("INSERT INTO payloads SELECT ?, hash, packed, body FROM payloads WHERE session = ?", to, from)
  return true
}

function remove({ run }: SqliteTables, session: string): boolean {
  const removed = [
    run("DELETE FROM sessions WHERE session = ?", session),
    run("DELETE FROM summaries WHERE session = ?", session),
    run("DELETE FROM jobs WHERE session = ?", session),
    run("DELETE FROM memory_words WHERE rowid IN (SELECT place FROM memory WHERE session = ?)", session),
    run("DELETE FROM memory WHERE session = ?", session),
    run("DELETE FROM aliases WHERE session = ?", session),
  ]
  return removed.some((count) => count > 0)
}
