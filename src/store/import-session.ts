import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { isPayload } from "./payload-hash.ts"
import { refuseReserved } from "./reserved-log.ts"
import { readLine, type SessionLine } from "./session-line.ts"
import type { Head, SessionId, Store, StoredEntry } from "./store.ts"

/** What was read and is not written yet is at most this much, and one line. */
const BATCH_ENTRIES = 100
const BATCH_CHARACTERS = 4_000_000

export type Imported = { readonly session: SessionId; readonly entries: number }

type Line<Type extends SessionLine["type"]> = Extract<SessionLine, { readonly type: Type }>

/**
 * Write a session from the lines of an export, under its own name or another. A session that exists is not touched; a file that is
 * broken anywhere leaves nothing behind.
 */
export async function importSession(
  store: Store,
  lines: AsyncIterable<string> | Iterable<string>,
  { as }: { readonly as?: SessionId } = {},
): Promise<Imported> {
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
  readonly finish: (number: number) => Imported
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
  await store.memory.write([{ ...line.row, session }])
  return true
}

function invalid(line: number, expected: string, found: string): HoldfastError {
  return new HoldfastError({ code: "file-invalid", line, expected, found })
}
