import { readFileSync, writeFileSync } from "node:fs"
import { tableSize } from "../src/rules/rule-model.ts"
import { type Register, shareOf } from "../src/rules/statement-score.ts"
import {
  createDice,
  type Example,
  learntSets,
  pageExamples,
  realLines,
  setExamples,
  shuffle,
  writtenExamples,
} from "./rules-examples.ts"

/**
 * Trains the rule finder and writes `src/rules/generated/rule-weights.ts`: `node bench/rules-train.ts [talk|page]`, one register alone if it
 * is named. Deterministic; the examples are in `bench/rules-examples.ts`.
 */

/** Scale of the features of each group, by the numbers of `tag` in `rule-model.ts`: what a word does tells more than which word it is. */
const pageScales: Readonly<Record<number, number>> = {
  2: 0.7,
  5: 1.6,
  7: 0.7,
  8: 0.7,
  9: 1.6,
  10: 1.6,
  13: 1,
  14: 0.7,
  15: 1.3,
  16: 1.3,
  19: 2.5,
  20: 50,
  21: 0.7,
  22: 1.6,
  23: 1.6,
  24: 2.5,
}
/** Talk has more examples, and need not rely on a few features. */
const scalesOf: Readonly<Record<Register, Readonly<Record<number, number>>>> = {
  talk: { ...pageScales, 6: 0.3, 7: 0.3, 8: 0.3, 20: 5 },
  page: pageScales,
}
const baseScale = 0.2

export type Model = { readonly weights: Float64Array; readonly bias: number }
type TrainOptions = {
  readonly register: Register
  readonly decay: number
  readonly epochs: number
  /** Share of the features that are dropped each time an example is read, so that no single one decides. */
  readonly dropped: number
  /** Minimum number of sentences with a feature: a rarer one is specific to one message, which is read with and without words before it. */
  readonly leastSentences: number
}

/** Returns the scale of each feature: by its group, and by how unevenly rules and other sentences have it. */
function scaleOf(examples: readonly Example[], register: Register): Float64Array {
  const scales = scalesOf[register]
  const scale = new Float64Array(tableSize)
  const [rules, others] = [new Float64Array(tableSize).fill(1), new Float64Array(tableSize).fill(1)]
  for (const { ids, sorts, isRule, weight } of examples)
    for (const [k, id] of ids.entries()) {
      scale[id] = Math.max(scale[id] ?? 0, (scales[sorts[k] ?? 0] ?? 1) * baseScale)
      const counted = isRule ? rules : others
      counted[id] = (counted[id] ?? 0) + weight
    }
  const sum = (counts: Float64Array): number => counts.reduce((total, one) => total + one, 0)
  const [allRules, allOthers] = [sum(rules), sum(others)]
  return scale.map((own, id) => {
    const ratio = Math.abs(Math.log((rules[id] ?? 1) / allRules / ((others[id] ?? 1) / allOthers)))
    return own * (0.5 + 0.5 * Math.min(2, ratio))
  })
}

const seeds: readonly number[] = [12_345, 777, 90_210]

/** Removes features that are too rare to be learnt from; `length` stays what the finder counts. */
function withoutRare(
  examples: readonly Example[],
  leastSentences: number,
): readonly (Example & { readonly length: number })[] {
  const counts = new Uint32Array(tableSize)
  for (const { ids } of examples) for (const id of ids) counts[id] = (counts[id] ?? 0) + 1
  return examples.map((example) => {
    const isKept = example.ids.map((id) => Number((counts[id] ?? 0) >= leastSentences))
    const kept = (_: number, at: number): boolean => isKept[at] === 1
    return {
      ...example,
      length: example.ids.length,
      ids: example.ids.filter(kept),
      sorts: example.sorts.filter(kept),
    }
  })
}

/**
 * Returns the mean of several models that read the examples in different orders and drop different features: it is more stable than each of
 * them.
 */
export function train(examples: readonly Example[], trainOptions: TrainOptions, some = seeds): Model {
  const known = withoutRare(examples, trainOptions.leastSentences)
  const models = some.map((seed) => trainOne(known, trainOptions, seed))
  const mean = (valueIn: (model: Model) => number): number =>
    models.reduce((sum, model) => sum + valueIn(model), 0) / models.length
  return {
    weights: new Float64Array(tableSize).map((_, id) => mean(({ weights }) => weights[id] ?? 0)),
    bias: mean(({ bias }) => bias),
  }
}

/** Logistic regression with steps that get smaller for weights that were changed before (AdaGrad). */
function trainOne(
  examples: ReturnType<typeof withoutRare>,
  { register, decay, epochs, dropped }: TrainOptions,
  seed: number,
): Model {
  const scale = scaleOf(examples, register)
  const read = new Uint32Array(4096)
  const chance = Math.round(dropped * 1000)
  const [weights, squares] = [new Float64Array(tableSize), new Float64Array(tableSize).fill(1e-6)]
  let [bias, biasSquare] = [0, 1e-6]
  const rate = 0.3
  const dice = createDice(seed)
  const order = examples.map((_, n) => n)
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, dice)
    for (const n of order) {
      const example = examples[n]
      if (example === undefined) continue
      const part = shareOf(example.length, register)
      let [score, count] = [bias, 0]
      for (const id of example.ids) {
        if (dice(1000) < chance) continue
        read[count++] = id
        score += (weights[id] ?? 0) * (scale[id] ?? 0) * part
      }
      const miss = (1 / (1 + Math.exp(-score)) - Number(example.isRule)) * example.weight
      for (let k = 0; k < count; k++) {
        const id = read[k] ?? 0
        const step = miss * (scale[id] ?? 0) * part + decay * (weights[id] ?? 0)
        squares[id] = (squares[id] ?? 0) + step * step
        weights[id] = (weights[id] ?? 0) - (rate * step) / Math.sqrt(squares[id] ?? 1)
      }
      biasSquare += miss * miss
      bias -= (rate * miss) / Math.sqrt(biasSquare)
    }
  }
  return {
    weights: weights.map((weight, id) => weight * (scale[id] ?? 0) * (1 - dropped)),
    bias,
  }
}

/**
 * Weights are written as square roots, with this number of levels on either side of zero; a weight above the heaviest level is cut to it.
 */
const levels = 45
export const heaviest = 3
export const weightStep: number = heaviest / levels ** 2

/** Encodes each feature that has a weight as the gap to it and its level; `weight-table.ts` decodes it. */
export function encodeWeights({ weights }: Pick<Model, "weights">, minLevel = minTalkLevel): string {
  const codes: number[] = []
  const put = (value: number): void => void codes.push(35 + value >= 92 ? 36 + value : 35 + value)
  let last = -1
  for (const [id, weight] of weights.entries()) {
    const level = Math.min(levels, Math.round(Math.sqrt(Math.abs(weight) / weightStep)))
    if (level < minLevel) continue
    for (; id - last >= longestGap; last += longestGap) put(longestGap)
    put(id - last)
    put(levels + Math.sign(weight) * level)
    last = id
  }
  return codes.map((code) => String.fromCharCode(code)).join("")
}
/** Prints as many digits as all machines agree on: the last digits of a logarithm depend on the processor. */
export const digits = (value: number): string => value.toFixed(6)

const longestGap = 89
/** Lower levels are not written; the many features of a file of instructions need fewer. */
const minTalkLevel = 5
const minPageLevel = 8

export const options: Readonly<Record<"talk" | "page", TrainOptions>> = {
  talk: { register: "talk", decay: 3e-4, epochs: 12, dropped: 0.3, leastSentences: 5 },
  page: { register: "page", decay: 5e-4, epochs: 15, dropped: 0.2, leastSentences: 4 },
}

const trainTalk = (): Model =>
  train([...writtenExamples(), ...setExamples(learntSets), ...realLines().talk], options.talk)
const trainPage = (): Model => train([...pageExamples(), ...realLines().page], options.page)

const talkLines = (talk: Model): readonly string[] => [
  `export const talkBias: number = ${digits(talk.bias)}`,
  `export const talkWeights: string = ${JSON.stringify(encodeWeights(talk))}`,
]
const pageLines = (page: Model): readonly string[] => [
  `export const pageBias: number = ${digits(page.bias)}`,
  `export const pageWeights: string = ${JSON.stringify(encodeWeights(page, minPageLevel))}`,
]
const fileOf = (talk: readonly string[], page: readonly string[]): string =>
  [
    "// Written by bench/rules-train.ts; do not edit.",
    `export const weightStep: number = ${weightStep}`,
    ...talk,
    ...page,
    "",
  ].join("\n")

/** Returns the content of the file of weights. */
export const weightsFile = ({ talk, page }: { readonly talk: Model; readonly page: Model }): string =>
  fileOf(talkLines(talk), pageLines(page))

if (import.meta.main) {
  const file = new URL("../src/rules/generated/rule-weights.ts", import.meta.url)
  const before = readFileSync(file, "utf8").split("\n")
  const kept = (register: Register): readonly string[] =>
    before.filter((line) => line.startsWith(`export const ${register}`))
  const [only] = process.argv.slice(2)
  const talk = only === "page" ? kept("talk") : talkLines(trainTalk())
  const page = only === "talk" ? kept("page") : pageLines(trainPage())
  writeFileSync(file, fileOf(talk, page))
}
