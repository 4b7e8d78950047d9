import { HoldfastError } from "../message/errors.ts"
import type { MemoryRow } from "./memory-row.ts"
import { SESSION_FILE_VERSION, type SessionLine, writeLine } from "./session-line.ts"
import type { Holdings, SessionId, SessionRow, Store } from "./store.ts"

/** How many entries, or memory rows, are in memory at a time. */
const PAGE = 100

/**
 * A session as lines of JSON, without line ends: all that it was when the export began. Jobs are not part of it, nor are aliases: they
 * belong to the deployment whose clients say them, and elsewhere they could be another session's.
 */
export async function* exportSession(store: Store, session: SessionId): AsyncGenerator<string, void, undefined> {
  const row = await store.session(session)
  if (row === undefined) throw new HoldfastError({ code: "session-unknown", session })
  const holdings = await store.holdings(session)
  let lines = 0
  for await (const line of linesOf(store, row, holdings)) {
    lines += 1
    yield writeLine(line)
  }
  yield writeLine({ type: "end", lines })
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

/** The rows of these names, in their order. */
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

/** Payloads are spread evenly before the entries, so that whoever reads has to hold only a few until the next entry. */
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
