import { HoldfastError, refuseOption } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { sha256Hex } from "../message/sha256.ts"
import { isObject, tryParse } from "../wire/json.ts"
import type { Alias, Head, SessionId, Store, StoredEntry } from "./store.ts"

/** The log of the operator's channel. Its name contains a space, which no session id may have, so no session can use it. */
export const operatorLog: SessionId = "operator log"
export const sharedRulesLog: SessionId = "shared rules"
/** The log of what tool calls spend. */
export const spendingLog: SessionId = "spending log"
/** Contains an encrypted text by which an encrypted store recognizes its key. */
export const sealingLog: SessionId = "sealing log"
/** The same for the next key, while the key is being changed. */
export const nextSealingLog: SessionId = "next sealing log"

const reserved: ReadonlySet<SessionId> = new Set([operatorLog, sharedRulesLog, spendingLog, sealingLog, nextSealingLog])

/** Refuses session calls on a reserved log. */
export function refuseReserved(session: SessionId): void {
  if (!reserved.has(session)) return
  const expected = "a name that is not one of our own logs'"
  refuseOption("session", expected, JSON.stringify(session))
}

/**
 * The same store, in which reserved logs are not sessions: they are read and appended to by name, and never listed, described, copied,
 * deleted, pruned or found by an alias. Every store is wrapped here, so aliases are checked here too.
 */
export function reserveLog(store: StoreOfLogs): Store {
  return {
    ...store,
    eraseTenant: store.eraseTenant ?? ((tenant) => eraseTenant(store, tenant)),
    session: async (session) => (reserved.has(session) ? undefined : store.session(session)),
    holdings: async (session) =>
      reserved.has(session) ? { payloads: [], summaries: [], memory: [] } : store.holdings(session),
    sessions: async (filter) => {
      const limit = filter?.limit
      // Fetch more than requested, because reserved logs are removed from the result.
      const more = limit === undefined || limit < 1 ? filter : { ...filter, limit: limit + reserved.size }
      const rows = await store.sessions(more)
      const others = rows.filter(({ id }) => !reserved.has(id))
      return limit === undefined ? others : others.slice(0, Math.max(0, Math.trunc(limit)))
    },
    copy: async (from, to, upTo) => {
      refuseReserved(from)
      refuseReserved(to)
      return store.copy(from, to, upTo)
    },
    remove: async (session) => {
      refuseReserved(session)
      return store.remove(session)
    },
    putSummary: async (session, key, json) => {
      refuseReserved(session)
      return store.putSummary(session, key, json)
    },
    putAliases: async (session, aliases) => {
      refuseReserved(session)
      return store.putAliases(session, checkAliases(aliases))
    },
    findAliases: async (names) => store.findAliases(checkNames(names)),
  }
}

/** A store before `reserveLog`: it treats all logs alike, and may leave erasing a tenant to us. */
export type StoreOfLogs = Omit<Store, "eraseTenant"> & Partial<Pick<Store, "eraseTenant">>

/** Sessions listed at a time. */
const batchSessions = 100

async function eraseTenant(store: StoreOfLogs, tenant: string): Promise<number> {
  let erased = 0
  for (;;) {
    const all = await store.sessions({ tenant, limit: batchSessions })
    const rows = all.filter(({ id }) => !reserved.has(id))
    for (const { id } of rows) if (await store.remove(id)) erased += 1
    if (rows.length === 0) break
  }
  await eraseSharedRules(store, tenant)
  await eraseSpending(store, tenant)
  return erased
}

/** Replaces each rule of a tenant by its own withdrawal, so that the other entries keep their numbers. */
const eraseSharedRules = (store: StoreOfLogs, tenant: string): Promise<void> =>
  rewriteLog(store, sharedRulesLog, (entry) => {
    if (entry.type !== "rule-pinned" || !belongsTo(entry, tenant)) return [entry]
    const { key: _, ...rest } = entry
    const type = "rule-unpinned"
    return [{ ...rest, type, parent: entry.seq, body: JSON.stringify({ type, pin: entry.seq }) }]
  })

const eraseSpending = (store: StoreOfLogs, tenant: string): Promise<void> =>
  rewriteLog(store, spendingLog, (entry) => (belongsTo(entry, tenant) ? [] : [entry]))

function belongsTo({ body }: StoredEntry, tenant: string): boolean {
  const read = tryParse(body)
  return isObject(read) && read.tenant === tenant
}

/** Rewrites a reserved log, with what `replace` returns in the place of each entry. */
async function rewriteLog(
  store: StoreOfLogs,
  log: SessionId,
  replace: (entry: StoredEntry) => readonly StoredEntry[],
): Promise<void> {
  const entries = await store.read(log)
  const kept = entries.flatMap(replace)
  if (kept.length === entries.length && kept.every((entry, at) => entry === entries[at])) return
  const payloads = await store.payloads(log, [...new Set(kept.flatMap(({ body }) => payloadsOf(body)))])
  let before = ""
  const entriesNow = kept.map(({ hash: _, ...entry }, at): StoredEntry => {
    const numbered = { ...entry, seq: at + 1 }
    before = hashEntry(before, numbered)
    return { ...numbered, hash: before }
  })
  await store.remove(log)
  if (entriesNow.length === 0) return
  const written = await store.append(log, { after: 0, entries: entriesNow, payloads, isCopy: true })
  if (written.type !== "appended") throw new HoldfastError({ code: "store-locked", store: store.kind, waitedMs: 0 })
}

const payloadMark = /\{"payload:sha256":"([0-9a-f]{64})"\}/g

/** The payload hashes in a body. A foreign text that looks like one is escaped in the JSON, so it does not match. */
export const payloadsOf = (body: string): readonly string[] =>
  [...body.matchAll(payloadMark)].map(([, hash = ""]) => hash)

/** Longer than the ids of clients and providers, and short enough for every index, even escaped. */
const maxNameLength = 300

/** More than a transcript has messages. SQLite writes this many in half a second (measured), which blocks the process. */
const maxNames = 20_000

/** Valid names, each once; throws an `option-invalid` Problem for others. */
function checkNames(names: readonly string[]): readonly string[] {
  checkCount(names)
  for (const name of names) checkText("name", name)
  return [...new Set(names)]
}

/** Valid aliases, the last one for each name; throws an `option-invalid` Problem for others. */
function checkAliases(aliases: readonly Alias[]): readonly Alias[] {
  checkCount(aliases)
  for (const { name, entry } of aliases) {
    checkText("name", name)
    if (entry !== undefined) checkText("entry", entry)
  }
  return [...new Map(aliases.map(({ name, entry }) => [name, { name, ...present({ entry }) }])).values()]
}

function checkCount({ length }: readonly unknown[]): void {
  if (length > maxNames) refuseOption("aliases", `at most ${maxNames} at once`, String(length))
}

function checkText(option: string, text: unknown): void {
  const expected = `a text of 1 to ${maxNameLength} characters`
  if (typeof text !== "string") refuseOption(option, expected, typeof text)
  else if (text.length < 1 || text.length > maxNameLength) refuseOption(option, expected, `${text.length} characters`)
}

/** The hash of an entry: over the previous hash and all its stored fields. */
export function hashEntry(before: string, { seq, type, atMs, parent, key, body }: Omit<StoredEntry, "hash">): string {
  return sha256Hex(JSON.stringify([before, seq, type, atMs, parent ?? null, key ?? null, body]).toWellFormed())
}

/** The first entry that breaks the hash chain. */
export function brokenLink(before: Head, entries: readonly StoredEntry[]): number | undefined {
  let { seq, hash } = before
  for (const entry of entries) {
    seq += 1
    if (entry.seq !== seq || hashEntry(hash, entry) !== entry.hash) return entry.seq
    hash = entry.hash
  }
  return undefined
}
