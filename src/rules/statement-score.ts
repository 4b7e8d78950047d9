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
const tables = new Map<Register, Table>()

function tableOf(register: Register): Table {
  const known = tables.get(register)
  if (known !== undefined) return known
  const made =
    register === "talk"
      ? { levels: readLevels(talkWeights, tableSize), bias: talkBias }
      : { levels: readLevels(pageWeights, tableSize), bias: pageBias }
  tables.set(register, made)
  return made
}

/**
 * How sure the model is that a sentence is a standing rule: the logarithm of the odds. What people say in one breath often binds in one
 * clause only, so a clause that is surer than the whole lifts it.
 */
export function statementScore(view: StatementView, register: Register): number {
  const whole = scoreOf(view, register)
  if (register === "page" || whole < hopeless || whole > certain) return whole
  const clauses = clausesOf(view.own).map((own) => scoreOf({ ...view, own }, register))
  return liftedScore(whole, clauses)
}
/** Scores that no clause changes the answer of. */
const [hopeless, certain] = [-4, 2]

export const liftedScore = (whole: number, clauses: readonly number[]): number =>
  whole + clauseLift * Math.max(0, Math.max(whole, ...clauses) - whole)
/** How far the surest clause lifts its sentence: chosen on sources that were left out of the training. */
const clauseLift = 0.35

function scoreOf(view: StatementView, register: Register): number {
  const { levels, bias } = tableOf(register)
  const { ids, length } = featuresOf(view)
  let score = 0
  for (let at = 0; at < length; at++) score += weightOf[(levels[ids[at] ?? 0] ?? 0) + zeroLevel] ?? 0
  return bias + score * shareOf(length, register)
}

/** The clauses of a sentence that has several: what stands between joints and words that join, if it can say something by itself. */
export function clausesOf(reading: Reading): readonly Reading[] {
  const { text, words, lists, first, end } = reading
  const found: Reading[] = []
  let isLong = false
  for (let at = first, start = first; at <= end; at += wordLength) {
    const flags = at < end ? (words[at + wordField.flags] ?? 0) : parting
    if ((flags & wordFlag.longRun) !== 0) isLong = true
    if ((flags & parting) === 0) continue
    const count = (at - start) / wordLength
    if (count >= leastWords || isLong)
      found.push(stretchOf(text, words, lists, start, at, marksOfWords(words, start, at)))
    start = at + wordLength
    isLong = false
  }
  return found.length > 1 ? found : []
}
const parting = wordFlag.joint | wordFlag.joining
const leastWords = 3

/** What people say at length is no surer for its many features; on a page every line is to the point. */
export const shareOf = (features: number, register: Register): number =>
  register === "page" ? 1 : Math.sqrt(usualFeatures / Math.max(features, fewFeatures))
const [usualFeatures, fewFeatures] = [80, 20]
