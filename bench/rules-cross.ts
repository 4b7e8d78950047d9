import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import type { findRules } from "../src/rules/find-rules.ts"
import { liftedScore, shareOf } from "../src/rules/statement-score.ts"
import {
  corpusTalk,
  type Example,
  heldExamples,
  type Labelled,
  labelledTalk,
  learntSets,
  loggedTalk,
  logPartOf,
  logParts,
  realLines,
  realSources,
  setExamples,
  writtenExamples,
} from "./rules-examples.ts"
import { type Model, options, train, weightsFile } from "./rules-train.ts"

/**
 * Measures the rule finder on authors that it did not learn from: `node bench/rules-cross.ts [--logs DIR] [NAME...]`. Each author of
 * labelled sets is left out once, and so are all real talk of `../shared/data` together and each part of the prompt logs, of which no
 * repository is in two parts; the last two are measured only if their text is there. Choose between variants by these figures, because
 * figures on what was learnt say nothing. One seed.
 */

type Author = {
  readonly name: string
  readonly sets: readonly string[]
  readonly messages: readonly Labelled[]
  /** Sources of real lines that are left out with it. */
  readonly sources: readonly string[]
}

/** The authors of the first five sets knew the finder. */
const early = learntSets.slice(0, 5)
const corpus = new URL("../../shared/data", import.meta.url).pathname
const real = "real talk"

const { values, positionals } = parseArgs({
  options: { logs: { type: "string", default: "" } },
  allowPositionals: true,
})
const logged = loggedTalk(values.logs)

const authors: readonly Author[] = [
  { name: "first to fifth", sets: early, messages: labelledTalk(early), sources: [] },
  ...learntSets
    .filter((set) => !early.includes(set))
    .map((set) => ({ name: set.slice(0, -1), sets: [set], messages: labelledTalk([set]), sources: [] })),
  {
    name: real,
    sets: [],
    messages: corpusTalk(corpus).map(({ item }) => item),
    sources: realSources.filter((source) => !source.startsWith("prompt logs")),
  },
  ...Array.from({ length: logParts }, (_, part) => ({
    name: `prompt logs ${part}`,
    sets: [],
    messages: logged.filter(({ source }) => logPartOf(source) === part).map(({ item }) => item),
    sources: [`prompt logs ${part}`],
  })),
]

const scoreOf = ({ weights, bias }: Model, { ids, clauses = [] }: Example): number => {
  const own = (some: Uint32Array): number =>
    bias + some.reduce((sum, id) => sum + (weights[id] ?? 0), 0) * shareOf(some.length, "talk")
  return liftedScore(own(ids), clauses.map(own))
}

/** Returns the average precision of sentences, and the recall at each minimum precision. */
function curveOf(scored: readonly { readonly isRule: boolean; readonly score: number }[]) {
  const rules = scored.filter(({ isRule }) => isRule).length
  let [right, sum] = [0, 0]
  const recall = { 0.9: 0, 0.93: 0 }
  for (const [n, { isRule }] of scored.toSorted((one, two) => two.score - one.score).entries()) {
    if (isRule) sum += ++right / (n + 1)
    if (right / (n + 1) >= 0.9) recall[0.9] = right / rules
    if (right / (n + 1) >= 0.93) recall[0.93] = right / rules
  }
  return { mean: sum / rules, recall }
}

/** Returns the current finder with the weights of a model. */
async function finderWith(model: Model): Promise<typeof findRules> {
  const folder = mkdtempSync(join(tmpdir(), "rules-"))
  try {
    for (const name of ["rules", "language", "message"])
      cpSync(new URL(`../src/${name}`, import.meta.url), join(folder, name), { recursive: true })
    writeFileSync(join(folder, "package.json"), '{"type":"module"}')
    writeFileSync(join(folder, "rules/generated/rule-weights.ts"), weightsFile({ talk: model, page: model }))
    return (await import(pathToFileURL(join(folder, "rules/find-rules.ts")).href)).findRules
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the figures of the whole finder on messages. A found rule is right if it and a labelled one share 60 % of the shorter. */
function wholeFigures(find: typeof findRules, messages: readonly Labelled[]): string {
  let [right, wrong, labels, got, disturbed] = [0, 0, 0, 0, 0]
  for (const { text, rules, skip = [] } of messages) {
    const found = find(text, { channel: "user" })
    const isOf = (one: { start: number; end: number }, two: { start: number; end: number }): boolean =>
      Math.min(one.end, two.end) - Math.max(one.start, two.start) >=
      0.6 * Math.min(one.end - one.start, two.end - two.start)
    const hits = found.filter((rule) => rules.some((label) => isOf(rule, label)))
    const misses = found.filter((rule) => !hits.includes(rule) && !skip.some((label) => isOf(rule, label)))
    right += hits.length
    wrong += misses.length
    labels += rules.length
    got += rules.filter((label) => found.some((rule) => isOf(rule, label))).length
    disturbed += Number(misses.length > 0)
  }
  const share = (part: number, whole: number): string => (part / whole).toFixed(3)
  return `finder ${share(right, right + wrong)} / ${share(got, labels)}, ${((100 * disturbed) / messages.length).toFixed(1)} % of messages with a false rule`
}

if (import.meta.main) {
  const names = positionals
  const lines = realLines().talk
  const means: number[][] = []
  for (const { name, sets, messages, sources } of authors) {
    if (names.length > 0 && !names.includes(name)) continue
    if (messages.length === 0) {
      process.stdout.write(`${name}: skipped, its text is not there\n`)
      continue
    }
    const others = setExamples(learntSets.filter((set) => !sets.includes(set)))
    const learnt = [
      ...writtenExamples(),
      ...others,
      ...lines.filter(({ source = 0 }) => !sources.includes(realSources[source] ?? "")),
    ]
    const model = train(learnt, options.talk, [12_345])
    const scored = messages.flatMap(heldExamples).map((example) => ({ ...example, score: scoreOf(model, example) }))
    const { mean, recall } = curveOf(scored)
    means.push([mean, recall[0.9], recall[0.93]])
    const whole = wholeFigures(await finderWith(model), messages)
    process.stdout.write(
      `${name}: ${scored.length} sentences, average precision ${mean.toFixed(3)}, recall ${recall[0.9].toFixed(3)} at 0.90 and ${recall[0.93].toFixed(3)} at 0.93; ${whole}\n`,
    )
  }
  const meanOf = (at: number): string => (means.reduce((sum, row) => sum + (row[at] ?? 0), 0) / means.length).toFixed(3)
  process.stdout.write(`mean: average precision ${meanOf(0)}, recall ${meanOf(1)} at 0.90 and ${meanOf(2)} at 0.93\n`)
}
