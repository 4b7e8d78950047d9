import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { MemoryRow } from "./memory-row.ts"
import type { Head, SessionId, StoredEntry } from "./store.ts"

/** The form of an exported session; a reader refuses one that it does not know. */
export const SESSION_FILE_VERSION = 1

/** A line of an exported session. The header comes first, a payload before the entry that it is written with, the end last. */
export type SessionLine =
  | {
      readonly type: "session"
      readonly version: number
      readonly session: SessionId
      /** Absent in files from before there were tenants. */
      readonly tenant?: string
      readonly agent: string
      readonly head: Head
    }
  | { readonly type: "payload"; readonly hash: string; readonly text: string }
  | { readonly type: "entry"; readonly entry: StoredEntry }
  | { readonly type: "summary"; readonly key: string; readonly json: string }
  | { readonly type: "memory"; readonly row: MemoryRow }
  | { readonly type: "end"; readonly lines: number }

/** Far above any payload; a file without line ends must not be read into memory as one. */
const LINE_CHARACTERS = 100_000_000

type Fields = Readonly<Record<string, unknown>>

export function writeLine(line: SessionLine): string {
  return JSON.stringify(line)
}

/** Read a line; a `file-invalid` Problem with its number if it is none of ours. */
export function readLine(text: string, number: number): SessionLine {
  const fail = (expected: string, found: string): never => {
    throw new HoldfastError({ code: "file-invalid", line: number, expected, found })
  }
  if (text.length > LINE_CHARACTERS) return fail(`at most ${LINE_CHARACTERS} characters`, `${text.length}`)
  const fields = parsed(text) ?? fail("a JSON object", "something else")
  const wrong = (name: string, expected: string): never => fail(`${expected} as ${name}`, kindOf(fields[name]))
  const line = lineOf(createReader(fields, wrong), wrong)
  return line ?? fail("a session, payload, entry, summary, memory or end", kindOf(fields.type))
}

function lineOf(read: Reader, wrong: Wrong): SessionLine | undefined {
  switch (read.text("type")) {
    case "session": {
      const version = read.number("version")
      if (version !== SESSION_FILE_VERSION) return wrong("version", `${SESSION_FILE_VERSION}`)
      const head = read.inner("head")
      const { text, number } = head
      const end = { seq: number("seq"), hash: text("hash") }
      const tenant = read.maybe("tenant", read.text)
      const whose = { session: read.text("session"), agent: read.text("agent"), ...present({ tenant }) }
      return { type: "session", version, ...whose, head: end }
    }
    case "payload":
      return { type: "payload", hash: read.text("hash"), text: read.text("text") }
    case "entry":
      return { type: "entry", entry: entryOf(read.inner("entry")) }
    case "summary":
      return { type: "summary", key: read.text("key"), json: read.text("json") }
    case "memory":
      return { type: "memory", row: rowOf(read.inner("row")) }
    case "end":
      return { type: "end", lines: read.number("lines") }
  }
  return undefined
}

function entryOf({ text, number, maybe }: Reader): StoredEntry {
  return {
    seq: number("seq"),
    hash: text("hash"),
    type: text("type"),
    atMs: number("atMs"),
    ...present({ parent: maybe("parent", number), key: maybe("key", text) }),
    body: text("body"),
  }
}

function rowOf({ text, number, texts, flag, maybe }: Reader): MemoryRow {
  return {
    id: text("id"),
    session: text("session"),
    tenant: maybe("tenant", text) ?? "",
    agent: text("agent"),
    day: text("day"),
    atMs: number("atMs"),
    kind: text("kind"),
    text: text("text"),
    channel: text("channel"),
    trusted: flag("trusted"),
    sources: texts("sources"),
    ...present({ subject: maybe("subject", text), supersededBy: maybe("supersededBy", text) }),
  }
}

/** Throws: the field of this name is not what was expected. */
type Wrong = (name: string, expected: string) => never

/** Reads the fields of an object one by one, each as what it has to be. */
type Reader = {
  readonly text: (name: string) => string
  readonly number: (name: string) => number
  readonly flag: (name: string) => boolean
  readonly texts: (name: string) => readonly string[]
  readonly maybe: <Value>(name: string, read: (name: string) => Value) => Value | undefined
  readonly inner: (name: string) => Reader
}

function createReader(fields: Fields, wrong: Wrong): Reader {
  return {
    text: (name) => {
      const value = fields[name]
      return typeof value === "string" ? value : wrong(name, "a text")
    },
    number: (name) => {
      const value = fields[name]
      return typeof value === "number" && Number.isSafeInteger(value) ? value : wrong(name, "a whole number")
    },
    flag: (name) => {
      const value = fields[name]
      return typeof value === "boolean" ? value : wrong(name, "true or false")
    },
    texts: (name) => {
      const value = fields[name]
      if (!Array.isArray(value)) return wrong(name, "a list of texts")
      return value.map((item: unknown) => (typeof item === "string" ? item : wrong(name, "a list of texts")))
    },
    maybe: (name, read) => (fields[name] === undefined ? undefined : read(name)),
    inner: (name) => {
      const value = fields[name]
      return isFields(value) ? createReader(value, wrong) : wrong(name, "an object")
    },
  }
}

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : value === undefined ? "nothing" : typeof value
}
