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
  type Labelled,
  labelledTalk,
  learntSets,
  realLines,
  setExamples,
  writtenExamples,
} from "./rules-examples.ts"
import { digits, encodeWeights, heaviest, type Model, options, train, weightStep, weightsFile } from "./rules-train.ts"
import { trainSparse } from "./sparse-model.ts"

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

/** Starts from the score of the sentence; features of few sentences are left out. */
function trainAnnouncements(examples: readonly Example[]): Model {
  const counts = new Uint32Array(announcementTable)
  for (const { ids } of examples) for (const id of ids) counts[id] = (counts[id] ?? 0) + 1
  const known = examples.map(({ ids, score, isRule, weight }) => ({
    ids: ids.filter((id) => (counts[id] ?? 0) >= leastSentences),
    part: announcementShare(ids.length),
    start: boundedBody(score),
    isTrue: isRule,
    factor: 1,
    weight,
  }))
  return trainSparse(known, { tableSize: announcementTable, epochs, rate, decay, dropped }, seeds)
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
