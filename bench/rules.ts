import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { type Channel, findRules } from "../src/index.ts"
import { survival } from "../src/rules/survival.ts"
import { conditionsNow } from "./conditions.ts"

/** How well rules are found, and how well their survival in a text is classified, against labels made by hand. */

type Score = {
  readonly rules: number
  readonly found: number
  readonly others: number
  readonly falseHits: number
  readonly prohibitions: number
  readonly prohibitionsFound: number
}
type Verdicts = {
  readonly cases: number
  /** Judged verbatim, though a person says that the rule was reworded, weakened, contradicted or dropped. */
  readonly wrongVerbatim: number
  readonly kept: number
  readonly keptVerbatim: number
  /** Reworded, weakened or contradicted. */
  readonly altered: number
  readonly alteredGone: number
}
type Report = {
  readonly conditions: ReturnType<typeof conditionsNow>
  /** Empty without a corpus: the labels name files and lines, and the files are not in the repository. */
  readonly files: Readonly<Record<string, Score>>
  readonly talk: Readonly<Record<string, Score>>
  readonly survival: Readonly<Record<string, Verdicts>>
}

const fixtures = new URL("../test/fixtures/pin/", import.meta.url)
const lines = async <Row>(name: string): Promise<readonly Row[]> =>
  (await readFile(new URL(name, fixtures), "utf8"))
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Row => JSON.parse(line))

const none: Score = { rules: 0, found: 0, others: 0, falseHits: 0, prohibitions: 0, prohibitionsFound: 0 }

function add(score: Score, label: string, hit: boolean): Score {
  if (label === "none") return { ...score, others: score.others + 1, falseHits: score.falseHits + Number(hit) }
  const forbids = label === "prohibition"
  return {
    ...score,
    rules: score.rules + 1,
    found: score.found + Number(hit),
    prohibitions: score.prohibitions + Number(forbids),
    prohibitionsFound: score.prohibitionsFound + Number(forbids && hit),
  }
}

type Labels = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>

/** A line counts as found if a rule covers a letter of it; lines that the labeller was unsure of are left out. */
function scoreFile(text: string, file: string, labels: Labels[string], before: Score): Score {
  const found = findRules(text, {
    channel: file.startsWith("tau-") ? "system" : "document",
    source: file,
    genre: "rules",
  })
  const starts = [0]
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  const isHit = (line: number): boolean => {
    const [from = 0, to = text.length] = [starts[line - 1], starts[line]]
    return found.some(({ start, end }) => /\p{L}/u.test(text.slice(Math.max(from, start), Math.min(to, end))))
  }
  return Object.entries(labels ?? {})
    .filter(([label]) => label !== "unsure")
    .flatMap(([label, numbers]) => numbers.map((line) => ({ label, hit: isHit(line) })))
    .reduce((score, { label, hit }) => add(score, label, hit), before)
}

async function scoreFiles(corpus: string | undefined): Promise<Report["files"]> {
  if (corpus === undefined) return {}
  const halves: Readonly<Record<string, Labels>> = JSON.parse(
    await readFile(new URL("rule-labels.json", fixtures), "utf8"),
  )
  const scores: Record<string, Score> = {}
  for (const [half, labels] of Object.entries(halves)) {
    let score = none
    for (const [file, own] of Object.entries(labels))
      score = scoreFile(await readFile(join(corpus, "rules", file), "utf8"), file, own, score)
    scores[half] = score
  }
  return scores
}

type Said = { readonly text: string; readonly channel: Channel; readonly label: string; readonly half: string }

async function scoreTalk(): Promise<Report["talk"]> {
  const scores: Record<string, Score> = {}
  for (const name of ["spoken-rules", "channel-rules"])
    for (const { text, channel, label, half } of await lines<Said>(`${name}.jsonl`)) {
      const hit = findRules(text, { channel }).length > 0
      scores[`${name}, ${half}`] = add(scores[`${name}, ${half}`] ?? none, label, hit)
    }
  return scores
}

type Case = { readonly half: string; readonly rule: string; readonly text: string; readonly label: string }

const noVerdicts: Verdicts = { cases: 0, wrongVerbatim: 0, kept: 0, keptVerbatim: 0, altered: 0, alteredGone: 0 }

async function scoreSurvival(): Promise<Report["survival"]> {
  const scores: Record<string, Verdicts> = {}
  for (const { half, rule, text, label } of await lines<Case>("survival-cases.jsonl")) {
    const { verdict } = survival(rule, text)
    const isKept = label === "preserved"
    const isAltered = !isKept && label !== "dropped"
    const before = scores[half] ?? noVerdicts
    scores[half] = {
      cases: before.cases + 1,
      wrongVerbatim: before.wrongVerbatim + Number(!isKept && verdict === "verbatim"),
      kept: before.kept + Number(isKept),
      keptVerbatim: before.keptVerbatim + Number(isKept && verdict === "verbatim"),
      altered: before.altered + Number(isAltered),
      alteredGone: before.alteredGone + Number(isAltered && verdict === "gone"),
    }
  }
  return scores
}

export const run = async ({ corpus }: { readonly corpus?: string }): Promise<Report> => ({
  conditions: conditionsNow(),
  files: await scoreFiles(corpus),
  talk: await scoreTalk(),
  survival: await scoreSurvival(),
})

const share = (part: number, whole: number): string => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`)

export function print({ files, talk, survival: verdicts }: Report): void {
  console.log("Finding rules, against labels made by hand")
  if (Object.keys(files).length === 0) console.log("  (real rule files: not at hand; give --corpus DIR)")
  for (const [name, score] of [...Object.entries(files), ...Object.entries(talk)]) {
    const { rules, found, others, falseHits, prohibitions, prohibitionsFound } = score
    const figures = [
      `precision ${share(found, found + falseHits)}`,
      `recall ${share(found, rules)}`,
      `prohibitions ${prohibitionsFound} of ${prohibitions}`,
      `(${rules} rules, ${others} other lines)`,
    ]
    console.log(`  ${name.padEnd(28)}${figures.join("   ")}`)
  }
  console.log("\nWhat a text left of a rule, against labels made by hand")
  for (const [name, { cases, wrongVerbatim, kept, keptVerbatim, altered, alteredGone }] of Object.entries(verdicts))
    console.log(
      `  ${name.padEnd(28)}${cases} cases: ${wrongVerbatim} wrongly verbatim, ${keptVerbatim} of ${kept} kept ones verbatim, ${alteredGone} of ${altered} altered ones gone`,
    )
}
