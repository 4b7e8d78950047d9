import { randomBytes } from "node:crypto"
import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { toStorable } from "./packed-text.ts"
import { type Database, postgresRows } from "./postgres-database.ts"
import type { SharedEvent, SharedEvents } from "./store.ts"

/** One channel for all schemas of a database; the payload names the schema. */
const channel = "holdfast_events"
/** Delay in which events are collected for one write: a busy gateway writes some times a second, not for every request. */
const flushMs = 25
/** Maximum number of events waiting for an unavailable store; the oldest are dropped. */
const maxWaiting = 2000
/** Poll interval, for when notifications do not arrive (through a connection pooler). */
const pollMs = 2000
/** Delay before a failed write is retried. */
const retryMs = 1000
/** Ids are assigned before they are committed: this many before the newest one are read again. */
const overlap = 500
/** Limits on stored events, kept for replicas that start later: number of rows, and age. */
const keptRows = 5000
const keptMs = 3_600_000
const pageRows = 1000

/** Events between replicas: rows of a table, announced by NOTIFY. */
export function createSharedEvents(database: Database, schema: string, now: () => number): SharedEvents {
  const origin = randomBytes(8).toString("hex")
  const table = `${schema}.replica_event`
  const insert = `with put as (
      insert into ${table} (at_ms, origin, name, session, json)
      select $1, $2, name, session, json from unnest($3::text[], $4::text[], $5::text[]) as said (name, session, json)
      returning id
    ), old as (delete from ${table} where at_ms < $1 - ${keptMs} or id < (select min(id) from put) - ${keptRows})
    select pg_notify('${channel}', $6) from put limit 1`
  let waiting: Omit<SharedEvent, "atMs">[] = []
  let isPlanned = false
  const plan = (ms: number): void => {
    if (isPlanned) return
    isPlanned = true
    setTimeout(() => void flush(), ms).unref()
  }
  const flush = async (): Promise<void> => {
    isPlanned = false
    const batch = waiting
    waiting = []
    const values = [
      now(),
      origin,
      batch.map(({ name }) => toStorable(name)),
      batch.map(({ session }) => (session === undefined ? null : toStorable(session))),
      batch.map(({ json }) => toStorable(json)),
      schema,
    ]
    try {
      await database.call((ask) => ask({ name: "replica-event-put", text: insert, values }))
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      // The store reports elsewhere that it is unavailable. Kept events are published when it is back.
      waiting = [...batch, ...waiting].slice(-maxWaiting)
      if (error.problem.code !== "store-closed") plan(retryMs)
    }
  }
  return {
    publish: (event) => {
      waiting.push(event)
      if (waiting.length > maxWaiting) waiting.shift()
      plan(flushMs)
    },
    follow: (listener, sinceMs) => follow(database, { table, schema, origin, now }, listener, sinceMs),
  }
}

type EventTable = Readonly<Record<"table" | "schema" | "origin", string>> & { readonly now: () => number }

/** Emits the events that others published in the last `sinceMs` and from now on, each once. Returns a function that stops it. */
function follow(
  database: Database,
  { table, schema, origin, now }: EventTable,
  listener: (event: SharedEvent) => void,
  sinceMs: number,
): () => void {
  const text = `select id::double precision as id, at_ms, name, session, json from ${table}
    where id > $1 and origin <> $2 and at_ms >= $3 order by id limit ${pageRows}`
  const startMs = now() - sinceMs
  const told = new Set<number>()
  let newest = 0
  let ended = false
  let isReading = false
  let again = false
  const readPage = async (after: number): Promise<number | undefined> => {
    const values = [after, origin, startMs]
    const { rows } = await database.call((ask) => ask({ name: "replica-event-read", text, values }))
    for (const row of rows) {
      const id = postgresRows.number(row, "id")
      newest = Math.max(newest, id)
      if (ended || told.has(id)) continue
      told.add(id)
      const session = postgresRows.maybe(row, "session", postgresRows.text)
      const event = {
        atMs: postgresRows.number(row, "at_ms"),
        name: postgresRows.text(row, "name"),
        json: postgresRows.text(row, "json"),
      }
      listener({ ...event, ...present({ session }) })
    }
    return rows.length < pageRows ? undefined : newest
  }
  const read = async (): Promise<void> => {
    for (let after: number | undefined = newest - overlap; after !== undefined; after = await readPage(after));
    for (const id of told) if (id <= newest - overlap) told.delete(id)
  }
  const readAll = async (): Promise<void> => {
    if (isReading) return
    isReading = true
    try {
      while (again && !ended) {
        again = false
        await read()
      }
    } catch (error) {
      // The next poll retries.
      if (!(error instanceof HoldfastError)) throw error
    } finally {
      isReading = false
    }
  }
  const wake = (): void => {
    again = true
    void readAll()
  }
  const stop = database.listen(channel, (payload) => {
    if (payload === undefined || payload === schema) wake()
  })
  const poll = setInterval(wake, pollMs)
  poll.unref()
  wake()
  return () => {
    ended = true
    clearInterval(poll)
    stop()
  }
}
