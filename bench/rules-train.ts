import { readFileSync, writeFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import type { Span } from "../src/message/message.ts"
import { isWithin, ownWords, quotationsIn } from "../src/rules/own-words.ts"
import { featuresOf, type StatementView, tableSize } from "../src/rules/rule-model.ts"
import { statementsIn } from "../src/rules/statements.ts"
import { halfOf, type Labels, readSet, spansOf } from "./rules-labelled.ts"

/**
 * Trains the rule finder and writes `src/rules/generated/rule-weights.ts`: `node bench/rules-train.ts`. Deterministic. It learns from
 * sentences that were written for it (`bench/rules/*.txt`, `test/fixtures/pin`) and from real lines, of which only the numbers of their
 * features and their label are kept (`bench/rules/real-lines.bin.gz`; what changes the features needs the lines again).
 */

/** One sentence: whether it is a rule, how much it counts, and what it is made of. */
export type Example = {
  readonly isRule: boolean
  readonly weight: number
  readonly ids: Uint32Array
  readonly sorts: Uint8Array
}

/** A message and where in it rules stand; `skip` are places that the labeller was unsure of. */
export type Labelled = { readonly text: string; readonly rules: readonly Span[]; readonly skip?: readonly Span[] }

const folder = new URL("rules/", import.meta.url)
const fixtures = new URL("../test/fixtures/pin/", import.meta.url)

export function exampleOf(view: StatementView, isRule: boolean, weight: number): Example {
  const { ids, sorts, length } = featuresOf(view)
  return { isRule, weight, ids: ids.slice(0, length), sorts: sorts.slice(0, length) }
}

const overlaps = (one: Span, two: Span): boolean =>
  Math.min(one.end, two.end) - Math.max(one.start, two.start) >=
  0.6 * Math.min(one.end - one.start, two.end - two.start)

/** The sentences of a message in the user's own words, each with its label. */
export function talkExamples({ text, rules, skip = [] }: Labelled, weight: number): readonly Example[] {
  const quotations = quotationsIn(text)
  return ownWords(text)
    .flatMap((span) => statementsIn(text, span, false))
    .filter(({ block }) => block.kind !== "heading")
    .filter((statement) => !isWithin(statement, quotations))
    .flatMap((statement) => {
      // A short call in front of a rule is not the rule.
      const isRule = rules.some(
        (rule) =>
          overlaps(statement, rule) && statement.end - statement.start >= 0.3 * Math.min(60, rule.end - rule.start),
      )
      if (!isRule && skip.some((span) => overlaps(statement, span))) return []
      return [exampleOf(statement.view, isRule, weight)]
    })
}

/** The sentences of a file of instructions, each with its label. */
export const fileExamples = ({ text, rules }: Labelled, weight: number): readonly Example[] =>
  statementsIn(text, { start: 0, end: text.length }, true)
    .filter(({ block }) => block.kind !== "heading")
    .map((statement) =>
      exampleOf(
        statement.view,
        rules.some((rule) => overlaps(statement, rule)),
        weight,
      ),
    )

/** Sentences of files of instructions, and whatever of the talk is a rule: it would be one on a page as well. */
export function pageExamples(): readonly Example[] {
  const files = readFileSync(new URL("pages.txt", folder), "utf8").split("\n").slice(1).join("\n").split("\n===\n")
  const labelled = trainedHalf<Labels & { readonly kind: string }>("instruction-files")
    .filter(({ kind }) => kind === "instructions")
    .map((file) => ({ text: file.text, rules: spansOf(file) }))
  const own = [...files.map(readMarked), ...labelled].flatMap((file) => fileExamples(file, 2))
  const said = ["talk-en.txt", "talk-other.txt"]
    .flatMap(linesOf)
    .flatMap((line) => talkExamples(readMarked(line), 0.2))
    .filter(({ isRule }) => isRule)
  return [...own, ...said]
}

/** A line of our own: rules stand in double square brackets. */
export function readMarked(line: string): Labelled {
  const rules: Span[] = []
  let text = ""
  for (const [n, part] of line.split(/\[\[|\]\]/).entries()) {
    if (n % 2 === 1) rules.push({ start: text.length, end: text.length + part.length })
    text += part
  }
  return { text, rules }
}

const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(name, folder), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("# "))

const formsOfLead = 12

/** What people ask for before and behind a rule. */
const tasks = [
  "Plan a weekend in Porto for two, with a walk and a museum each day.",
  "There's an error in the second row.",
  "Compare the three offers and tell me which one is cheapest over five years.",
  "Rename the columns and drop the empty ones.",
  "You wrote about his illness.",
  "We are four people, one of them a child.",
  "I want to write to the school about the trip in May.",
  "Fix the failing test in the parser.",
  "You used the old address.",
  "Please draft a short bio for the flyer and a note for the neighbours.",
]
const questions = [
  "First question?",
  "Ready?",
  "So, which one do you suggest?",
  "She'll type now.",
  "What is next?",
  "Let's start.",
]

/** Leads and what stands behind them, each lead with some bodies in the forms in which people write them. */
function announced(): readonly Labelled[] {
  const [leads, bodies] = [linesOf("leads.txt"), linesOf("bodies.txt")]
  const binding = bodies.filter((body) => !/^[~x] /.test(body))
  return leads.flatMap((line, n) => {
    const isNotice = line.startsWith("! ")
    const lead = line.replace(/^! /, "")
    return Array.from({ length: formsOfLead }, (_, k) => k).flatMap((k): readonly Labelled[] => {
      const chosen = bodies[(n * 7 + k * 11) % bodies.length] ?? ""
      if (chosen.startsWith(isNotice ? "~ " : "x ")) return []
      const body = chosen.replace(/^[~x] /, "")
      const other = binding[(n * 3 + k) % binding.length] ?? ""
      const upper = `${body.charAt(0).toUpperCase()}${body.slice(1)}.`
      const sentence = lead.replace(/\s?[:：]$/, ".")
      const [task = "", question = ""] = [tasks[(n * 5 + k * 3) % tasks.length], questions[(n + k) % questions.length]]
      if (chosen.startsWith("x ")) return [{ text: `${lead} ${body}`, rules: [] }]
      const forms: readonly (readonly [before: string, rule: string, behind: string])[] = [
        [`${lead} `, body, ""],
        [`${lead} `, `${body}.`, ""],
        [`${lead}\n- `, `${body}\n- ${other}`, ""],
        [`${sentence} `, upper, ""],
        [`${task} ${lead} `, `${body}.`, ""],
        [`${sentence} `, upper, ` ${question}`],
        [`${task} ${sentence} `, upper, ""],
        [`${lead} `, `${body}.`, ` ${task}`],
      ]
      const [before, rule, behind] = forms[(n + k) % forms.length] ?? ["", "", ""]
      // A lead in the same sentence is read with it.
      return [
        {
          text: before + rule + behind,
          rules: [{ start: Math.max(0, before.length - 2), end: before.length + rule.length }],
        },
      ]
    })
  })
}

/** Messages of two lines each: people state a rule before, behind and between other things. */
function composed(name: string): readonly Labelled[] {
  const lines = linesOf(name)
  const ends = (line: string): string => (/[.!?。！？\]]$/.test(line) ? line : `${line}.`)
  const others = lines.filter((line) => !line.includes("[["))
  const rules = lines.filter((line) => /^\[\[[^\]]*\]\]$/.test(line))
  return rules.map((rule, n) => {
    const other = ends(others[(n * 37 + 11) % others.length] ?? "")
    const own = `[[${ends(rule.slice(2, -2))}]]`
    return readMarked(n % 3 === 0 ? `${own} ${other}` : `${other} ${own}`)
  })
}

/** Every frame with some fillings of its slots; frames that bind and frames that do not have the same fillings. */
function framed(): readonly Labelled[] {
  const isFilling = /^[a-z]+: .*\|/
  const lines = linesOf("frames.txt")
  const fillings = new Map(
    lines
      .filter((line) => isFilling.test(line))
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2).split(" | ")]),
  )
  const dice = createDice(4711)
  const draw = (name: string): string => {
    const some = fillings.get(name) ?? []
    return some[dice(some.length)] ?? ""
  }
  return lines
    .filter((line) => !isFilling.test(line))
    .flatMap((frame) =>
      Array.from({ length: fillingsOfFrame }, (_, k) => {
        const filled = frame.replace(/\{([a-z]+)\}/g, (_slot, name: string) => draw(name))
        const said =
          k % 4 === 3 ? filled : filled.replace(/^(\[*)(\p{Ll})/u, (_start, open, sign) => open + sign.toUpperCase())
        return readMarked(said)
      }),
    )
}
const fillingsOfFrame = 12

type Fixture = { readonly text: string; readonly channel: string; readonly half: string }

const fixtureLines = <Row extends Fixture>(name: string): readonly Row[] =>
  readFileSync(new URL(name, fixtures), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Row => JSON.parse(line))
    .filter(({ channel, half }) => channel === "user" && half === "development")

/** Sentences of the test fixtures that were always there to develop on. */
function fixtureTalk(): readonly Labelled[] {
  const whole = ["spoken-rules.jsonl", "channel-rules.jsonl"].flatMap((name) =>
    fixtureLines<Fixture & { readonly label: string }>(name).map(({ text, label }) => ({
      text,
      rules: label === "none" ? [] : [{ start: 0, end: text.length }],
    })),
  )
  const framed = fixtureLines<Fixture & { readonly rules: readonly string[] }>("framed-rules.jsonl").map(
    ({ text, rules }) => ({
      text,
      rules: rules.map((rule) => ({ start: text.indexOf(rule), end: text.indexOf(rule) + rule.length })),
    }),
  )
  return [...whole, ...framed]
}

/** The half of both labelled sets that is there to learn from. */
const trainedHalf = <Row extends Labels>(name: string): readonly Row[] =>
  ["", "second-"].flatMap((set) => readSet<Row>(`${set}${name}`)).filter(({ id }) => halfOf(id) === 0)

const labelledTalk = (): readonly Labelled[] =>
  ["talk", "announced", "pasted"]
    .flatMap((name) => trainedHalf(name))
    .map((item) => ({ text: item.text, rules: spansOf(item) }))

const frameWeight = 0.1

/** All that was written for the finder. */
export const ownExamples = (): readonly Example[] => [
  ...["talk-en.txt", "talk-other.txt"].flatMap(linesOf).flatMap((line) => talkExamples(readMarked(line), 1)),
  ...announced().flatMap((item) => talkExamples(item, 0.15)),
  ...["talk-en.txt", "talk-other.txt"].flatMap(composed).flatMap((item) => talkExamples(item, 0.3)),
  ...framed().flatMap((item) => talkExamples(item, frameWeight)),
  ...fixtureTalk().flatMap((item) => talkExamples(item, 1)),
  ...labelledTalk().flatMap((item) => talkExamples(item, 1)),
]

/** Sorts of features, and how much a step of each counts: what a word does tells more than which word it is. */
const scales: Readonly<Record<number, number>> = {
  2: 0.7,
  4: 0.7,
  5: 1.6,
  7: 0.7,
  8: 0.7,
  9: 1.6,
  10: 1.6,
  13: 2.5,
  14: 0.7,
  15: 1.3,
  16: 1.3,
  19: 2.5,
  20: 50,
  21: 0.7,
  22: 1.6,
  23: 1.6,
}
const baseScale = 0.2

export type Model = { readonly weights: Float64Array; readonly bias: number }
type TrainOptions = {
  readonly decay: number
  readonly epochs: number
  /** Share of the words that an example is read without: what a sentence does has to tell by itself. */
  readonly dropped: number
}

/** Sorts of features that are words, and not what words do. */
const lexical: ReadonlySet<number> = new Set([1, 2, 3, 4, 11, 14, 16, 18])

/** How far each feature reaches: by its sort, and by how unevenly rules and others have it. */
function scaleOf(examples: readonly Example[]): Float64Array {
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

/** Numbers that look random and are the same every time. */
function createDice(start: number): (below: number) => number {
  let seed = start
  return (below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

/** The mean of several models that read the examples in other orders and drop other words: steadier than each of them. */
export function train(examples: readonly Example[], trainOptions: TrainOptions): Model {
  const models = seeds.map((seed) => trainOne(examples, trainOptions, seed))
  const mean = (valueIn: (model: Model) => number): number =>
    models.reduce((sum, model) => sum + valueIn(model), 0) / models.length
  return {
    weights: new Float64Array(tableSize).map((_, id) => mean(({ weights }) => weights[id] ?? 0)),
    bias: mean(({ bias }) => bias),
  }
}
const seeds = [12_345, 777, 90_210]

/** Logistic regression by steps that get smaller for what was stepped on before. */
function trainOne(examples: readonly Example[], { decay, epochs, dropped }: TrainOptions, seed: number): Model {
  const scale = scaleOf(examples)
  const isWord = new Uint8Array(tableSize)
  for (const { ids, sorts } of examples)
    for (const [k, id] of ids.entries()) if (lexical.has(sorts[k] ?? 0)) isWord[id] = 1
  const read = new Uint32Array(4096)
  const chance = Math.round(dropped * 1000)
  const [weights, squares] = [new Float64Array(tableSize), new Float64Array(tableSize).fill(1e-6)]
  let [bias, biasSquare] = [0, 1e-6]
  const rate = 0.3
  const dice = createDice(seed)
  const order = examples.map((_, n) => n)
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let at = order.length - 1; at > 0; at--) {
      const other = dice(at + 1)
      const [one, two] = [order[at] ?? 0, order[other] ?? 0]
      order[at] = two
      order[other] = one
    }
    for (const n of order) {
      const example = examples[n]
      if (example === undefined) continue
      let [score, count] = [bias, 0]
      for (const id of example.ids) {
        if (isWord[id] === 1 && dice(1000) < chance) continue
        read[count++] = id
        score += (weights[id] ?? 0) * (scale[id] ?? 0)
      }
      const miss = (1 / (1 + Math.exp(-score)) - Number(example.isRule)) * example.weight
      for (let k = 0; k < count; k++) {
        const id = read[k] ?? 0
        const step = miss * (scale[id] ?? 0) + decay * (weights[id] ?? 0)
        squares[id] = (squares[id] ?? 0) + step * step
        weights[id] = (weights[id] ?? 0) - (rate * step) / Math.sqrt(squares[id] ?? 1)
      }
      biasSquare += miss * miss
      bias -= (rate * miss) / Math.sqrt(biasSquare)
    }
  }
  return {
    weights: weights.map((weight, id) => weight * (scale[id] ?? 0) * (isWord[id] === 1 ? 1 - dropped : 1)),
    bias,
  }
}

/** Weights are written as roots on so many levels either way; heavier ones than the heaviest level are as heavy as that. */
const levels = 45
const heaviest = 3
const weightStep = heaviest / levels ** 2

function signsOf({ weights }: Model): string {
  const codes = [...weights].map((weight) => {
    const level = Math.min(levels, Math.round(Math.sqrt(Math.abs(weight) / weightStep)))
    const code = 35 + levels + Math.sign(weight) * level
    return code >= 92 ? code + 1 : code
  })
  return codes.map((code) => String.fromCharCode(code)).join("")
}

/** The real lines: talk and pages, each line as its label, its weight in tenths, how many features it has, and each as two bytes and a sort. */
export function readLines(bytes: Uint8Array): { readonly talk: readonly Example[]; readonly page: readonly Example[] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const sorts = bytes.subarray(0, tableSize)
  const lines: { readonly talk: Example[]; readonly page: Example[] } = { talk: [], page: [] }
  let at = tableSize
  while (at < bytes.length) {
    const head = view.getUint8(at)
    const count = view.getUint16(at + 2)
    const ids = Uint32Array.from({ length: count }, (_, n) => view.getUint16(at + 4 + 2 * n))
    const own = Uint8Array.from(ids, (id) => sorts[id] ?? 0)
    const example = { isRule: (head & 1) === 1, weight: view.getUint8(at + 1) / 10, ids, sorts: own }
    lines[(head & 2) === 2 ? "page" : "talk"].push(example)
    at += 4 + 2 * count
  }
  return lines
}

export const writeLines = (lines: ReturnType<typeof readLines>): Uint8Array => {
  const sorts = new Uint8Array(tableSize)
  const all = [...lines.talk.map((line) => ({ line, head: 0 })), ...lines.page.map((line) => ({ line, head: 2 }))]
  for (const { line } of all) for (const [n, id] of line.ids.entries()) sorts[id] = line.sorts[n] ?? 0
  const bytes = new Uint8Array(all.reduce((sum, { line }) => sum + 4 + 2 * line.ids.length, tableSize))
  const view = new DataView(bytes.buffer)
  bytes.set(sorts)
  let at = tableSize
  for (const { line, head } of all) {
    view.setUint8(at, head + Number(line.isRule))
    view.setUint8(at + 1, Math.round(line.weight * 10))
    view.setUint16(at + 2, line.ids.length)
    for (const [n, id] of line.ids.toSorted().entries()) view.setUint16(at + 4 + 2 * n, id)
    at += 4 + 2 * line.ids.length
  }
  return bytes
}

export const realLines = (): ReturnType<typeof readLines> =>
  readLines(gunzipSync(readFileSync(new URL("real-lines.bin.gz", folder))))

export const options: Readonly<Record<"talk" | "page", TrainOptions>> = {
  talk: { decay: 2e-3, epochs: 20, dropped: 0.2 },
  page: { decay: 1e-3, epochs: 12, dropped: 0.3 },
}

export function trainAll(): { readonly talk: Model; readonly page: Model } {
  const real = realLines()
  return {
    talk: train([...ownExamples(), ...real.talk], options.talk),
    page: train([...pageExamples(), ...real.page], options.page),
  }
}

if (import.meta.main) {
  const { talk, page } = trainAll()
  const file = [
    "// Written by bench/rules-train.ts; do not edit.",
    `export const weightStep: number = ${weightStep}`,
    `export const talkBias: number = ${talk.bias}`,
    `export const talkWeights: string = ${JSON.stringify(signsOf(talk))}`,
    `export const pageBias: number = ${page.bias}`,
    `export const pageWeights: string = ${JSON.stringify(signsOf(page))}`,
  ]
  writeFileSync(new URL("../src/rules/generated/rule-weights.ts", import.meta.url), `${file.join("\n")}\n`)
}
