import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { isPayload } from "./packed-text.ts"
import { refuseReserved } from "./reserved-log.ts"
import type { Head, Holdings, MemoryRow, SessionId, SessionRow, Store, StoredEntry } from "./store.ts"

/** The version of the export format; unknown versions are refused. */
const SESSION_FILE_VERSION = 1

/** A line of an exported session. The header is first, payloads precede the entry they are written with, the end is last. */
type SessionLine =
  | {
      readonly type: "session"
      readonly version: number
      readonly session: SessionId
      /** Absent in files of versions without tenants. */
      readonly tenant?: string
      readonly agent: string
      readonly head: Head
    }
  | { readonly type: "payload"; readonly hash: string; readonly text: string }
  | { readonly type: "entry"; readonly entry: StoredEntry }
  | { readonly type: "summary"; readonly key: string; readonly json: string }
  | { readonly type: "memory"; readonly row: Omit<MemoryRow, "tenant"> & Partial<MemoryRow> }
  | { readonly type: "end"; readonly lines: number }

/** Maximum length of a line: far above any payload; a file without line breaks must not be read into memory as one line. */
const LINE_CHARACTERS = 100_000_000

type Fields = Readonly<Record<string, unknown>>

/** Returns in words what a value should be, if it is not; a nested shape describes an object. */
type Check = (value: unknown) => string | undefined
type Shape = { readonly [name: string]: Check | Shape }

const text: Check = (value) => (typeof value === "string" ? undefined : "a text")
const number: Check = (value) => (Number.isSafeInteger(value) ? undefined : "a whole number")
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "true or false")
const texts: Check = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === "string") ? undefined : "a list of texts"
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value)

const head = { seq: number, hash: text }
const entry = { ...head, type: text, atMs: number, parent: maybe(number), key: maybe(text), body: text }
const row = {
  ...{ id: text, session: text, tenant: maybe(text), agent: text, day: text, atMs: number, kind: text, text },
  ...{ channel: text, trusted: flag, sources: texts, subject: maybe(text), supersededBy: maybe(text) },
}
const shapes: Readonly<Record<SessionLine["type"], Shape>> = {
  session: { version: number, head, tenant: maybe(text), session: text, agent: text },
  payload: { hash: text, text },
  entry: { entry },
  summary: { key: text, json: text },
  memory: { row },
  end: { lines: number },
}

/** Parses a line; throws a `file-invalid` Problem with its number if it is invalid. */
export function readLine(line: string, at: number): SessionLine {
  if (line.length > LINE_CHARACTERS) throw invalid(at, `at most ${LINE_CHARACTERS} characters`, `${line.length}`)
  const value = tryParse(line)
  if (!isObject(value)) throw invalid(at, "a JSON object", "something else")
  if (isLine(value, at)) return value
  throw invalid(
    at,
    `a ${Object.keys(shapes)
      .join(", ")
      .replace(/, (\w+)$/, " or $1")}`,
    kindOf(value.type),
  )
}

function isLine(value: Fields, at: number): value is SessionLine {
  checkFields(value, { type: text }, at)
  const shape = Object.entries(shapes).find(([type]) => type === value.type)?.[1]
  if (shape === undefined) return false
  checkFields(value, shape, at)
  if (value.type === "session" && value.version !== SESSION_FILE_VERSION)
    throw invalid(at, `${SESSION_FILE_VERSION} as version`, kindOf(value.version))
  return true
}

function checkFields(fields: Fields, shape: Shape, at: number): void {
  for (const [name, field] of Object.entries(shape)) {
    const value = fields[name]
    const expected = typeof field === "function" ? field(value) : isObject(value) ? undefined : "an object"
    if (expected !== undefined) throw invalid(at, `${expected} as ${name}`, kindOf(value))
    if (typeof field !== "function" && isObject(value)) checkFields(value, field, at)
  }
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : value === undefined ? "nothing" : typeof value
}

/** Entries or memory rows read at a time. */
const PAGE = 100

/**
 * A session as lines of JSON, without line breaks, as it was when the export began. Jobs and aliases are not included: aliases belong to
 * the deployment whose clients use them, and could name another session elsewhere.
 */
export async function* exportSession(store: Store, session: SessionId): AsyncGenerator<string, void, undefined> {
  const row = await store.session(session)
  if (row === undefined) throw new HoldfastError({ code: "session-unknown", session })
  const holdings = await store.holdings(session)
  let lines = 0
  for await (const line of linesOf(store, row, holdings)) {
    lines += 1
    yield JSON.stringify(line)
  }
  yield JSON.stringify({ type: "end", lines })
}

async function* linesOf(store: Store, row: SessionRow, holdings: Holdings): AsyncGenerator<SessionLine> {
  const { id: session, tenant, agent, head } = row
  yield { type: "session", version: SESSION_FILE_VERSION, session, tenant, agent, head }
  yield* logLines(store, row, holdings.payloads)
  for (const key of holdings.summaries) {
    const json = await store.getSummary(session, key)
    if (json !== undefined) yield { type: "summary", key, json }
  }
  for (let at = 0; at < holdings.memory.length; at += PAGE) {
    for (const memory of await memoryRows(store, session, holdings.memory.slice(at, at + PAGE))) {
      yield { type: "memory", row: memory }
    }
  }
}

/** The rows with these ids, in order. */
async function memoryRows(store: Store, session: SessionId, names: Holdings["memory"]): Promise<readonly MemoryRow[]> {
  const found = new Map<string, MemoryRow>()
  for (const owned of Map.groupBy(names, ({ tenant, agent }) => JSON.stringify([tenant, agent])).values()) {
    const [owner] = owned
    const ids = owned.map(({ id }) => id)
    for (const row of owner === undefined ? [] : await store.memory.get(owner, ids))
      if (row.session === session) found.set(row.id, row)
  }
  return names.flatMap(({ id }) => found.get(id) ?? [])
}

/** Payloads are spread evenly before the entries, so that a reader keeps only a few of them until the next entry. */
async function* logLines(store: Store, row: SessionRow, hashes: readonly string[]): AsyncGenerator<SessionLine> {
  const { id: session, head } = row
  let told = 0
  for (let from = 1; from <= head.seq; from += PAGE) {
    const entries = await store.read(session, { from, to: head.seq, limit: PAGE })
    if (entries.length === 0) throw new HoldfastError({ code: "session-unknown", session })
    for (const entry of entries) {
      const due = Math.ceil((hashes.length * entry.seq) / head.seq)
      for (; told < due; told += 1) {
        const texts = await store.payloads(session, hashes.slice(told, told + 1))
        for (const [hash, text] of texts) yield { type: "payload", hash, text }
      }
      yield { type: "entry", entry }
    }
  }
}

/** Limits on data that was read but not written yet, plus one line. */
const BATCH_ENTRIES = 100
const BATCH_CHARACTERS = 4_000_000

type ImportResult = { readonly session: SessionId; readonly entries: number }

type Line<Type extends SessionLine["type"]> = Extract<SessionLine, { readonly type: Type }>

/** Imports a session under its own id or another. An existing one is not touched; an invalid file leaves nothing behind. */
export async function importSession(
  store: Store,
  lines: AsyncIterable<string> | Iterable<string>,
  { as }: { readonly as?: SessionId } = {},
): Promise<ImportResult> {
  let writer: Writer | undefined
  let number = 0
  try {
    for await (const text of lines) {
      number += 1
      if (text.trim() === "") continue
      const line = readLine(text, number)
      if (writer !== undefined) await writer.take(line, number)
      else if (line.type === "session") writer = await startWriter(store, line, as ?? line.session)
      else throw invalid(number, "a header", line.type)
    }
    if (writer === undefined) throw invalid(number + 1, "a header", "the end of the file")
    return writer.finish(number + 1)
  } catch (error) {
    if (writer?.hasWritten()) await store.remove(writer.session)
    throw error
  }
}

type Writer = {
  readonly session: SessionId
  readonly take: (line: SessionLine, number: number) => Promise<void>
  readonly finish: (number: number) => ImportResult
  readonly hasWritten: () => boolean
}

async function startWriter(store: Store, header: Line<"session">, session: SessionId): Promise<Writer> {
  refuseReserved(session)
  const { payloads, summaries, memory } = await store.holdings(session)
  const exists = (await store.session(session)) !== undefined || payloads.length + summaries.length + memory.length > 0
  if (exists) throw new HoldfastError({ code: "session-exists", session })
  return createWriter(store, header, session)
}

function createWriter(store: Store, header: Line<"session">, session: SessionId): Writer {
  let end: Head = { seq: 0, hash: "" }
  let written = false
  let lines = 1
  let closed = false
  let pending = emptyPending()
  const flush = async (): Promise<void> => {
    const { entries, payloads } = pending
    if (entries.length === 0) return
    const answer = await store.append(session, {
      after: end.seq - entries.length,
      entries,
      payloads,
      agent: header.agent,
      isCopy: true,
      ...present({ tenant: header.tenant }),
    })
    if (answer.type !== "appended") throw new HoldfastError({ code: "session-exists", session })
    written = true
    pending = emptyPending()
  }
  const addEntry = async (entry: StoredEntry, number: number): Promise<void> => {
    if (entry.seq !== end.seq + 1) throw invalid(number, `entry ${end.seq + 1}`, `entry ${entry.seq}`)
    pending.entries.push(entry)
    pending.characters += entry.body.length
    end = { seq: entry.seq, hash: entry.hash }
    if (pending.entries.length >= BATCH_ENTRIES || pending.characters >= BATCH_CHARACTERS) await flush()
  }
  return {
    session,
    take: async (line, number) => {
      if (closed) throw invalid(number, "the end of the file", `a ${line.type}`)
      if (line.type === "end" && line.lines !== lines) throw invalid(number, `${line.lines} lines`, `${lines}`)
      lines += 1
      if (line.type === "entry") return addEntry(line.entry, number)
      if (line.type === "payload") {
        if (!isPayload(line.text, line.hash)) throw invalid(number, "the text of its hash", "another")
        pending.payloads.set(line.hash, line.text)
        pending.characters += line.text.length
        return
      }
      await flush()
      if (pending.payloads.size > 0) throw invalid(number, "an entry behind the payloads", `a ${line.type}`)
      checkHead(header.head, end, number)
      if (line.type === "end") closed = true
      else written = (await addRest(store, session, line, number)) || written
    },
    finish: (number) => {
      if (!closed) throw invalid(number, "the closing line", "the end of the file")
      return { session, entries: end.seq }
    },
    hasWritten: () => written,
  }
}

type Pending = { readonly entries: StoredEntry[]; readonly payloads: Map<string, string>; characters: number }

function emptyPending(): Pending {
  return { entries: [], payloads: new Map(), characters: 0 }
}

function checkHead(head: Head, end: Head, number: number): void {
  if (head.seq === end.seq && head.hash === end.hash && end.seq > 0) return
  throw invalid(number, `a log that ends with entry ${head.seq}, as the header says`, `entry ${end.seq}`)
}

async function addRest(store: Store, session: SessionId, line: SessionLine, number: number): Promise<boolean> {
  if (line.type === "summary") return store.putSummary(session, line.key, line.json)
  if (line.type !== "memory") throw invalid(number, "a line after the header", `a ${line.type}`)
  await store.memory.write([{ ...line.row, tenant: line.row.tenant ?? "", session }])
  return true
}

function invalid(line: number, expected: string, found: string): HoldfastError {
  return new HoldfastError({ code: "file-invalid", line, expected, found })
}
