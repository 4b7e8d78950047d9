import { payloadHash } from "../../../src/store/packed-text.ts"
import type { Batch, Job, MemoryOwner, MemoryRow, StoredEntry } from "../../../src/store/store.ts"

/** Returns an entry for a test: its hash names its writer. */
export function entry(seq: number, writer = "a", more: Partial<StoredEntry> = {}): StoredEntry {
  return { seq, hash: `${writer}-${seq}`, type: "message", atMs: 1000 + seq, body: `{"n":${seq}}`, ...more }
}

/** Returns a batch of entries that starts with `after` + 1. */
export function batch(after: number, count: number, writer = "a", more: Partial<Batch> = {}): Batch {
  return { after, entries: Array.from({ length: count }, (_, at) => entry(after + 1 + at, writer)), ...more }
}

export function payloads(...texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(texts.map((text) => [payloadHash(text), text]))
}

export function job(key: string, session = "s"): Job {
  return { key, session, kind: "summary", payload: `{"for":"${key}"}` }
}

/** The owner of the example rows, an agent without a tenant. */
export const clerk: MemoryOwner = { tenant: "", agent: "clerk" }

/** Returns a memory row; its time, and so its age, follows from its number. */
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

/** Texts of which a careless store would lose a character. */
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
