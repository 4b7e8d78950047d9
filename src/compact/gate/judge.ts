import { concept } from "./concept.ts"
import type { FindingKind, Strength } from "./finding.ts"
import { type Rule, signalRules } from "./rule.ts"
import type { Sentence, Word } from "./sentence.ts"

/** A rule that a sentence meets, and the words it rests on, as places in the sentence's list. */
export type Match = {
  readonly kind: FindingKind
  readonly strength: Strength
  readonly first: number
  readonly last: number
  /** It begins in the sentence before. */
  readonly across?: boolean
}

/** A command opens its clause, or follows a word that only leads up to one; a forbidden one is none. */
function commands(words: readonly Word[], n: number): boolean {
  const word = words[n]
  const before = words[n - 1]
  if (word === undefined) return false
  if (word.opens || before?.at !== word.at - 1) return word.opens
  return (before.concepts & concept.lead) !== 0 && (before.concepts & concept.not) === 0
}

/** The place nearest to `n`, within reach, of a word with one of these concepts. */
function nearest(words: readonly Word[], n: number, group: number, reach: number): number | undefined {
  const here = words[n]?.at ?? 0
  const has = (word: Word | undefined): boolean =>
    word !== undefined && Math.abs(word.at - here) <= reach && (word.concepts & group) !== 0
  for (let step = 1; step <= reach; step++) {
    if (has(words[n + step])) return n + step
    if (has(words[n - step])) return n - step
  }
  return undefined
}

function meets(words: readonly Word[], n: number, rule: Rule): Match | undefined {
  if (rule.commands && !commands(words, n)) return undefined
  if (rule.unless !== 0 && nearest(words, n, rule.unless, rule.reach) !== undefined) return undefined
  let first = n
  let last = n
  for (const group of rule.near) {
    const place = nearest(words, n, group, rule.reach)
    if (place === undefined) return undefined
    first = Math.min(first, place)
    last = Math.max(last, place)
  }
  return { kind: rule.kind, strength: rule.strength, first, last }
}

/** Words between a quotation and the word that says whose it is. */
const mentionReach = 25

/** Quoted, and someone is said to have said it: a text about attempts, not an attempt. */
function isMention(words: readonly Word[], match: Match, told: boolean): boolean {
  const at = words[match.first]?.at ?? 0
  const before = words[match.first - 1]
  const led = before?.at === at - 1 && before.quoted
  const quoted = led || words.slice(match.first, match.last + 1).some((word) => word.quoted)
  const reported = (word: Word): boolean =>
    (word.concepts & concept.report) !== 0 && Math.abs(word.at - at) <= mentionReach
  return quoted && (told || words.some(reported))
}

/** The first rule that a sentence meets; `told` says that the sentence before spoke of attempts. */
export function judge({ words }: Sentence, told: boolean): Match | undefined {
  if (words.length < 2) return undefined
  const present = words.reduce((all, word) => all | word.concepts, 0)
  for (const rule of signalRules) {
    if ((present & rule.head) === 0 || rule.near.some((group) => (present & group) === 0)) continue
    for (let n = 0; n < words.length; n++) {
      if (((words[n]?.concepts ?? 0) & rule.head) === 0) continue
      const match = meets(words, n, rule)
      if (match !== undefined && !isMention(words, match, told)) return match
    }
  }
  return undefined
}
