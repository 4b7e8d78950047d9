import { present } from "../../message/present.ts"
import { createRetry } from "../../session/retry.ts"
import { type AliasCache, type Bearer, createAliasCache } from "./alias-cache.ts"
import type { Write } from "./decision.ts"
import { type Look, lookup } from "./look.ts"
import { isTip } from "./names.ts"

export type Found = { readonly name: string; readonly session: string; readonly entry?: string }

export type ShelfDeps = {
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
export type AliasShelf = {
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

export function createAliasShelf({ find, put, isShared = false, onFault = () => {} }: ShelfDeps): AliasShelf {
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
