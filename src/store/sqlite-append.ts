import { checkBatch, isSameBatch, possibleDuplicates } from "./batch.ts"
import { type PackedText, packAtOnce, packText } from "./packed-text.ts"
import type { SqliteDatabase, SqliteTables } from "./sqlite-database.ts"
import { checksum, sqliteHead } from "./sqlite-log.ts"
import { numberOf, textOf } from "./sqlite-row.ts"
import { toStorable } from "./storable-text.ts"
import type { Appended, Batch, SessionId, StoredEntry } from "./store.ts"

/** A batch was not written yet, because these payloads are not there and nobody has packed them. */
type Wanting = { readonly type: "wanting"; readonly hashes: readonly string[] }

/** A batch made ready outside the transaction, which so stays short. */
type Ready = {
  readonly session: SessionId
  readonly batch: Batch
  readonly bodies: readonly PackedText[]
  readonly payloads: Map<string, PackedText>
  readonly atMs: number
}

/** Append a batch in one transaction. Of large payloads only those that are not there are packed. */
export async function appendToSqlite(
  database: SqliteDatabase,
  session: SessionId,
  batch: Batch,
  atMs: number,
): Promise<Appended> {
  checkBatch(batch)
  const bodies = await Promise.all(batch.entries.map(({ body }) => packText(body)))
  const ready: Ready = { session, batch, bodies, payloads: packedAtOnce(batch), atMs }
  for (;;) {
    const answer = await database.write(session, (tables) => append(tables, ready))
    if (answer.type !== "wanting") return answer
    for (const hash of answer.hashes) ready.payloads.set(hash, await packText(batch.payloads?.get(hash) ?? ""))
  }
}

function packedAtOnce({ payloads = new Map() }: Batch): Map<string, PackedText> {
  const packed = new Map<string, PackedText>()
  for (const [hash, text] of payloads) {
    const small = packAtOnce(text)
    if (small !== undefined) packed.set(hash, small)
  }
  return packed
}

function append(tables: SqliteTables, ready: Ready): Appended | Wanting {
  const { session, batch } = ready
  const head = sqliteHead(tables, session)
  const last = batch.entries.at(-1)
  if (batch.after > head.seq) return { type: "conflict", head }
  if (last === undefined) return { type: "appended" }
  if (batch.after < head.seq) {
    const sql = "SELECT hash FROM entries WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq"
    const there = tables.all(sql, toStorable(session), batch.after, last.seq).map((row) => textOf(row, "hash"))
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

function duplicateIn({ get }: SqliteTables, { session, batch }: Ready): number | undefined {
  const sql = "SELECT seq FROM entries WHERE session = ? AND parent = ? AND key = ? LIMIT 1"
  for (const { parent, key } of possibleDuplicates(batch)) {
    const row = get(sql, toStorable(session), parent, toStorable(key))
    if (row !== undefined) return numberOf(row, "seq")
  }
  return undefined
}

function absentPayloads({ get }: SqliteTables, { session, batch }: Ready): readonly string[] {
  const sql = "SELECT 1 FROM payloads WHERE session = ? AND hash = ?"
  return [...(batch.payloads?.keys() ?? [])].filter((hash) => !get(sql, toStorable(session), toStorable(hash)))
}

function write({ run }: SqliteTables, ready: Ready, last: StoredEntry, absent: readonly string[]): void {
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
