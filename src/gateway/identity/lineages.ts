import type { Message, ModelRequest } from "../../message/message.ts"
import { setNewest } from "../../message/recall.ts"
import { createRetry } from "../../session/limit-store.ts"
import { answeredWrites, type ResponseOutcome } from "./answered-writes.ts"
import { decideAlone } from "./decide-alone.ts"
import { decideGroup } from "./decide-group.ts"
import type { AnswerPlace, Assignment, Bearer, IdentityDecision, Look, Write } from "./decision.ts"
import type { Identity } from "./identity.ts"
import { isTip, type Names, namesFor, readHistory } from "./names.ts"

export type LineageDeps = AliasDeps & {
  readonly newId: () => string
  readonly now: () => number
  /** If names cannot be looked up: begin a session for a request, though it may belong to a known one. Otherwise it is refused. */
  readonly guesses?: boolean
}

export type Lineages = {
  /** Decides the session of a request, before it is sent. */
  readonly assign: (
    tenant: string,
    identity: Identity,
    request: ModelRequest,
    /** The session of the fast path that the request continues, if there is one. */
    fastPath?: string,
  ) => Promise<Assignment>
  /** Call once for every assignment, with the response, the part that arrived, or no messages. */
  readonly answered: (
    assignment: Assignment,
    request: ModelRequest,
    answer: readonly Message[],
    seen?: ResponseOutcome,
  ) => Promise<void>
  /** Resolves when the store has all names so far, or is known to be unavailable. */
  readonly saved: () => Promise<void>
}

/**
 * Decides which requests belong to one conversation. A decision from cached names is synchronous, so concurrent requests are decided one
 * after another. Other names come from the store, which other processes share.
 */
export function createLineages(deps: LineageDeps): Lineages {
  const aliases = createAliasNames(deps)
  const pending = createPendingSessions(deps.now)
  const places = new WeakMap<Assignment, { readonly place: AnswerPlace; readonly names: Names }>()
  return {
    assign: async (tenant, identity, request, fastPath) => {
      const history = readHistory(request)
      const names = namesFor(tenant, identity)
      let id: string | undefined
      const freshId = (): string => {
        id ??= deps.newId()
        return id
      }
      const known = { tenant, identity, request, history, names, freshId, isInFlight: pending.has, fastPath }
      // Responses of the fast path's session are recorded after this request, so there is nothing to wait for.
      let mayWait = fastPath === undefined
      const decide = (look: Look, peek: Look): IdentityDecision => {
        const question = { ...known, look, peek }
        const group = identity.explicit ?? identity.client
        const decision = group === undefined ? decideAlone(question) : decideGroup(question, group)
        return mayWait && decision.awaits !== undefined
          ? { ...decision, writes: [] }
          : { ...decision, awaits: undefined }
      }
      const ask = () =>
        aliases.ask(
          decide,
          ({ assignment, place, awaits }) => {
            if (awaits !== undefined) return
            pending.begin(assignment.session)
            places.set(assignment, { place, names })
          },
          ({ assignment }) => deps.guesses === true || !assignment.isNew,
        )
      let decided = await ask()
      if (decided.awaits !== undefined) {
        await pending.nextEnd(decided.awaits)
        mayWait = false
        decided = await ask()
      }
      const { assignment, writes } = decided
      const saved = writes.length > 0 ? aliases.save() : undefined
      // This process knows the names at once. Wait for the store only if other processes read it.
      const failed = deps.isShared === true ? await saved : undefined
      // Another process could not find a conversation without an id by names that only this process has, and would miss its rules.
      if (failed !== undefined && !isNamed(identity) && deps.guesses !== true) {
        pending.end(assignment.session)
        places.delete(assignment)
        throw failed.error
      }
      return assignment
    },
    answered: async (assignment, request, answer, seen = {}) => {
      const known = places.get(assignment)
      if (known === undefined) return
      places.delete(assignment)
      const { session, role } = assignment
      const about = { ...known, session, role, request, answer, seen }
      const { writes } = await aliases.ask(
        (look) => answeredWrites({ ...about, look }),
        () => pending.end(session),
      )
      if (writes.length > 0) await aliases.save()
    },
    saved: async () => {
      await aliases.save()
    },
  }
}

const isNamed = ({ explicit, client }: Identity): boolean => (explicit ?? client) !== undefined

/** Time after which a pending request is forgotten: longer than any response takes. */
const maxMs = 30 * 60_000
/** Limit on the wait for a response: its last event and its end are milliseconds apart, so a longer wait is for another client's. */
const maxWaitMs = 1000

/** The sessions that wait for a response. */
function createPendingSessions(now: () => number) {
  const open = new Map<string, { readonly count: number; readonly sinceMs: number }>()
  const waiters = new Set<{ readonly session: string; readonly go: () => void }>()
  const liveEntry = (session: string) => {
    const entry = open.get(session)
    return entry !== undefined && now() - entry.sinceMs < maxMs ? entry : undefined
  }
  return {
    begin: (session: string): void => {
      const count = (liveEntry(session)?.count ?? 0) + 1
      open.delete(session)
      open.set(session, { count, sinceMs: now() })
      for (const oldest of open.keys()) {
        if (liveEntry(oldest) !== undefined) break
        open.delete(oldest)
      }
    },
    end: (session: string): void => {
      const entry = open.get(session)
      if (entry === undefined || entry.count <= 1) open.delete(session)
      else open.set(session, { ...entry, count: entry.count - 1 })
      for (const waiter of waiters) if (waiter.session === session) waiter.go()
    },
    /** Resolves when a response of this session is recorded, or after `maxWaitMs`. */
    nextEnd: async (session: string): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = { session, go: resolve }
      waiters.add(waiter)
      const timer = setTimeout(resolve, maxWaitMs)
      await promise
      clearTimeout(timer)
      waiters.delete(waiter)
    },
    has: (session: string): boolean => liveEntry(session) !== undefined,
  }
}

type AliasDeps = {
  readonly find: (names: readonly string[]) => Promise<readonly Write[]>
  readonly put: (session: string, aliases: readonly Omit<Write, "session">[]) => Promise<void>
  /** Other processes write to the same store, so the last request of a session is read from the store every time. */
  readonly isShared?: boolean
  /** Called if the store is unavailable. Requests continue with cached names, and unwritten names are written with the next ones. */
  readonly onFault?: (error: unknown) => void
}

type StoreFailure = { readonly error: unknown }

/** Limit on cached names: at about 200 bytes each this is 20 MB, enough for some thousand conversations. */
const maxNames = 100_000
/** Limit on names that wait for an unavailable store. */
const maxUnsaved = 20_000
/** Limit on fetches for one question, each for names found in the previous one. No question needs more. */
const maxRounds = 8

/** A cache of names in front of the store. The least recently used name is dropped first; the store still has it. */
function createAliasNames({ find, put, isShared = false, onFault = () => {} }: AliasDeps) {
  const cache = new Map<string, Bearer>()
  const unsaved = new Map<string, Bearer>()
  const cached: Look = (name) => {
    const bearer = cache.get(name)
    // Move it to the end: the least recently used name is dropped first.
    if (bearer !== undefined && cache.delete(name)) cache.set(name, bearer)
    return bearer
  }
  /** Fetches names from the store; returns the error if the store cannot be read. Names that no session has are set to undefined. */
  const fetch = async (names: readonly string[], fetched: Map<string, Bearer | undefined>) => {
    for (const name of names) fetched.set(name, unsaved.get(name))
    try {
      for (const { name, session, entry } of await find(names)) {
        const bearer = { session, entry }
        if (unsaved.has(name)) continue
        fetched.set(name, bearer)
        if (isTip(name) || cached(name) === undefined) setNewest(cache, name, bearer, maxNames)
      }
      return undefined
    } catch (error) {
      onFault(error)
      for (const name of names) fetched.set(name, cached(name))
      return { error }
    }
  }
  /**
   * Asks a question that only reads names. Missing names are fetched, and it is asked again. Once none is missing, its answer, its writes
   * and `settle` happen in one step, without another question in between. If the store could not be read and `isSure` rejects the answer,
   * the store's error is thrown.
   */
  const ask = async <Answer extends { readonly writes: readonly Write[] }>(
    question: (look: Look, peek: Look) => Answer,
    settle: (answer: Answer) => void,
    isSure: (answer: Answer) => boolean = () => true,
  ): Promise<Answer> => {
    const fetched = new Map<string, Bearer | undefined>()
    let failed: StoreFailure | undefined
    for (let round = 0; ; round++) {
      const missing = new Set<string>()
      const look: Look = (name) => {
        const isFetched = fetched.has(name)
        const found = isFetched || !isShared || !isTip(name) ? cached(name) : undefined
        if (found === undefined && !isFetched) missing.add(name)
        return found ?? fetched.get(name)
      }
      // If other processes write too, the cache cannot tell that a name is free.
      const answer = question(look, isShared ? look : (name) => cached(name) ?? fetched.get(name))
      if (missing.size > 0 && round < maxRounds) failed = (await fetch([...missing], fetched)) ?? failed
      else {
        if (failed !== undefined && !isSure(answer)) throw failed.error
        for (const { name, session, entry } of answer.writes) {
          setNewest(cache, name, { session, entry }, maxNames)
          setNewest(unsaved, name, { session, entry }, maxUnsaved)
        }
        settle(answer)
        return answer
      }
    }
  }
  return { ask, save: createSaving(unsaved, put, onFault) }
}

/** Saves names in order, so that of two writes of a name the later one stays; resolves with the error if the store is unavailable. */
function createSaving(unsaved: Map<string, Bearer>, put: AliasDeps["put"], onFault: (error: unknown) => void) {
  const flush = async (): Promise<StoreFailure | undefined> => {
    try {
      const bySession = Map.groupBy([...unsaved], ([, bearer]) => bearer.session)
      await Promise.all(
        [...bySession].map(async ([session, names]) => {
          await put(
            session,
            names.map(([name, { entry }]) => ({ name, entry })),
          )
          for (const [name, bearer] of names) if (unsaved.get(name) === bearer) unsaved.delete(name)
        }),
      )
      return undefined
    } catch (error) {
      onFault(error)
      again.start()
      return { error }
    }
  }
  let last: Promise<StoreFailure | undefined> = Promise.resolve(undefined)
  const save = (): Promise<StoreFailure | undefined> => {
    last = last.then(flush)
    return last
  }
  // Retry, because another process may need the unsaved names.
  const again = createRetry(() => save().then(() => unsaved.size === 0))
  return save
}
