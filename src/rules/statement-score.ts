import { lazy } from "../language/lazy.ts"
import { pageBias, pageWeights, talkBias, talkWeights, weightStep } from "./generated/rule-weights.ts"
import { featuresOf, type StatementView, tableSize } from "./rule-model.ts"
import { readLevels, weightsOfLevels, zeroLevel } from "./weight-table.ts"
import { marksOfWords, type Reading, stretchOf } from "./word-classes.ts"
import { wordField, wordFlag, wordLength } from "./word-facts.ts"

/** What is read: what a person says in a conversation, or a page that was written to be followed. */
export type Register = "talk" | "page"

/** The weight of each level. */
const weightOf: Float32Array = weightsOfLevels(weightStep)

type Table = { readonly levels: Int8Array; readonly bias: number }

/** The weights of each register, read when a sentence of it is scored first: most processes need one of the two. */
const talkTable = lazy((): Table => ({ levels: readLevels(talkWeights, tableSize), bias: talkBias }))
const pageTable = lazy((): Table => ({ levels: readLevels(pageWeights, tableSize), bias: pageBias }))

/**
 * How sure the model is that a sentence is a standing rule: the logarithm of the odds. What people say in one breath often binds in one
 * clause only, so a clause that is surer than the whole lifts it.
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
/** Scores that no clause changes the answer of. */
const [hopeless, certain] = [-4, 2]

export const liftedScore = (whole: number, clauses: readonly number[]): number =>
  whole + clauseLift * Math.max(0, Math.max(whole, ...clauses) - whole)
/** How far the surest clause lifts its sentence: chosen on sources that were left out of the training. */
const clauseLift = 0.35

function scoreOf(view: StatementView, register: Register): number {
  const { levels, bias } = register === "talk" ? talkTable() : pageTable()
  const { ids, length } = featuresOf(view)
  let score = 0
  for (let at = 0; at < length; at++) score += weightOf[(levels[ids[at] ?? 0] ?? 0) + zeroLevel] ?? 0
  return bias + score * shareOf(length, register)
}

/** The clauses of a sentence that has several: what stands between joints and words that join, if it can say something by itself. */
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
  // The only clause is the sentence.
  for (let n = 0; n < bounds.length && bounds.length > 2; n += 2) {
    const [from, to] = [bounds[n] ?? first, bounds[n + 1] ?? end]
    found.push(stretchOf(text, words, lists, from, to, marksOfWords(words, from, to)))
  }
  return found
}
const parting = wordFlag.joint | wordFlag.joining
const leastWords = 3

/** What people say at length is no surer for its many features; on a page every line is to the point. */
export const shareOf = (features: number, register: Register): number =>
  register === "page" ? 1 : Math.sqrt(usualFeatures / Math.max(features, fewFeatures))
const [usualFeatures, fewFeatures] = [80, 20]
