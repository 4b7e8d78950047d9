import { readFileSync, writeFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import type { Span } from "../src/message/message.ts"
import { isWithin, ownWords, quotationsIn } from "../src/rules/own-words.ts"
import { featuresOf, type Register, type StatementView, shareOf, tableSize } from "../src/rules/rule-model.ts"
import { statementsIn } from "../src/rules/statements.ts"
import { type Labels, readSet, spansOf } from "./rules-labelled.ts"

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
  /** Which of `realSources` it is from; none of what was written for the finder. */
  readonly source?: number
}

/** Where real talk is from: each is left out once when figures are made. */
export const realSources: readonly string[] = ["written", "repositories", "one repository", "customers", "agents"]

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
  const labelled = labelledIn<Labels & { readonly kind: string }>("instruction-files", learntSets)
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

/** The labelled sets that are learnt from. What is written later is first looked at, and learnt from when the next one is there. */
export const learntSets: readonly string[] = ["", "second-", "third-", "fourth-"]

const labelledIn = <Row extends Labels>(name: string, sets: readonly string[]): readonly Row[] =>
  sets.flatMap((set) => readSet<Row>(`${set}${name}`))

export const labelledTalk = (sets: readonly string[]): readonly Labelled[] =>
  ["talk", "announced", "pasted"]
    .flatMap((name) => labelledIn(name, sets))
    .map((item) => ({ text: item.text, rules: spansOf(item) }))

/** Lines of our own as they are written, by where they stand. */
export const ownLines = (): readonly (readonly string[])[] => [
  linesOf("talk-en.txt"),
  linesOf("talk-other.txt"),
  [...linesOf("frames.txt").flatMap((line) => line.split("|")), ...linesOf("leads.txt"), ...linesOf("bodies.txt")],
  linesOf("pages.txt"),
  fixtureTalk().map(({ text }) => text),
  ...learntSets.map((set) => labelledTalk([set]).map(({ text }) => text)),
]

const frameWeight = 0.1

/** A message that was written to be labelled is nearer to what people say than a line that was written to be learnt from. */
const labelledWeight = 2

/** All that was written for the finder, and the labelled sets of the given names. */
export const ownExamples = (sets: readonly string[]): readonly Example[] => [
  ...["talk-en.txt", "talk-other.txt"].flatMap(linesOf).flatMap((line) => talkExamples(readMarked(line), 1)),
  ...announced().flatMap((item) => talkExamples(item, 0.15)),
  ...["talk-en.txt", "talk-other.txt"].flatMap(composed).flatMap((item) => talkExamples(item, 0.3)),
  ...framed().flatMap((item) => talkExamples(item, frameWeight)),
  ...fixtureTalk().flatMap((item) => talkExamples(item, 1)),
  ...labelledTalk(sets).flatMap((item) => talkExamples(item, labelledWeight)),
]

/** Sorts of features, and how much a step of each counts: what a word does tells more than which word it is. */
const scales: Readonly<Record<number, number>> = {
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
}
const baseScale = 0.2

export type Model = { readonly weights: Float64Array; readonly bias: number }
type TrainOptions = {
  readonly register: Register
  readonly decay: number
  readonly epochs: number
  /** Share of the words that an example is read without: what a sentence does has to tell by itself. */
  readonly dropped: number
}

/** Sorts of features that are words, and not what words do. */
const lexical: ReadonlySet<number> = new Set([1, 2, 3, 11, 14, 16, 18])

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

const seeds: readonly number[] = [12_345, 777, 90_210]

/** The mean of several models that read the examples in other orders and drop other words: steadier than each of them. */
export function train(examples: readonly Example[], trainOptions: TrainOptions, some = seeds): Model {
  const models = some.map((seed) => trainOne(examples, trainOptions, seed))
  const mean = (valueIn: (model: Model) => number): number =>
    models.reduce((sum, model) => sum + valueIn(model), 0) / models.length
  return {
    weights: new Float64Array(tableSize).map((_, id) => mean(({ weights }) => weights[id] ?? 0)),
    bias: mean(({ bias }) => bias),
  }
}

/** Logistic regression by steps that get smaller for what was stepped on before. */
function trainOne(
  examples: readonly Example[],
  { register, decay, epochs, dropped }: TrainOptions,
  seed: number,
): Model {
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
      const part = shareOf(example.ids.length, register)
      let [score, count] = [bias, 0]
      for (const id of example.ids) {
        if (isWord[id] === 1 && dice(1000) < chance) continue
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
    weights: weights.map((weight, id) => weight * (scale[id] ?? 0) * (isWord[id] === 1 ? 1 - dropped : 1)),
    bias,
  }
}

/** Weights are written as roots on so many levels either way; heavier ones than the heaviest level are as heavy as that. */
const levels = 45
const heaviest = 3
const weightStep = heaviest / levels ** 2

/** Each feature that weighs something: the gap to it, and its level. */
function signsOf({ weights }: Model): string {
  const signs: number[] = []
  const put = (value: number): void => void signs.push(35 + value >= 92 ? 36 + value : 35 + value)
  let last = -1
  for (const [id, weight] of weights.entries()) {
    const level = Math.min(levels, Math.round(Math.sqrt(Math.abs(weight) / weightStep)))
    if (level < leastLevel) continue
    for (; id - last >= longestGap; last += longestGap) put(longestGap)
    put(id - last)
    put(levels + Math.sign(weight) * level)
    last = id
  }
  return signs.map((code) => String.fromCharCode(code)).join("")
}
const longestGap = 89
/** What weighs less is left out. */
const leastLevel = 2

/** The real lines: talk and pages, each line as its label, its weight in tenths, how many features it has, and each as three bytes. */
export function readLines(bytes: Uint8Array): { readonly talk: readonly Example[]; readonly page: readonly Example[] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const sorts = bytes.subarray(0, tableSize)
  const lines: { readonly talk: Example[]; readonly page: Example[] } = { talk: [], page: [] }
  let at = tableSize
  while (at < bytes.length) {
    const head = view.getUint8(at)
    const count = view.getUint16(at + 2)
    const ids = Uint32Array.from({ length: count }, (_, n) => view.getUint32(at + 3 + 3 * n) & 0xffffff)
    const own = Uint8Array.from(ids, (id) => sorts[id] ?? 0)
    const example = { isRule: (head & 1) === 1, weight: view.getUint8(at + 1) / 10, ids, sorts: own, source: head >> 2 }
    lines[(head & 2) === 2 ? "page" : "talk"].push(example)
    at += 4 + 3 * count
  }
  return lines
}

export const writeLines = (lines: ReturnType<typeof readLines>): Uint8Array => {
  const sorts = new Uint8Array(tableSize)
  const all = [...lines.talk.map((line) => ({ line, head: 0 })), ...lines.page.map((line) => ({ line, head: 2 }))]
  for (const { line } of all) for (const [n, id] of line.ids.entries()) sorts[id] = line.sorts[n] ?? 0
  const bytes = new Uint8Array(all.reduce((sum, { line }) => sum + 4 + 3 * line.ids.length, tableSize))
  const view = new DataView(bytes.buffer)
  bytes.set(sorts)
  let at = tableSize
  for (const { line, head } of all) {
    view.setUint8(at, head + Number(line.isRule) + 4 * (line.source ?? 0))
    view.setUint8(at + 1, Math.round(line.weight * 10))
    view.setUint16(at + 2, line.ids.length)
    for (const [n, id] of line.ids.toSorted().entries()) {
      view.setUint8(at + 4 + 3 * n, id >> 16)
      view.setUint16(at + 5 + 3 * n, id & 0xffff)
    }
    at += 4 + 3 * line.ids.length
  }
  return bytes
}

export const realLines = (): ReturnType<typeof readLines> =>
  readLines(gunzipSync(readFileSync(new URL("real-lines.bin.gz", folder))))

export const options: Readonly<Record<"talk" | "page", TrainOptions>> = {
  talk: { register: "talk", decay: 2e-3, epochs: 20, dropped: 0.2 },
  page: { register: "page", decay: 5e-4, epochs: 30, dropped: 0 },
}

export function trainAll(): { readonly talk: Model; readonly page: Model } {
  const real = realLines()
  return {
    talk: train([...ownExamples(learntSets), ...real.talk], options.talk),
    page: train([...pageExamples(), ...real.page], options.page),
  }
}

/** How sure a model is of an example. */
const scoreOf = ({ weights, bias }: Model, { ids }: Example): number =>
  bias + ids.reduce((sum, id) => sum + (weights[id] ?? 0), 0) * shareOf(ids.length, "talk")

/** What is left out in turn: each labelled set, and each source of real talk. */
const leftOut: readonly string[] = [...learntSets, ...realSources]

/**
 * Figures on sentences of sources that nothing was learnt from: `node bench/rules-train.ts --cross`. Every source is left out once; what
 * its sentences score without it is put together. This is what to choose by, as figures on what was learnt say nothing.
 */
function crossCheck(): readonly string[] {
  const real = realLines()
  const scored = leftOut.flatMap((name) => {
    const sets = learntSets.filter((set) => set !== name)
    const source = realSources.indexOf(name)
    const learnt = [...ownExamples(sets), ...real.talk.filter((example) => example.source !== source)]
    const held =
      source < 0
        ? labelledTalk([name]).flatMap((item) => talkExamples(item, 1))
        : real.talk.filter((example) => example.source === source)
    const model = train(learnt, options.talk, seeds.slice(0, 1))
    return held.map((example) => ({ name, isRule: example.isRule, score: scoreOf(model, example) }))
  })
  const figures = (some: typeof scored, threshold: number): string => {
    const found = some.filter(({ score }) => score > threshold)
    const right = found.filter(({ isRule }) => isRule).length
    const rules = some.filter(({ isRule }) => isRule).length
    return `${(right / found.length).toFixed(3)}/${(right / rules).toFixed(3)} false ${((100 * (found.length - right)) / some.length).toFixed(1)} %`
  }
  return [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 1].map((threshold) =>
    [
      `from ${threshold}: all ${figures(scored, threshold)}`,
      ...leftOut.map((name) => {
        const own = scored.filter((one) => one.name === name)
        return `${name === "" ? "first-" : name} ${figures(own, threshold)}`
      }),
    ].join("; "),
  )
}

if (import.meta.main && process.argv.includes("--cross")) process.stdout.write(`${crossCheck().join("\n")}\n`)
else if (import.meta.main) {
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
