import { lazy } from "../language/lazy.ts"
import { pageBias, pageWeights, talkBias, talkWeights, weightStep } from "./generated/rule-weights.ts"
import { featuresOf, type StatementView, tableSize } from "./rule-model.ts"
import { readLevels, weightsOfLevels, zeroLevel } from "./weight-table.ts"
import { marksOfWords, type Reading, stretchOf } from "./word-classes.ts"
import { wordField, wordFlag, wordLength } from "./word-facts.ts"

/** How a text is read: as what a person says in a conversation ("talk"), or as a file that was written to be followed ("page"). */
export type Register = "talk" | "page"

/** Weight of each level. */
const weightOf: Float32Array = weightsOfLevels(weightStep)

type Table = { readonly levels: Int8Array; readonly bias: number }

/** Weights of each register, decoded on first use: most processes need only one of the two. */
const talkTable = lazy((): Table => ({ levels: readLevels(talkWeights, tableSize), bias: talkBias }))
const pageTable = lazy((): Table => ({ levels: readLevels(pageWeights, tableSize), bias: pageBias }))

/**
 * Returns the log odds that a sentence is a standing rule. What people say often binds in one clause only, so a clause that scores higher
 * than the whole sentence raises its score.
 */
export function statementScore(view: StatementView, register: Register): number {
  const whole = scoreOf(view, register)
  if (register === "page" || whole < hopeless || whole > certain) return whole
  const clauses = clausesOf(view.own)
  return clauses.length === 0
    ? whole
    : liftedScore(
        whole,
        clauses.map((own) => scoreOf({ ...view, own }, register)),
      )
}
/** Scores below the first or above the second are decided, whatever the clauses score. */
const [hopeless, certain] = [-4, 2]

export const liftedScore = (whole: number, clauses: readonly number[]): number =>
  whole + clauseLift * Math.max(0, Math.max(whole, ...clauses) - whole)
/** Share of the difference to the best clause that is added; chosen on sources that were left out of the training. */
const clauseLift = 0.35

function scoreOf(view: StatementView, register: Register): number {
  const { levels, bias } = register === "talk" ? talkTable() : pageTable()
  const { ids, length } = featuresOf(view)
  let score = 0
  for (let at = 0; at < length; at++) score += weightOf[(levels[ids[at] ?? 0] ?? 0) + zeroLevel] ?? 0
  return bias + score * shareOf(length, register)
}

/**
 * Returns the clauses of a sentence that has several: the parts between punctuation and conjunctions that are long enough to say something.
 */
export function clausesOf(reading: Reading): readonly Reading[] {
  const { text, words, lists, first, end } = reading
  const bounds: number[] = []
  let isLong = false
  for (let at = first, start = first; at <= end; at += wordLength) {
    const flags = at < end ? (words[at + wordField.flags] ?? 0) : parting
    if ((flags & wordFlag.longRun) !== 0) isLong = true
    if ((flags & parting) === 0) continue
    const count = (at - start) / wordLength
    if (count >= leastWords || isLong) bounds.push(start, at)
    start = at + wordLength
    isLong = false
  }
  const found: Reading[] = []
  // A single clause is the sentence itself.
  for (let n = 0; n < bounds.length && bounds.length > 2; n += 2) {
    const [from, to] = [bounds[n] ?? first, bounds[n + 1] ?? end]
    found.push(stretchOf(text, words, lists, from, to, marksOfWords(words, from, to)))
  }
  return found
}
const parting = wordFlag.joint | wordFlag.joining
const leastWords = 3

/**
 * Scales the sum of the weights, because the many features of a long spoken sentence make it no surer. In a file of instructions every line
 * is to the point.
 */
export const shareOf = (features: number, register: Register): number =>
  register === "page" ? 1 : Math.sqrt(usualFeatures / Math.max(features, fewFeatures))
const [usualFeatures, fewFeatures] = [80, 20]
