import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { tryParse } from "../wire/json.ts"
import { fromStorable } from "./packed-text.ts"
import type { DayCounts, FoundAlias, Head, Holdings, Job, MemoryRow, OutlineEntry, SessionRow, Store } from "./store.ts"

/** A row as a database returns it. SQLite and PostgreSQL have the same columns, and differ in the types of lists and flags. */
export type StoredRow = Readonly<Record<string, unknown>>

/** Used in place of a session if damage is not in one session only. */
export const ANY_SESSION = "*"

export const corruptStore = (store: Store["kind"], session: string, reason: string, cause?: unknown): HoldfastError =>
  new HoldfastError({ code: "store-corrupt", store, session, reason }, { cause })

/** Reads the columns of a store's rows; one that holds something else is damage. */
function createColumnReader(store: Store["kind"]) {
  const damaged = (column: string): never => {
    throw corruptStore(store, ANY_SESSION, `the column ${column} holds something else`)
  }
  /** A text column, decoded from its storable form. */
  const text = (row: StoredRow, column: string): string => {
    const value = row[column]
    return typeof value === "string" ? fromStorable(value) : damaged(column)
  }
  const number = (row: StoredRow, column: string): number => {
    const value = row[column]
    return typeof value === "number" ? value : damaged(column)
  }
  const texts = (row: StoredRow, column: string): readonly string[] => {
    const value = typeof row[column] === "string" ? tryParse(row[column]) : row[column]
    return Array.isArray(value) ? value.map((one: unknown) => text({ [column]: one }, column)) : damaged(column)
  }
  /** Undefined if the column is null. */
  const maybe = <Value>(row: StoredRow, column: string, read: (row: StoredRow, column: string) => Value) =>
    row[column] === null ? undefined : read(row, column)
  /** A text or compressed bytes. */
  const packed = (row: StoredRow, column: string): string | Uint8Array => {
    const value = row[column]
    return typeof value === "string" || value instanceof Uint8Array ? value : damaged(column)
  }
  return { text, number, texts, maybe, packed }
}

export type RowReader = ReturnType<typeof createRowReader>

/** Reads the rows of a store. */
export function createRowReader(store: Store["kind"]) {
  const columns = createColumnReader(store)
  const { text, number, texts, maybe } = columns
  const head = (row: StoredRow): Head => ({ seq: number(row, "head_seq"), hash: text(row, "head_hash") })
  const owned = (row: StoredRow): Holdings["memory"][number] => ({
    tenant: text(row, "tenant"),
    agent: text(row, "agent"),
    id: text(row, "id"),
  })
  return {
    store,
    ...columns,
    head,
    owned,
    session: (row: StoredRow): SessionRow => ({
      id: text(row, "session"),
      tenant: text(row, "tenant"),
      agent: text(row, "agent"),
      head: head(row),
      createdMs: number(row, "created_ms"),
      updatedMs: number(row, "updated_ms"),
    }),
    outline: (row: StoredRow): OutlineEntry => ({
      seq: number(row, "seq"),
      hash: text(row, "hash"),
      type: text(row, "type"),
      atMs: number(row, "at_ms"),
      ...present({ parent: maybe(row, "parent", number), key: maybe(row, "key", text) }),
    }),
    alias: (row: StoredRow): FoundAlias => ({
      name: text(row, "name"),
      session: text(row, "session"),
      ...present({ entry: maybe(row, "entry", text) }),
    }),
    job: (row: StoredRow): Job => ({
      key: text(row, "key"),
      session: text(row, "session"),
      kind: text(row, "kind"),
      payload: text(row, "payload"),
    }),
    memory: (row: StoredRow): MemoryRow => ({
      ...owned(row),
      session: text(row, "session"),
      day: text(row, "day"),
      atMs: number(row, "at_ms"),
      kind: text(row, "kind"),
      text: text(row, "text"),
      channel: text(row, "channel"),
      trusted: typeof row.trusted === "boolean" ? row.trusted : number(row, "trusted") === 1,
      sources: texts(row, "sources"),
      ...present({ subject: maybe(row, "subject", text), supersededBy: maybe(row, "superseded_by", text) }),
    }),
    counts: (row: StoredRow): DayCounts => ({
      agent: { rows: number(row, "rows"), data: number(row, "data") },
      session: { rows: number(row, "own"), data: number(row, "own_data") },
    }),
    days: (rows: readonly StoredRow[]) => rows.map((row) => ({ day: text(row, "day"), rows: number(row, "rows") })),
  }
}
