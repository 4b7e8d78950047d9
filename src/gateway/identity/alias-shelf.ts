import { present } from "../../message/present.ts"
import { type Bearer, createAliasCache } from "./alias-cache.ts"
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

/** Names at hand, with the store behind them. */
export type AliasShelf = {
  /**
   * Ask a question that only looks; what it misses is fetched, and it is asked again. Once it misses nothing, its answer, its writes
   * and `settle` are one step: no other question comes between.
   */
  readonly ask: <Answer extends { readonly writes: readonly Write[] }>(
    question: (look: Look) => Answer,
    settle: (answer: Answer) => void,
  ) => Promise<Answer>
  /** Wait until what was written is in the store, or the store is known to be away. */
  readonly save: () => Promise<void>
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
  const fetch = async (names: readonly string[], fetched: Map<string, Bearer | undefined>): Promise<void> => {
    for (const name of names) fetched.set(name, unsaved.get(name))
    try {
      for (const { name, session, entry } of await find(names)) {
        const bearer = { session, ...present({ entry }) }
        if (unsaved.has(name)) continue
        fetched.set(name, bearer)
        if (isTip(name) || cache.get(name) === undefined) cache.set(name, bearer)
      }
    } catch (error) {
      onFault(error)
      for (const name of names) fetched.set(name, cache.get(name))
    }
  }
  const isFresh = (name: string): boolean => !isShared || !isTip(name)
  const write = ({ name, session, entry }: Write): void => {
    const bearer = { session, ...present({ entry }) }
    cache.set(name, bearer)
    unsaved.delete(name)
    unsaved.set(name, bearer)
    for (const oldest of unsaved.keys()) {
      if (unsaved.size <= maxUnsaved) break
      unsaved.delete(oldest)
    }
  }
  const flush = async (): Promise<void> => {
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
    } catch (error) {
      onFault(error)
    }
  }
  let last: Promise<void> = Promise.resolve()
  return {
    ask: async (question, settle) => {
      const fetched = new Map<string, Bearer | undefined>()
      for (let round = 0; ; round++) {
        const { look, missing } = lookup(cache, fetched, isFresh)
        const answer = question(look)
        if (missing.size > 0 && round < maxRounds) await fetch([...missing], fetched)
        else {
          for (const one of answer.writes) write(one)
          settle(answer)
          return answer
        }
      }
    },
    // One after another: of two writes of a name the later one has to stay.
    save: () => {
      last = last.then(flush)
      return last
    },
  }
}
