import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { announcementFeatures } from "../src/rules/announcement.ts"
import { announcementShare, announcementTable, boundedBody } from "../src/rules/announcement.ts"
import type { announceable } from "../src/rules/find-rules.ts"
import { announcedBodies } from "./announcement-examples.ts"
import {
  announced,
  createDice,
  type Labelled,
  labelledTalk,
  learntSets,
  realLines,
  setExamples,
  shuffle,
  writtenExamples,
} from "./rules-examples.ts"
import { digits, encodeWeights, heaviest, type Model, options, train, weightStep, weightsFile } from "./rules-train.ts"

/**
 * Trains the model of announcements and writes `src/rules/generated/announcement-weights.ts`: `node bench/announcement-train.ts`, after
 * `bench/rules-train.ts`. Deterministic. It starts from the scores of the rule finder, which have to be those of sentences that the finder
 * did not learn from: so the finder is trained once for each part of the labelled sets and of the written leads, without that part.
 */

type Finder = {
  readonly announceable: typeof announceable
  readonly announcementFeatures: typeof announcementFeatures
}
type Example = {
  readonly ids: readonly number[]
  readonly score: number
  readonly isRule: boolean
  readonly weight: number
}

const parts = 4
const partsOf = Array.from({ length: parts }, (_, part) => part)
/** Weight of a message that is made of written parts. */
const writtenWeight = 0.3

/** Returns the finder with weights that were trained without one part. */
async function finderWithout(part: number): Promise<Finder> {
  const isLearnt = (n: number): boolean => n % parts !== part
  const talk = train(
    [...writtenExamples(isLearnt), ...setExamples(learntSets.filter((_, n) => isLearnt(n))), ...realLines().talk],
    options.talk,
    [12_345],
  )
  const folder = mkdtempSync(join(tmpdir(), "announcements-"))
  try {
    for (const name of ["rules", "language", "message"])
      cpSync(new URL(`../src/${name}`, import.meta.url), join(folder, name), { recursive: true })
    writeFileSync(join(folder, "package.json"), '{"type":"module"}')
    writeFileSync(join(folder, "rules/generated/rule-weights.ts"), weightsFile({ talk, page: talk }))
    const load = (file: string): Promise<Finder> => import(pathToFileURL(join(folder, "rules", file)).href)
    return { ...(await load("find-rules.ts")), ...(await load("announcement.ts")) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the sentences of a message before which something stands that may announce them. */
function examplesOf({ text, rules }: Labelled, finder: Finder, weight: number): readonly Example[] {
  return finder.announceable(text).flatMap(({ statement, score }): readonly Example[] => {
    const { start, end, view, block } = statement
    if (block.kind === "heading" || block.kind === "quote") return []
    const own = rules.find(
      (rule) =>
        Math.min(end, rule.end) - Math.max(start, rule.start) >= 0.6 * Math.min(end - start, rule.end - rule.start),
    )
    const isRule = own !== undefined && end - start >= 0.3 * Math.min(60, own.end - own.start)
    const ids = finder.announcementFeatures(view, score)
    // A short sentence inside a labelled rule is neither a rule nor none.
    return ids.length === 0 || (own !== undefined && !isRule && start > own.start)
      ? []
      : [{ ids, score, isRule, weight }]
  })
}

async function examplesOfPart(part: number): Promise<readonly Example[]> {
  const finder = await finderWithout(part)
  const isOwn = (_: unknown, n: number): boolean => n % parts === part
  return [
    ...labelledTalk(learntSets.filter(isOwn)).flatMap((item) => examplesOf(item, finder, 1)),
    ...announced((lead) => lead % parts === part).flatMap((item) => examplesOf(item, finder, writtenWeight)),
    ...announcedBodies()
      .filter(isOwn)
      .flatMap((item) => examplesOf(item, finder, writtenWeight)),
  ]
}

const [epochs, rate, decay, dropped, leastSentences] = [15, 0.2, 1e-4, 0.2, 3]
const seeds: readonly number[] = [7919, 15_838, 23_757]

/** Logistic regression that starts from the score of the sentence, with steps that get smaller for weights that were changed before (AdaGrad). */
function trainOne(examples: readonly Example[], seed: number): Model {
  const counts = new Uint32Array(announcementTable)
  for (const { ids } of examples) for (const id of ids) counts[id] = (counts[id] ?? 0) + 1
  const known = examples.map((example) => ({
    ...example,
    part: announcementShare(example.ids.length),
    ids: example.ids.filter((id) => (counts[id] ?? 0) >= leastSentences),
  }))
  const dice = createDice(seed)
  const [weights, squares] = [new Float64Array(announcementTable), new Float64Array(announcementTable).fill(1e-3)]
  let [bias, biasSquare] = [0, 1e-3]
  const order = known.map((_, n) => n)
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, dice)
    for (const n of order) {
      const example = known[n]
      if (example === undefined) continue
      const { score, isRule, weight, part } = example
      const read = example.ids.filter(() => dice(1000) >= dropped * 1000)
      const sum = read.reduce((total, id) => total + (weights[id] ?? 0) * part, bias + boundedBody(score))
      const miss = (1 / (1 + Math.exp(-sum)) - Number(isRule)) * weight
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
function trainAnnouncements(examples: readonly Example[]): Model {
  const models = seeds.map((seed) => trainOne(examples, seed))
  const mean = (valueIn: (model: Model) => number): number =>
    models.reduce((sum, model) => sum + valueIn(model), 0) / models.length
  return {
    weights: new Float64Array(announcementTable).map((_, id) => mean(({ weights }) => weights[id] ?? 0)),
    bias: mean(({ bias }) => bias),
  }
}

/** Lower levels are not written. */
const leastLevel = 6

/** Returns the content of the file of weights. */
function announcementFile(model: Model): string {
  // Weights are scaled to the range of the levels.
  const scale = model.weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / heaviest
  return [
    "// Written by bench/announcement-train.ts; do not edit.",
    `export const announcementWeightStep: number = ${weightStep * scale}`,
    `export const announcementBias: number = ${digits(model.bias)}`,
    `export const announcementWeights: string = ${JSON.stringify(encodeWeights({ weights: model.weights.map((weight) => weight / scale) }, leastLevel))}`,
    "",
  ].join("\n")
}

if (import.meta.main) {
  const examples: Example[] = []
  for (const part of partsOf) examples.push(...(await examplesOfPart(part)))
  process.stdout.write(`${examples.length} announced sentences\n`)
  writeFileSync(
    new URL("../src/rules/generated/announcement-weights.ts", import.meta.url),
    announcementFile(trainAnnouncements(examples)),
  )
}
