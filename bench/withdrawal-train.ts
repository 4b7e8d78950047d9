import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { endingStatements, isOwnStatement, leastEnded, mayEnd, weigh } from "../src/rules/read-replacements.ts"
import {
  endFeatures,
  endsPlainly,
  mayWithdraw,
  subjectFeatures,
  withdrawalTable,
} from "../src/rules/withdrawal-model.ts"
import { hasKey, readText } from "../src/rules/withdrawal-text.ts"
import { createDice, linesOf, shuffle } from "./rules-examples.ts"
import { heldOutSets } from "./rules-labelled.ts"
import { digits, encodeWeights, heaviest, type Model, weightStep } from "./rules-train.ts"

/**
 * Trains the models of what ends a rule, and writes `src/rules/generated/withdrawal-weights.ts`: `node bench/withdrawal-train.ts`.
 * Deterministic. What ends a rule is learnt from the pairs of the labelled sets and of `bench/rules/withdrawals.txt`; what a sentence is
 * about is learnt from those that end a rule, and from their combinations with rules of other pairs. `--cross` prints the figures of a
 * cross-validation, and with `--errors` its errors.
 */

/** A rule, what was said later, and whether the rule is gone after that. `of` is the rule that it was said about. */
type Pair = {
  readonly set: string
  readonly of: string
  readonly rule: string
  readonly said: string
  readonly gone: boolean
}
/** A pair and the features of each statement that may end the rule, which is gone if one of them ends it. */
type Example = {
  readonly pair: Pair
  readonly statements: readonly {
    readonly end: readonly number[]
    readonly subject: readonly number[]
    readonly isPlain: boolean
    readonly isAmong: boolean
  }[]
}
type TrainingExample = {
  readonly gone: boolean
  readonly said: string
  readonly statements: readonly (readonly number[])[]
}

const labelled = new URL("../test/labelled/", import.meta.url)
/** Sets that are only measured with the trained models, and not learnt from. */
const heldOut =
  /^(?:thirteenth|eighteenth|twenty-fifth|twenty-ninth|thirty-sixth|thirty-eighth|thirty-ninth|fortieth|forty-first|forty-second)-/

type Row = { readonly first: string; readonly then: string; readonly channel: string; readonly gone: boolean }

const labelledPairs = (): readonly Pair[] =>
  readdirSync(labelled)
    .filter(
      (name) =>
        name.endsWith("supersede.jsonl") && !heldOut.test(name) && !heldOutSets.some((set) => name.startsWith(set)),
    )
    .toSorted()
    .flatMap((name) =>
      readFileSync(new URL(name, labelled), "utf8")
        .trimEnd()
        .split("\n")
        .map((line): Row => JSON.parse(line))
        .filter(({ channel }) => channel === "user")
        .map(({ first, then: said, gone }) => {
          const set = name.replace(/-?supersede\.jsonl$/, "") || "first"
          return { set, of: first, rule: first, said, gone }
        }),
    )

/** Returns pairs that were written to be learnt from: a rule after "@", and below it what ends it and what does not. */
function writtenPairs(): readonly Pair[] {
  const pairs: Pair[] = []
  let rule = ""
  for (const line of linesOf("withdrawals.txt")) {
    const said = line.slice(2)
    if (line.startsWith("@")) rule = said
    else pairs.push({ set: "written", of: rule, rule, said, gone: line.startsWith("+") })
  }
  return pairs
}

/** Maximum number of rules of other pairs that a text is combined with: if it ends its own rule, and if it does not. */
const [maxForEnding, maxForOther] = [10, 1]

/** Combines what was said of one rule with rules of other pairs that it has something in common with: those stay. */
function crossedPairs(pairs: readonly Pair[]): readonly Pair[] {
  const rules = [...new Set(pairs.map(({ rule }) => rule))]
  return pairs.flatMap((pair, n) => {
    const most = pair.gone ? maxForEnding : maxForOther
    const others = rules.filter((rule) => mayWithdraw(rule, pair.said) && !isAlike(rule, pair.rule))
    const every = Math.max(1, Math.floor(others.length / most))
    return others
      .filter((_, at) => (at * 7 + n) % every === 0)
      .slice(0, most)
      .map((rule) => ({ ...pair, rule, gone: false }))
  })
}

type TalkRow = { readonly text: string; readonly rules: readonly string[] }

/** Number of rules of a set that each of its messages is combined with. */
const rulesPerMessage = 12

/** Combines ordinary talk with rules of other messages: those stay. */
function talkPairs(): readonly Pair[] {
  const dice = createDice(4_321)
  return readdirSync(labelled)
    .filter(
      (name) =>
        /(?:talk|base)\.jsonl$/.test(name) && !heldOut.test(name) && !heldOutSets.some((set) => name.startsWith(set)),
    )
    .toSorted()
    .flatMap((name) => {
      const rows = readFileSync(new URL(name, labelled), "utf8")
        .trimEnd()
        .split("\n")
        .map((line): TalkRow => JSON.parse(line))
      const rules = rows.flatMap((row) => row.rules)
      return rows.flatMap(({ text: said, rules: own }) =>
        Array.from({ length: rulesPerMessage }, () => rules[dice(rules.length)] ?? "")
          .filter((rule) => mayWithdraw(rule, said) && ![said, ...own].some((one) => isAlike(rule, one)))
          .map((rule) => ({ set: "talk", of: said, rule, said, gone: false })),
      )
    })
}

const sharedKeys = (one: string, two: string): number =>
  [...readText(one).keys].filter((key) => hasKey(readText(two), key)).length
const isAlike = (one: string, two: string): boolean =>
  sharedKeys(one, two) >= 0.5 * Math.min(readText(one).keys.size, readText(two).keys.size)

const exampleOf = (pair: Pair): Example => ({
  pair,
  statements: endingStatements(pair.said)
    .filter((statement) => mayEnd(pair.rule, statement) && isOwnStatement(pair.said, statement))
    .map(({ text, others, isAmong }) => ({
      end: endFeatures(pair.rule, text, others),
      subject: subjectFeatures(pair.rule, text, others),
      isPlain: endsPlainly(pair.rule, text),
      isAmong,
    })),
})

type TrainOptions = {
  readonly epochs: number
  /** Scale of the features, and share of them that is dropped in each step. */
  readonly scale: number
  readonly dropped: number
  /** Minimum number of messages with a feature: a rarer one is specific to one of them. */
  readonly leastMessages: number
}
const endOptions: TrainOptions = { epochs: 20, scale: 0.3, dropped: 0.3, leastMessages: 6 }
const subjectOptions: TrainOptions = { epochs: 10, scale: 0.5, dropped: 0.2, leastMessages: 4 }
const [rate, decay] = [0.3, 1e-4]
const seeds: readonly number[] = [12_345, 777, 90_210]

const scoreOf = ({ weights, bias }: Model, ids: readonly number[]): number =>
  ids.reduce((sum, id) => sum + (weights[id] ?? 0), bias)

/** Logistic regression as in `speaker-train.ts`. Of several statements that end a rule, only the one with the highest score is learnt. */
function trainOne(examples: readonly TrainingExample[], { epochs, scale, dropped }: TrainOptions, seed: number): Model {
  const dice = createDice(seed)
  const [weights, squares] = [new Float64Array(withdrawalTable), new Float64Array(withdrawalTable).fill(1e-3)]
  let [bias, biasSquare] = [0, 1e-3]
  const learn = (ids: readonly number[], gone: boolean): void => {
    const read = ids.filter(() => dice(1000) >= dropped * 1000)
    const score = read.reduce((sum, id) => sum + (weights[id] ?? 0) * scale, bias)
    const miss = 1 / (1 + Math.exp(-score)) - Number(gone)
    for (const id of read) {
      const step = miss * scale + decay * (weights[id] ?? 0)
      squares[id] = (squares[id] ?? 0) + step * step
      weights[id] = (weights[id] ?? 0) - (rate * step) / Math.sqrt(squares[id] ?? 1)
    }
    biasSquare += miss * miss
    bias -= (rate * miss) / Math.sqrt(biasSquare)
  }
  const order = examples.map((_, n) => n)
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, dice)
    for (const n of order) {
      const { gone, statements } = examples[n] ?? { gone: false, statements: [] }
      if (gone) {
        const scores = statements.map((ids) => scoreOf({ weights, bias }, ids))
        const best = statements[scores.indexOf(Math.max(...scores))]
        if (best !== undefined) learn(best, true)
      } else for (const ids of statements) learn(ids, false)
    }
  }
  return { weights: weights.map((weight) => weight * scale * (1 - dropped)), bias }
}

function withoutRare(examples: readonly TrainingExample[], least: number): readonly TrainingExample[] {
  const messages = new Map<number, Set<string>>()
  for (const { said, statements } of examples)
    for (const id of statements.flat()) messages.set(id, (messages.get(id) ?? new Set()).add(said))
  const isKept = (id: number): boolean => (messages.get(id)?.size ?? 0) >= least
  return examples.map((example) => ({ ...example, statements: example.statements.map((ids) => ids.filter(isKept)) }))
}

/** Returns the mean of models that read the examples in different orders. */
function train(examples: readonly TrainingExample[], options: TrainOptions): Model {
  const known = withoutRare(examples, options.leastMessages)
  const models = seeds.map((seed) => trainOne(known, options, seed))
  const mean = (valueIn: (model: Model) => number): number =>
    models.reduce((sum, model) => sum + valueIn(model), 0) / models.length
  return {
    weights: new Float64Array(withdrawalTable).map((_, id) => mean(({ weights }) => weights[id] ?? 0)),
    bias: mean(({ bias }) => bias),
  }
}

type Models = { readonly end: Model; readonly subject: Model }

/**
 * Trains both models: what ends a rule from what was said of it, what a sentence is about from what ends this rule and from other
 * combinations.
 */
function trainBoth(examples: readonly Example[], crossed: readonly Example[]): Models {
  const learntOf = (some: readonly Example[], of: "end" | "subject"): readonly TrainingExample[] =>
    some.map(({ pair, statements }) => ({
      gone: pair.gone,
      said: pair.said,
      statements: statements.map((statement) => statement[of]),
    }))
  const ends = examples.filter(({ pair }) => pair.gone)
  return {
    end: train(learntOf(examples, "end"), endOptions),
    subject: train(learntOf([...ends, ...crossed], "subject"), subjectOptions),
  }
}

/**
 * Returns the highest score of the statements that may end the rule, combined as in `read-replacements.ts`; a statement that ends it
 * plainly is certain.
 */
const endScoreOf = ({ end, subject }: Models, { statements }: Example): number =>
  Math.max(
    -99,
    ...statements.map((one) =>
      one.isPlain ? 99 : (weigh(scoreOf(subject, one.subject), scoreOf(end, one.end), one.isAmong) ?? -99),
    ),
  )

const folds = 5
/** All that was said of one rule is in the same fold. */
const foldOf = ({ of }: Pair): number =>
  [...of].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 10_007, 7) % folds

function printCross(examples: readonly Example[], crossed: readonly Example[], errors: boolean): void {
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  const judge = (models: Models, fold: number, some: readonly Example[]) =>
    some
      .filter(({ pair }) => foldOf(pair) === fold)
      .map((example) => ({ pair: example.pair, score: endScoreOf(models, example) }))
  const results = Array.from({ length: folds }, (_, fold) => {
    const isOther = ({ pair }: Example): boolean => foldOf(pair) !== fold
    const models = trainBoth(examples.filter(isOther), crossed.filter(isOther))
    return { own: judge(models, fold, examples), others: judge(models, fold, crossed) }
  })
  const judged = results.flatMap(({ own }) => own)
  const others = results.flatMap((result) => result.others)
  for (const set of [...new Set(judged.map(({ pair }) => pair.set)), "all"]) {
    const own = judged.filter(({ pair }) => set === "all" || pair.set === set)
    const figures = bounds.map((bound) => {
      const over = own.filter(({ score }) => score >= bound)
      return `from ${bound} on ${over.filter(({ pair }) => pair.gone).length} and ${over.filter(({ pair }) => !pair.gone).length} wrong`
    })
    const gone = own.filter(({ pair }) => pair.gone).length
    print(`${set}: ${gone} gone, ${own.length - gone} kept; ${figures.join(", ")}`)
  }
  const wrong = bounds.map((bound) => `${others.filter(({ score }) => score >= bound).length} from ${bound} on`)
  print(`rules of other pairs: ${others.length}, ended ${wrong.join(", ")}`)
  if (!errors) return
  for (const { pair, score } of judged.toSorted((one, two) => two.score - one.score))
    if (pair.gone === score < leastEnded)
      print(`${pair.gone ? "-" : "+"} ${score.toFixed(2)} ${pair.set} ${pair.rule} | ${pair.said}`)
}
const bounds: readonly number[] = [3, 4, 5, 5.5, 6, 7]

/** Returns the lines of one model in the file, with its weights scaled to the range of the levels. */
function linesOfModel(name: keyof Models, { weights, bias }: Model): readonly string[] {
  const scale = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / heaviest
  return [
    `export const ${name}Step: number = ${(weightStep * scale).toFixed(8)}`,
    `export const ${name}Bias: number = ${digits(bias)}`,
    `export const ${name}Weights: string = ${JSON.stringify(encodeWeights({ weights: weights.map((weight) => weight / scale) }))}`,
  ]
}

if (import.meta.main) {
  const pairs = [...labelledPairs(), ...writtenPairs()]
  const examples = pairs.map(exampleOf)
  const ofTalk = talkPairs()
    .map(exampleOf)
    .filter(({ statements }) => statements.length > 0)
  const crossed = [...crossedPairs(pairs).map(exampleOf), ...ofTalk]
  if (process.argv.includes("--cross")) printCross(examples, crossed, process.argv.includes("--errors"))
  else {
    const models = trainBoth(examples, crossed)
    const file = [
      "// Written by bench/withdrawal-train.ts; do not edit.",
      ...(["subject", "end"] as const).flatMap((name) => linesOfModel(name, models[name])),
      "",
    ].join("\n")
    writeFileSync(new URL("../src/rules/generated/withdrawal-weights.ts", import.meta.url), file)
  }
}
