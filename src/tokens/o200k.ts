import type { Tokens } from "../message/message.ts"
import { type Counter, createCounter } from "./counter.ts"
import { mergePairs, singleBytes } from "./generated/o200k.ts"
import { readVocabulary } from "./vocabulary.ts"

let shared: Counter | undefined

/** The process's one counter, built on first use: its caches serve every session. */
export function o200k(): Counter {
  shared ??= createCounter(readVocabulary(singleBytes, mergePairs))
  return shared
}

/** How many o200k tokens a text has. Special tokens count as the plain text they are. */
export const countO200k = (text: string): Tokens => o200k().count(text)

/** The longest beginning of a text that has at most `budget` o200k tokens, cut between characters. */
export const truncateO200k = (text: string, budget: Tokens): string => o200k().truncate(text, budget)
