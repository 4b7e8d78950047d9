/**
 * The schema migrations: a released step is never changed, only followed by another. Every key begins with the session, no table refers to
 * another and nothing is numbered across sessions, so that the tables can be spread over servers by session; aliases, by which a session
 * is found, by their names. Texts are ordered by their bytes, and times are stored as doubles, as JavaScript has them. The one exception
 * are events between replicas, which they share and which are kept for an hour.
 */
export const migrations: readonly ((schema: string) => readonly string[])[] = [
  (schema) => [...logTables(schema), ...workTables(schema), ...memoryTables(schema)],
  aliasTables,
  // For finding duplicate messages under the same parent.
  (schema) => [`create index entry_by_parent on ${schema}.entry (session, parent) where key is not null`],
  tenantColumns,
  // For counting a day without reading its rows.
  (schema) => [
    `drop index ${schema}.memory_by_day`,
    `create index memory_by_day on ${schema}.memory (tenant, agent, day) include (session, trusted)`,
  ],
  (schema) => [
    `create table ${schema}.replica_event (
      id bigint generated always as identity primary key,
      at_ms double precision not null,
      origin text collate "C" not null,
      name text not null,
      session text collate "C",
      json text not null
    )`,
    `create index replica_event_by_age on ${schema}.replica_event (at_ms)`,
  ],
]

/** Sessions, their logs and the large texts in them. */
function logTables(schema: string): readonly string[] {
  return [
    `create table ${schema}.session (
      id text collate "C" primary key,
      agent text collate "C" not null,
      head_seq integer not null,
      head_hash text not null,
      created_ms double precision not null,
      updated_ms double precision not null
    ) with (fillfactor = 80)`,
    `create index session_by_age on ${schema}.session (updated_ms desc, id)`,
    `create index session_by_agent on ${schema}.session (agent, updated_ms desc, id)`,
    `create table ${schema}.entry (
      session text collate "C" not null,
      seq integer not null,
      hash text not null,
      type text not null,
      at_ms double precision not null,
      parent integer,
      key text,
      body text not null,
      primary key (session, seq)
    )`,
    `create table ${schema}.payload (
      session text collate "C" not null,
      hash text collate "C" not null,
      packed boolean not null,
      data bytea not null,
      primary key (session, hash)
    )`,
    // Compressible data is already compressed.
    `alter table ${schema}.payload alter column data set storage external`,
  ]
}

/** Tables for background work and its results. */
function workTables(schema: string): readonly string[] {
  return [
    `create table ${schema}.summary (
      session text collate "C" not null,
      key text collate "C" not null,
      json text not null,
      primary key (session, key)
    )`,
    `create table ${schema}.job (
      session text collate "C" not null,
      key text collate "C" not null,
      kind text not null,
      payload text not null,
      attempt integer not null,
      put_at timestamptz not null default clock_timestamp(),
      free_ms double precision not null,
      primary key (session, key)
    )`,
    `create index job_by_age on ${schema}.job (put_at, key)`,
  ]
}

/** The agents' memory: `terms` has the words of a row in order, `words` the words in the index. */
function memoryTables(schema: string): readonly string[] {
  return [
    `create table ${schema}.memory (
      session text collate "C" not null,
      id text collate "C" not null,
      agent text collate "C" not null,
      day text collate "C" not null,
      at_ms double precision not null,
      put_at timestamptz not null,
      put_no integer not null,
      kind text not null,
      text text not null,
      channel text not null,
      trusted boolean not null,
      sources text[] not null,
      subject text,
      superseded_by text,
      terms text not null,
      words tsvector not null,
      primary key (session, id)
    )`,
    `create index memory_by_age on ${schema}.memory (agent, at_ms desc, put_at desc, put_no desc)`,
    `create index memory_by_day on ${schema}.memory (agent, day)`,
    `create index memory_by_id on ${schema}.memory (agent, id)`,
    `create index memory_by_words on ${schema}.memory using gin (words) with (fastupdate = off)`,
  ]
}

/** Only gateway sessions have aliases, and their ids begin with the tenant and a dot. */
function tenantColumns(schema: string): readonly string[] {
  const fill = (table: string, name: string): string => `update ${schema}.${table} as t
    set tenant = split_part(t.${name}, '.', 1)
    where position('.' in t.${name}) between 2 and 33
      and exists (select 1 from ${schema}.alias a where a.session = t.${name})`
  return [
    `alter table ${schema}.session add column tenant text collate "C" not null default ''`,
    `alter table ${schema}.memory add column tenant text collate "C" not null default ''`,
    fill("session", "id"),
    fill("memory", "session"),
    ...["memory_by_age", "memory_by_day", "memory_by_id"].map((index) => `drop index ${schema}.${index}`),
    `create index memory_by_age on ${schema}.memory (tenant, agent, at_ms desc, put_at desc, put_no desc)`,
    `create index memory_by_day on ${schema}.memory (tenant, agent, day)`,
    `create index memory_by_id on ${schema}.memory (tenant, agent, id)`,
  ]
}

/** Session aliases; one may exist before its session. */
function aliasTables(schema: string): readonly string[] {
  return [
    `create table ${schema}.alias (
      name text collate "C" primary key,
      session text collate "C" not null,
      entry text
    )`,
    `create index alias_by_session on ${schema}.alias (session)`,
  ]
}
