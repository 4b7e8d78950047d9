import type { Message, ModelRequest } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createRetry } from "../../session/limit-store.ts"
import { type Answered, answeredWrites } from "./answered-writes.ts"
import { decideAlone } from "./decide-alone.ts"
import { decideGroup } from "./decide-group.ts"
import type { AnswerPlace, Assignment, IdentityDecision, Write } from "./decision.ts"
import { readHistory } from "./history.ts"
import type { Identity } from "./identity.ts"
import { type AliasCache, type Bearer, createAliasCache, type Look, lookup } from "./look.ts"
import { isTip, type Names, namesFor } from "./names.ts"

export type LineageDeps = ShelfDeps & {
  readonly newId: () => string
  readonly now: () => number
  /** With names that cannot be looked up, may a request begin a session? It may be one that is known. Refused unless given. */
  readonly guesses?: boolean
}

export type Lineages = {
  /** Before a request is sent: to which session it belongs. */
  readonly assign: (
    tenant: string,
    identity: Identity,
    request: ModelRequest,
    /** The session that its bytes go on from, where that was seen. */
    fastPath?: string,
  ) => Promise<Assignment>
  /** Once for every assignment, whatever came of it: the answer, what was seen of it, or nothing. */
  readonly answered: (
    assignment: Assignment,
    request: ModelRequest,
    answer: readonly Message[],
    seen?: Answered,
  ) => Promise<void>
  /** Ends when the store has all that was decided so far, or is known to be away. */
  readonly saved: () => Promise<void>
}

/**
 * Tells which requests are one conversation. Names and marks at hand decide at once and in one step, so that requests that come at the
 * same time are decided one after another; what is not at hand comes from the store, where another process finds it too.
 */
export function createLineages(deps: LineageDeps): Lineages {
  const shelf = createAliasShelf(deps)
  const flights = createFlights(deps.now)
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
      const decide = (look: Look, peek: Look): IdentityDecision => {
        const question = {
          tenant,
          identity,
          request,
          history,
          names,
          look,
          peek,
          freshId,
          isInFlight: flights.has,
          ...present({ fastPath }),
        }
        const group = identity.explicit ?? identity.client
        return group === undefined ? decideAlone(question) : decideGroup(question, group)
      }
      const { assignment, writes } = await shelf.ask(
        decide,
        (decision) => {
          flights.begin(decision.assignment.session)
          places.set(decision.assignment, { place: decision.place, names })
        },
        ({ assignment }) => deps.guesses === true || !assignment.isNew,
      )
      const saved = writes.length > 0 ? shelf.save() : undefined
      // Here it is known at once; only where others look too has it to be in the store before anything goes on.
      const failed = deps.isShared === true ? await saved : undefined
      // Another process would not know a conversation without an id by what only this one has, nor its rules.
      if (failed !== undefined && !isNamed(identity) && deps.guesses !== true) {
        flights.end(assignment.session)
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
      const { writes } = await shelf.ask(
        (look) => answeredWrites({ ...about, look }),
        () => flights.end(session),
      )
      if (writes.length > 0) await shelf.save()
    },
    saved: async () => {
      await shelf.save()
    },
  }
}

const isNamed = ({ explicit, client }: Identity): boolean => (explicit ?? client) !== undefined

/** Which sessions wait for an answer. */
type Flights = {
  readonly begin: (session: string) => void
  readonly end: (session: string) => void
  readonly has: (session: string) => boolean
}

/** Longer than any answer takes: whoever did not say by then how it ended never will. */
const maxMs = 30 * 60_000

function createFlights(now: () => number): Flights {
  const open = new Map<string, { readonly count: number; readonly sinceMs: number }>()
  const lived = (session: string) => {
    const flight = open.get(session)
    return flight !== undefined && now() - flight.sinceMs < maxMs ? flight : undefined
  }
  return {
    begin: (session) => {
      const count = (lived(session)?.count ?? 0) + 1
      open.delete(session)
      open.set(session, { count, sinceMs: now() })
      for (const oldest of open.keys()) {
        if (lived(oldest) !== undefined) break
        open.delete(oldest)
      }
    },
    end: (session) => {
      const flight = open.get(session)
      if (flight === undefined || flight.count <= 1) open.delete(session)
      else open.set(session, { ...flight, count: flight.count - 1 })
    },
    has: (session) => lived(session) !== undefined,
  }
}

type Found = { readonly name: string; readonly session: string; readonly entry?: string }

type ShelfDeps = {
  /** The store's `findAliases`. */
  readonly find: (names: readonly string[]) => Promise<readonly Found[]>
  /** The store's `putAliases`. */
  readonly put: (
    session: string,
    aliases: readonly { readonly name: string; readonly entry?: string }[],
  ) => Promise<void>
  /** Other processes write to the same store: what a session was asked last is read anew every time. */
  readonly isShared?: boolean
  /** A store that is away. Requests go on with what is at hand, and what could not be written is written with what comes next. */
  readonly onFault?: (error: unknown) => void
}

type Looked = Map<string, Bearer | undefined>
type Failed = { readonly error: unknown }

/** Names at hand, with the store behind them. */
type AliasShelf = {
  /**
   * Ask a question that only looks; what it misses is fetched, and it is asked again. Once it misses nothing, its answer, its writes
   * and `settle` are one step: no other question comes between. Where the store could not be asked, an answer that `isSure` does not
   * take is none, and what the store says is thrown.
   */
  readonly ask: <Answer extends { readonly writes: readonly Write[] }>(
    question: (look: Look, peek: Look) => Answer,
    settle: (answer: Answer) => void,
    isSure?: (answer: Answer) => boolean,
  ) => Promise<Answer>
  /** Wait until what was written is in the store, or the store is known to be away; then it is told why. */
  readonly save: () => Promise<Failed | undefined>
}

/** At about 200 bytes a name: 20 MB, and some thousand conversations. */
const maxNames = 100_000
/** Names that wait for a store that is away. */
const maxUnsaved = 20_000
/** A question looks at the names that an earlier look led to, and there is no longer way than this; more would be a circle. */
const maxRounds = 8

function createAliasShelf({ find, put, isShared = false, onFault = () => {} }: ShelfDeps): AliasShelf {
  const cache = createAliasCache(maxNames)
  const unsaved = new Map<string, Bearer>()
  /** What the store has of these names; why it could not be asked, if so. */
  const fetch = async (names: readonly string[], fetched: Looked): Promise<Failed | undefined> => {
    for (const name of names) fetched.set(name, unsaved.get(name))
    try {
      for (const { name, session, entry } of await find(names)) {
        const bearer = { session, ...present({ entry }) }
        if (unsaved.has(name)) continue
        fetched.set(name, bearer)
        if (isTip(name) || cache.get(name) === undefined) cache.set(name, bearer)
      }
      return undefined
    } catch (error) {
      onFault(error)
      for (const name of names) fetched.set(name, cache.get(name))
      return { error }
    }
  }
  const isFresh = (name: string): boolean => !isShared || !isTip(name)
  const flush = async (): Promise<Failed | undefined> => {
    try {
      const bySession = Map.groupBy([...unsaved], ([, bearer]) => bearer.session)
      await Promise.all(
        [...bySession].map(async ([session, names]) => {
          await put(
            session,
            names.map(([name, { entry }]) => ({ name, ...present({ entry }) })),
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
  let last: Promise<Failed | undefined> = Promise.resolve(undefined)
  // One after another: of two writes of a name the later one has to stay.
  const save = (): Promise<Failed | undefined> => {
    last = last.then(flush)
    return last
  }
  // Another process may need what waits here.
  const again = createRetry(() => save().then(() => unsaved.size === 0))
  return {
    ask: async (question, settle, isSure = () => true) => {
      const fetched: Looked = new Map()
      let failed: Failed | undefined
      for (let round = 0; ; round++) {
        const { look, peek, missing } = lookup(cache, fetched, isFresh)
        // Where others write too, what is at hand does not say that a name is free.
        const answer = question(look, isShared ? look : peek)
        if (missing.size > 0 && round < maxRounds) failed = (await fetch([...missing], fetched)) ?? failed
        else {
          if (failed !== undefined && !isSure(answer)) throw failed.error
          for (const one of answer.writes) keepUnsaved(cache, unsaved, one)
          settle(answer)
          return answer
        }
      }
    },
    save,
  }
}

function keepUnsaved(cache: AliasCache, unsaved: Map<string, Bearer>, { name, session, entry }: Write): void {
  const bearer = { session, ...present({ entry }) }
  cache.set(name, bearer)
  unsaved.delete(name)
  unsaved.set(name, bearer)
  for (const oldest of unsaved.keys()) {
    if (unsaved.size <= maxUnsaved) break
    unsaved.delete(oldest)
  }
}
