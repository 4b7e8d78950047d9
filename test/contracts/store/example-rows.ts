import { payloadHash } from "../../../src/store/packed-text.ts"
import type { Batch, Job, MemoryOwner, MemoryRow, StoredEntry } from "../../../src/store/store.ts"

/** An entry as a test needs one: its hash says which writer it came from. */
export function entry(seq: number, writer = "a", more: Partial<StoredEntry> = {}): StoredEntry {
  return { seq, hash: `${writer}-${seq}`, type: "message", atMs: 1000 + seq, body: `{"n":${seq}}`, ...more }
}

/** Entries `after` + 1 and on. */
export function batch(after: number, count: number, writer = "a", more: Partial<Batch> = {}): Batch {
  return { after, entries: Array.from({ length: count }, (_, at) => entry(after + 1 + at, writer)), ...more }
}

export function payloads(...texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(texts.map((text) => [payloadHash(text), text]))
}

export function job(key: string, session = "s"): Job {
  return { key, session, kind: "summary", payload: `{"for":"${key}"}` }
}

/** An agent of no tenant, whose the example rows are. */
export const clerk: MemoryOwner = { tenant: "", agent: "clerk" }

/** A memory row; its moment, and so its age, is its number. */
export function row(number: number, text: string, more: Partial<MemoryRow> = {}): MemoryRow {
  return {
    id: `m${number}`,
    session: "s",
    ...clerk,
    day: "2026-11-15",
    atMs: 1_795_000_000_000 + number,
    kind: "fact",
    text,
    channel: "user",
    trusted: true,
    sources: ["e1"],
    ...more,
  }
}

/** Texts that a careless store loses a character of. */
export const hardTexts: readonly string[] = [
  "",
  "plain",
  "Grüße, 東京, 👩‍👩‍👧, עברית",
  "a NUL \0 in the middle, and \u0000\u0000 two more",
  "lone \ud800 high, lone \udc00 low, both \udc00\ud800 the wrong way round",
  "\u0010 an escape, \u00100041 what looks like one, \\u0000 and \\x00 and \\000",
  "\ufffd is not \ud800",
  "\ufeffbyte order mark, \r\n line ends \u2028\u2029, quotes \" ' ` $1 $$ ? ; --",
  "e\u0301 is not \u00e9",
]
