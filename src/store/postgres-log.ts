import { assert } from "../message/assert.ts"
import { packText, toStorable } from "./packed-text.ts"
import {
  type Database,
  inTransaction,
  postgresRows,
  type RunStatement,
  type SqlStatement,
} from "./postgres-database.ts"
import {
  type Appended,
  type Batch,
  checkBatch,
  type Head,
  isSameBatch,
  largestSeq,
  noHead,
  possibleDuplicates,
  type Store,
  wholeRange,
} from "./store.ts"

/** Limit on restarts if a log is deleted while it is written to. */
const mostRounds = 3

/**
 * One statement, so it is one round trip and atomic: it locks the session's row, and writes only if the log still ends where the batch
 * begins. The same batch written again finds its own hashes, so it may be repeated if the reply was lost.
 */
export function createAppend(database: Database, schema: string, now: () => number): Store["append"] {
  return async (session, batch) => {
    checkBatch(batch)
    assert(batch.after + batch.entries.length <= largestSeq, "the log is too long for its table")
    const id = toStorable(session)
    const write = await writeStatement(schema, id, batch, now())
    return database.call(async (ask): Promise<Appended> => {
      for (let round = 1; ; round += 1) {
        if (batch.entries.length > 0 && (await ask(write)).count > 0) return { type: "appended" }
        const { head, same, duplicate } = await currentState(ask, schema, id, batch)
        if (same) return { type: "appended" }
        if (duplicate !== undefined && head.seq === batch.after) return { type: "duplicate", seq: duplicate }
        if (head.seq !== batch.after || round === mostRounds) return { type: "conflict", head }
      }
    })
  }
}

/** The new end of a log; a session keeps the first agent and tenant that it is given. */
const newHead = `head_seq = $3, head_hash = $4, updated_ms = $5,
    agent = case when s.agent = '' then ($2::text[])[1] else s.agent end,
    tenant = case when s.tenant = '' then ($2::text[])[2] else s.tenant end`

/** The first append creates the session's row; later ones never do, so that they cannot outlive a deletion. */
const beginLog = (schema: string): string => `
  insert into ${schema}.session as s (id, agent, tenant, head_seq, head_hash, created_ms, updated_ms)
  values ($1, ($2::text[])[1], ($2::text[])[2], $3, $4, $5, $5)
  on conflict (id) do update set ${newHead}
  where s.head_seq = $6
  returning id`

const continueLog = (schema: string, isCopy: boolean): string => `
  update ${schema}.session as s set ${newHead}
  where s.id = $1 and s.head_seq = $6${isCopy ? "" : ` and not exists (${duplicates(schema, "$12", "$13")})`}
  returning id`

/** The entries with the same parent and key as these messages. */
const duplicates = (schema: string, parents: string, keys: string): string => `
  select e.seq from unnest(${parents}::integer[], ${keys}::text[]) as said (parent, key)
  join ${schema}.entry e on e.session = $1 and e.parent = said.parent and e.key = said.key`

const writePayloads = (schema: string): string => `, texts as (
    insert into ${schema}.payload (session, hash, packed, data)
    select head.id, p.hash, p.packed, substring($7::bytea from p.start for p.length)
    from head, unnest($16::text[], $17::boolean[], $18::integer[], $19::integer[]) as p (hash, packed, start, length)
    on conflict do nothing
  )`

const writeEntries = (schema: string): string => `
  insert into ${schema}.entry (session, seq, hash, type, at_ms, parent, key, body)
  select head.id, e.seq, e.hash, e.type, e.at_ms, e.parent, e.key,
    convert_from(substring($7::bytea from e.start for e.length), 'UTF8')
  from head, unnest($8::integer[], $9::text[], $10::text[], $11::double precision[], $12::integer[], $13::text[],
    $14::integer[], $15::integer[]) as e (seq, hash, type, at_ms, parent, key, start, length)`

/** Bodies and payloads are sent as one byte string: nothing must be escaped, and the statement is the same for any number of them. */
async function writeStatement(schema: string, id: string, batch: Batch, nowMs: number): Promise<SqlStatement> {
  const { after, entries, payloads = new Map<string, string>(), agent = "", tenant = "", isCopy = false } = batch
  const packed = await Promise.all([...payloads.values()].map(packText))
  const { bytes, starts, lengths } = joinBytes([...entries.map(({ body }) => toStorable(body)), ...packed])
  const head = after === 0 ? beginLog(schema) : continueLog(schema, isCopy)
  const hashes = [...payloads.keys()].map(toStorable)
  const some = hashes.length > 0
  const ofPayloads = [hashes, packed.map((data) => typeof data !== "string")]
  return {
    name: `append-${after === 0 ? "first" : isCopy ? "copy" : "next"}-${some ? "with" : "without"}-payloads`,
    text: `with head as (${head})${some ? writePayloads(schema) : ""}${writeEntries(schema)}`,
    values: [
      id,
      [agent, tenant].map(toStorable),
      after + entries.length,
      toStorable(entries.at(-1)?.hash ?? ""),
      nowMs,
      after,
      bytes,
      entries.map(({ seq }) => seq),
      entries.map(({ hash }) => toStorable(hash)),
      entries.map(({ type }) => toStorable(type)),
      entries.map(({ atMs }) => atMs),
      entries.map(({ parent }) => parent ?? null),
      entries.map(({ key }) => (key === undefined ? null : toStorable(key))),
      starts.slice(0, entries.length),
      lengths.slice(0, entries.length),
      ...(some ? [...ofPayloads, starts.slice(entries.length), lengths.slice(entries.length)] : []),
    ],
  }
}

/** The concatenated pieces, and where each starts, counted from 1 as in SQL. */
function joinBytes(pieces: readonly (string | Uint8Array)[]): {
  readonly bytes: Buffer
  readonly starts: readonly number[]
  readonly lengths: readonly number[]
} {
  const parts = pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece, "utf8") : piece))
  const starts: number[] = []
  let start = 1
  for (const { length } of parts) {
    starts.push(start)
    start += length
  }
  return { bytes: Buffer.concat(parts), starts, lengths: parts.map(({ length }) => length) }
}

async function currentState(
  ask: RunStatement,
  schema: string,
  id: string,
  batch: Batch,
): Promise<{ readonly head: Head; readonly same: boolean; readonly duplicate: number | undefined }> {
  const said = possibleDuplicates(batch)
  const { rows } = await ask({
    name: "append-again",
    text: `select s.head_seq, s.head_hash, array(
      select e.hash from ${schema}.entry e where e.session = $1 and e.seq > $2 and e.seq <= $3 order by e.seq
    ) as hashes, (select min(seq) from (${duplicates(schema, "$4", "$5")}) as there) as duplicate
    from ${schema}.session s where s.id = $1`,
    values: [
      id,
      batch.after,
      batch.after + batch.entries.length,
      said.map(({ parent }) => parent),
      said.map(({ key }) => toStorable(key)),
    ],
  })
  const [row] = rows
  const head = row === undefined ? noHead : postgresRows.head(row)
  const hashes = row === undefined ? [] : postgresRows.texts(row, "hashes")
  const duplicate = typeof row?.duplicate === "number" ? row.duplicate : undefined
  return { head, same: batch.after <= head.seq && isSameBatch(batch, hashes), duplicate }
}

/** Every table with session data except aliases, with its session column. The session's own row is first: it is the lock. */
const tables = [
  ["session", "id"],
  ["entry", "session"],
  ["payload", "session"],
  ["summary", "session"],
  ["job", "session"],
  ["memory", "session"],
  ["replica_event", "session"],
] as const

/** Copying or deleting a session of gigabytes takes minutes. */
const longMs = 10 * 60_000

export function createRemove(database: Database, schema: string): Store["remove"] {
  const deletions = deletionsIn(schema)
  return async (session) => {
    let removed = false
    const work = inTransaction(async (ask) => {
      for (const text of deletions) {
        // Rows found by an earlier attempt may be gone by now.
        removed = (await ask({ text, values: [toStorable(session)] })).count > 0 || removed
      }
    })
    await database.callLong(longMs, work)
    return removed
  }
}

/** Locks aliases in the order in which they are written, to avoid deadlocks. */
function deletionsIn(schema: string): readonly string[] {
  const aliases = `delete from ${schema}.alias using (
      select name as mine from ${schema}.alias where session = $1 order by name for update
    ) as taken where name = mine and session = $1`
  return [...tables.map(([table, column]) => `delete from ${schema}.${table} where ${column} = $1`), aliases]
}

/** One statement, so that it sees a consistent snapshot of the other session. */
export function createCopy(database: Database, schema: string, now: () => number): Store["copy"] {
  const copy = `with head as (
    insert into ${schema}.session (id, tenant, agent, head_seq, head_hash, created_ms, updated_ms)
    select $2, s.tenant, s.agent, e.seq, e.hash, $4, $4 from ${schema}.session s, lateral (
      select seq, hash from ${schema}.entry where session = $1 and seq <= $3 order by seq desc limit 1
    ) as e where s.id = $1
    on conflict do nothing returning head_seq
  ), lines as (
    insert into ${schema}.entry (session, seq, hash, type, at_ms, parent, key, body)
    select $2, e.seq, e.hash, e.type, e.at_ms, e.parent, e.key, e.body from head, ${schema}.entry e
    where e.session = $1 and e.seq <= head.head_seq
  ), texts as (
    insert into ${schema}.payload (session, hash, packed, data)
    select $2, p.hash, p.packed, p.data from head, ${schema}.payload p where p.session = $1
  ) select 1 from head`
  const equal = `select 1 from ${schema}.entry a, ${schema}.entry b where a.session = $1 and b.session = $2 and a.seq = b.seq
    and a.hash = b.hash and a.seq = (select max(seq) from ${schema}.entry where session = $1 and seq <= $3)`
  return (from, to, upTo) => {
    const values = [toStorable(from), toStorable(to), wholeRange({ to: upTo }).to]
    const nowMs = now()
    return database.callLong(longMs, async (ask, again) => {
      if ((await ask({ text: copy, values: [...values, nowMs] })).rows.length > 0) return true
      const { rows } = await ask({ text: `select 1 from ${schema}.session where id = $1`, values: [toStorable(to)] })
      // An existing copy may be from the lost connection. If there is none, there was nothing to copy.
      return rows.length === 0 || (again && (await ask({ text: equal, values })).rows.length > 0)
    })
  }
}
