import { present } from "../message/present.ts"
import type { MemoryRow } from "./memory-row.ts"
import type { Row } from "./postgres-persist.ts"
import { numberIn, textIn, textOrNoneIn, textsIn } from "./postgres-row.ts"
import { wordsOfRow } from "./postgres-words.ts"
import { termsOf } from "./search-terms.ts"
import { toStorable } from "./storable-text.ts"

export const memoryColumns =
  "session, id, tenant, agent, day, at_ms, kind, text, channel, trusted, sources, subject, superseded_by"

/** The later written of two rows of the same moment is the newer one. */
export const newestFirst = "at_ms desc, put_at desc, put_no desc"

/** Rows come as one JSON list, because lists of lists have no other form that PostgreSQL takes. The first row of an id stays. */
export function writeRows(schema: string): string {
  return `insert into ${schema}.memory (${memoryColumns}, terms, words, put_at, put_no)
    select ${memoryColumns}, terms, array_to_tsvector(words), statement_timestamp(), put_no
    from json_to_recordset($1::json) as r (session text, id text, tenant text, agent text, day text, at_ms double precision,
      kind text, text text, channel text, trusted boolean, sources text[], subject text, superseded_by text, terms text, words text[],
      put_no integer)
    on conflict do nothing`
}

export function encodeMemory(row: MemoryRow, position: number): Row {
  const terms = termsOf(row.text)
  return {
    session: toStorable(row.session),
    id: toStorable(row.id),
    tenant: toStorable(row.tenant),
    agent: toStorable(row.agent),
    day: toStorable(row.day),
    at_ms: row.atMs,
    kind: toStorable(row.kind),
    text: toStorable(row.text),
    channel: toStorable(row.channel),
    trusted: row.trusted,
    sources: row.sources.map(toStorable),
    subject: row.subject === undefined ? null : toStorable(row.subject),
    superseded_by: row.supersededBy === undefined ? null : toStorable(row.supersededBy),
    terms: inARow(terms),
    words: wordsOfRow(row, terms),
    put_no: position,
  }
}

export function decodeMemory(row: Row): MemoryRow {
  return {
    id: textIn(row, "id"),
    session: textIn(row, "session"),
    tenant: textIn(row, "tenant"),
    agent: textIn(row, "agent"),
    day: textIn(row, "day"),
    atMs: numberIn(row, "at_ms"),
    kind: textIn(row, "kind"),
    text: textIn(row, "text"),
    channel: textIn(row, "channel"),
    trusted: row.trusted === true,
    sources: textsIn(row, "sources"),
    ...present({ subject: textOrNoneIn(row, "subject"), supersededBy: textOrNoneIn(row, "superseded_by") }),
  }
}

/** Words one behind another: those of a phrase are in a row if its text is part of the row's. */
export function inARow(terms: readonly string[]): string {
  return toStorable(` ${terms.join(" ")} `)
}
