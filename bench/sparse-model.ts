import { createDice, shuffle } from "./rules-examples.ts"
import type { Model } from "./rules-train.ts"

/** Trains a linear model over a few hashed features for each example: the models of who speaks and of announcements. */

export type SparseExample = {
  readonly ids: readonly number[]
  readonly isTrue: boolean
  readonly weight: number
  /** By how much examples of its kind count for more. */
  readonly factor: number
  /** What each feature's weight is multiplied by, and what the score starts from besides the bias. */
  readonly part: number
  readonly start: number
}

type SparseOptions = {
  readonly tableSize: number
  readonly epochs: number
  readonly rate: number
  readonly decay: number
  /** Share of the features that each step leaves out, at random. */
  readonly dropped: number
}

/** Logistic regression with steps that get smaller for weights that were changed before (AdaGrad). */
function trainOne(
  examples: readonly SparseExample[],
  { tableSize, epochs, rate, decay, dropped }: SparseOptions,
  seed: number,
): Model {
  const dice = createDice(seed)
  const [weights, squares] = [new Float64Array(tableSize), new Float64Array(tableSize).fill(1e-3)]
  let [bias, biasSquare] = [0, 1e-3]
  const order = examples.map((_, n) => n)
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, dice)
    for (const n of order) {
      const example = examples[n]
      if (example === undefined) continue
      const { ids, isTrue, weight, factor, part, start } = example
      const read = ids.filter(() => dice(1000) >= dropped * 1000)
      const score = read.reduce((sum, id) => sum + (weights[id] ?? 0) * part, bias + start)
      const miss = (1 / (1 + Math.exp(-score)) - Number(isTrue)) * weight * factor
      for (const id of read) {
        const step = miss * part + decay * (weights[id] ?? 0)
        squares[id] = (squares[id] ?? 0) + step * step
        weights[id] = (weights[id] ?? 0) - (rate * step) / Math.sqrt(squares[id] ?? 1)
      }
      biasSquare += miss * miss
      bias -= (rate * miss) / Math.sqrt(biasSquare)
    }
  }
  return { weights: weights.map((weight) => weight * (1 - dropped)), bias }
}

/** Returns the mean of models that read the examples in different orders. */
export function trainSparse(
  examples: readonly SparseExample[],
  sparseOptions: SparseOptions,
  seeds: readonly number[],
): Model {
  const models = seeds.map((seed) => trainOne(examples, sparseOptions, seed))
  const mean = (valueIn: (model: Model) => number): number =>
    models.reduce((sum, model) => sum + valueIn(model), 0) / models.length
  return {
    weights: new Float64Array(sparseOptions.tableSize).map((_, id) => mean(({ weights }) => weights[id] ?? 0)),
    bias: mean(({ bias }) => bias),
  }
}
