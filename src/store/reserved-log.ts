import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { sha256Hex } from "../message/sha256.ts"
import type { Alias, Head, SessionId, Store, StoredEntry } from "./store.ts"

/** The log of the operator's channel. Its name has a blank, which no session's name may have, so that nobody can open one of that name. */
export const operatorLog: SessionId = "operator log"
/** The log of the rules that hold for more than one session. */
export const sharedRulesLog: SessionId = "shared rules"

const reserved: ReadonlySet<SessionId> = new Set([operatorLog, sharedRulesLog])

/** Refuse what would be done to such a log under the name of a session. */
export function refuseReserved(session: SessionId): void {
  if (!reserved.has(session)) return
  const expected = "a name that is not one of our own logs'"
  throw new HoldfastError({ code: "option-invalid", option: "session", expected, found: JSON.stringify(session) })
}

/**
 * The same store, in which our own logs are no sessions: they are read and appended to by name, and never listed, described, copied,
 * deleted, pruned or found by an alias. Every store is made through this one door, so aliases are checked here.
 */
export function reserveLog(store: Store): Store {
  return {
    ...store,
    session: async (session) => (reserved.has(session) ? undefined : store.session(session)),
    holdings: async (session) =>
      reserved.has(session) ? { payloads: [], summaries: [], memory: [] } : store.holdings(session),
    sessions: async (filter) => {
      const limit = filter?.limit
      // More than asked for: those that are left out must not take the place of others.
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

/** Longer than the ids that clients and providers give, and short enough for every index, escaped or not. */
const NAME_CHARACTERS = 300

/** More than a transcript has messages. SQLite writes so many in half a second (measured), in which the process does nothing else. */
const MOST_NAMES = 20_000

/** Names that can be borne, each once; an `option-invalid` Problem for any other. */
function checkNames(names: readonly string[]): readonly string[] {
  checkCount(names)
  for (const name of names) checkText("name", name)
  return [...new Set(names)]
}

/** Aliases that can be kept, one for each name, the last; an `option-invalid` Problem for any other. */
function checkAliases(aliases: readonly Alias[]): readonly Alias[] {
  checkCount(aliases)
  for (const { name, entry } of aliases) {
    checkText("name", name)
    if (entry !== undefined) checkText("entry", entry)
  }
  return [...new Map(aliases.map(({ name, entry }) => [name, { name, ...present({ entry }) }])).values()]
}

function checkCount({ length }: readonly unknown[]): void {
  if (length > MOST_NAMES) refuse("aliases", `at most ${MOST_NAMES} at once`, String(length))
}

function checkText(option: string, text: unknown): void {
  const expected = `a text of 1 to ${NAME_CHARACTERS} characters`
  if (typeof text !== "string") refuse(option, expected, typeof text)
  else if (text.length < 1 || text.length > NAME_CHARACTERS) refuse(option, expected, `${text.length} characters`)
}

function refuse(option: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found })
}

/** The hash of an entry: over the hash before it and everything that is kept of it. */
export function hashEntry(before: string, { seq, type, atMs, parent, key, body }: Omit<StoredEntry, "hash">): string {
  return sha256Hex(JSON.stringify([before, seq, type, atMs, parent ?? null, key ?? null, body]).toWellFormed())
}

/** The first entry that does not follow from the one before it. */
export function brokenLink(before: Head, entries: readonly StoredEntry[]): number | undefined {
  let { seq, hash } = before
  for (const entry of entries) {
    seq += 1
    if (entry.seq !== seq || hashEntry(hash, entry) !== entry.hash) return entry.seq
    hash = entry.hash
  }
  return undefined
}
