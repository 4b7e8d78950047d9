import { assert } from "../message/assert.ts"
import { checkBatch, isSameBatch, noHead, possibleDuplicates } from "./batch.ts"
import { packText } from "./packed-text.ts"
import type { Database } from "./postgres-database.ts"
import type { Ask, Statement } from "./postgres-persist.ts"
import { numberIn, textIn, textsIn } from "./postgres-row.ts"
import { toStorable } from "./storable-text.ts"
import type { Appended, Batch, Head, Store } from "./store.ts"

/** A log that someone deletes while it is written to may have to be begun anew, but not for ever. */
const mostRounds = 3

/** Entry numbers are PostgreSQL integers. */
const largestSeq = 2_147_483_647

/**
 * One statement, and so one journey and all or nothing: it takes the lock of the session's row, and writes only if the log still ends
 * where the batch begins. The same batch written again finds its own hashes, which is why it may be repeated when the answer was lost.
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
        const { head, same, duplicate } = await whatStandsThere(ask, schema, id, batch)
        if (same) return { type: "appended" }
        if (duplicate !== undefined && head.seq === batch.after) return { type: "duplicate", seq: duplicate }
        if (head.seq !== batch.after || round === mostRounds) return { type: "conflict", head }
      }
    })
  }
}

/** A log that begins makes its session's row; one that goes on never does, lest it outlive a session that is being deleted. */
const beginLog = (schema: string): string => `
  insert into ${schema}.session as s (id, agent, tenant, head_seq, head_hash, created_ms, updated_ms)
  values ($1, ($2::text[])[1], ($2::text[])[2], $3, $4, $5, $5)
  on conflict (id) do update set head_seq = $3, head_hash = $4, updated_ms = $5,
    agent = case when s.agent = '' then ($2::text[])[1] else s.agent end,
    tenant = case when s.tenant = '' then ($2::text[])[2] else s.tenant end
  where s.head_seq = $6
  returning id`

const continueLog = (schema: string, isCopy: boolean): string => `
  update ${schema}.session as s set head_seq = $3, head_hash = $4, updated_ms = $5,
    agent = case when s.agent = '' then ($2::text[])[1] else s.agent end,
    tenant = case when s.tenant = '' then ($2::text[])[2] else s.tenant end
  where s.id = $1 and s.head_seq = $6${isCopy ? "" : ` and not exists (${duplicates(schema, "$12", "$13")})`}
  returning id`

/** The entries that a message of these parents and keys would be a second one of. */
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

/** Bodies and payloads go as one run of bytes: nothing in it has to be escaped, and the form is the same for any number of them. */
async function writeStatement(schema: string, id: string, batch: Batch, nowMs: number): Promise<Statement> {
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

/** The pieces one behind another, and where each of them starts, counted from 1 as SQL does. */
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

async function whatStandsThere(
  ask: Ask,
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
  const head = row === undefined ? noHead : { seq: numberIn(row, "head_seq"), hash: textIn(row, "head_hash") }
  const hashes = row === undefined ? [] : textsIn(row, "hashes")
  const duplicate = typeof row?.duplicate === "number" ? row.duplicate : undefined
  return { head, same: batch.after <= head.seq && isSameBatch(batch, hashes), duplicate }
}
