/** Stands in the file's header and tells our files from those of other programs. */
export const SQLITE_APPLICATION = 0x484f4c44

/** The schema, step by step. A step that was released never changes; the next one is added at the end. */
export const sqliteMigrations: readonly string[] = [
  `
  PRAGMA application_id = ${SQLITE_APPLICATION};

  CREATE TABLE sessions (
    session TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    head_seq INTEGER NOT NULL,
    head_hash TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
  ) WITHOUT ROWID;
  -- Every append writes to this index too, so it is the only one.
  CREATE INDEX sessions_by_update ON sessions (updated_ms);

  -- body comes last: an outline stops reading before it. checksum covers the row, packed says that body is deflated.
  CREATE TABLE entries (
    session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    type TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    parent INTEGER,
    key TEXT,
    checksum INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    body NOT NULL,
    PRIMARY KEY (session, seq)
  );

  CREATE TABLE payloads (
    session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    hash TEXT NOT NULL,
    packed INTEGER NOT NULL,
    body NOT NULL,
    PRIMARY KEY (session, hash)
  );

  CREATE TABLE summaries (
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;

  -- place is the order in which jobs were put.
  CREATE TABLE jobs (
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    place INTEGER NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    leased_until_ms INTEGER NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;

  -- place is the row's moment in its upper bits, a number within that millisecond in its lower 20: its order is the order of age.
  CREATE TABLE memory (
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    place INTEGER NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    day TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    channel TEXT NOT NULL,
    trusted INTEGER NOT NULL,
    sources TEXT NOT NULL,
    subject TEXT,
    superseded_by TEXT,
    text TEXT NOT NULL,
    PRIMARY KEY (session, id)
  ) WITHOUT ROWID;
  CREATE INDEX memory_by_day ON memory (agent, day, place);
  CREATE INDEX memory_by_id ON memory (agent, id);

  -- terms are cut by termsOf and only have to be parted at spaces; tags stand for agent, session, kind and trust.
  CREATE VIRTUAL TABLE memory_words USING fts5 (
    tags, terms, content = '', contentless_delete = 1, tokenize = 'ascii'
  );
  `,
  `
  -- A session may have names before it has a log, so this table refers to no other.
  CREATE TABLE aliases (
    name TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    entry TEXT
  ) WITHOUT ROWID;
  CREATE INDEX aliases_by_session ON aliases (session);
  `,
  `
  -- Whether a message is there already, under the same parent.
  CREATE INDEX entries_by_parent ON entries (session, parent) WHERE key IS NOT NULL;
  `,
  `
  -- Only a gateway gives its sessions aliases, and the names of those begin with their tenant and a dot.
  ALTER TABLE sessions ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
  ALTER TABLE memory ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
  UPDATE sessions SET tenant = substr(session, 1, instr(session, '.') - 1)
    WHERE instr(session, '.') BETWEEN 2 AND 33 AND session IN (SELECT session FROM aliases);
  UPDATE memory SET tenant = substr(session, 1, instr(session, '.') - 1)
    WHERE instr(session, '.') BETWEEN 2 AND 33 AND session IN (SELECT session FROM aliases);
  DROP INDEX memory_by_day;
  DROP INDEX memory_by_id;
  CREATE INDEX memory_by_day ON memory (tenant, agent, day, place);
  CREATE INDEX memory_by_id ON memory (tenant, agent, id);
  `,
  `
  -- With trust (a table without rowid has its key in every index) a day is counted without reading its rows.
  DROP INDEX memory_by_day;
  CREATE INDEX memory_by_day ON memory (tenant, agent, day, place, trusted);
  `,
]
