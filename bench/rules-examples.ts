import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import type { Span } from "../src/message/message.ts"
import { isWithin, ownWords, quotationsIn } from "../src/rules/own-words.ts"
import { featuresOf, type StatementView, tableSize } from "../src/rules/rule-model.ts"
import { clausesOf } from "../src/rules/statement-score.ts"
import { statementsIn } from "../src/rules/statements.ts"
import { type Labels, readSet, spansOf } from "./rules-labelled.ts"

/**
 * Training examples of the rule finder: sentences that were written for it (`bench/rules/*.txt`, `test/fixtures/pin`), the labelled sets,
 * and real lines, of which only the features and the labels are kept (`bench/rules/real-lines.bin.gz`; after a change of the features the
 * lines are needed again).
 */

/** A sentence with its label, its weight and its features. */
export type Example = {
  readonly isRule: boolean
  readonly weight: number
  readonly ids: Uint32Array
  readonly sorts: Uint8Array
  /** Index in `realSources`; absent if it was written for the finder. */
  readonly source?: number
  /** Features of its clauses, where its score is needed. */
  readonly clauses?: readonly Uint32Array[]
}

/** Number of parts of the prompt logs. All messages of one repository are in the same part, so that a part can be left out. */
export const logParts = 8

/** Sources of real talk. */
export const realSources: readonly string[] = [
  "written",
  "repositories",
  "one repository",
  "customers",
  "agents",
  ...Array.from({ length: logParts }, (_, part) => `prompt logs ${part}`),
]

/** A message and the spans of its rules; `skip` are spans that the labeller was unsure of. */
export type Labelled = { readonly text: string; readonly rules: readonly Span[]; readonly skip?: readonly Span[] }

const folder = new URL("rules/", import.meta.url)
const fixtures = new URL("../test/fixtures/pin/", import.meta.url)

export function exampleOf(view: StatementView, isRule: boolean, weight: number): Example {
  const { ids, sorts, length } = featuresOf(view)
  return { isRule, weight, ids: ids.slice(0, length), sorts: sorts.slice(0, length) }
}

/** Same with its clauses, as the finder scores it. */
const wholeExampleOf = (view: StatementView, isRule: boolean, weight: number): Example => ({
  ...exampleOf(view, isRule, weight),
  clauses: clausesOf(view.own).map((own) => exampleOf({ ...view, own }, isRule, weight).ids),
})

const overlaps = (one: Span, two: Span): boolean =>
  Math.min(one.end, two.end) - Math.max(one.start, two.start) >=
  0.6 * Math.min(one.end - one.start, two.end - two.start)

/** Returns the sentences of a message in the user's own words, each with its label. */
export const talkExamples = (item: Labelled, weight: number): readonly Example[] =>
  labelledStatements(item).map(({ view, isRule }) => exampleOf(view, isRule, weight))

/** Same with their clauses, for measuring. */
export const heldExamples = (item: Labelled): readonly Example[] =>
  labelledStatements(item).map(({ view, isRule }) => wholeExampleOf(view, isRule, 1))

function labelledStatements({
  text,
  rules,
  skip = [],
}: Labelled): readonly { readonly view: StatementView; readonly isRule: boolean }[] {
  const quotations = quotationsIn(text)
  return ownWords(text)
    .flatMap((span) => statementsIn(text, span, false))
    .filter(({ block }) => block.kind !== "heading")
    .filter((statement) => !isWithin(statement, quotations))
    .flatMap((statement) => {
      const own = rules.find((rule) => overlaps(statement, rule))
      // A short sentence at the start of a labelled rule is no rule; a short one further on is left out.
      const isRule = own !== undefined && statement.end - statement.start >= 0.3 * Math.min(60, own.end - own.start)
      if (own !== undefined && !isRule && statement.start > own.start) return []
      if (!isRule && skip.some((span) => overlaps(statement, span))) return []
      return [{ view: statement.view, isRule }]
    })
}

/** Returns the sentences of a file of instructions, each with its label. */
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

/** Returns sentences of files of instructions, and the rules of the talk, which would be rules in a file as well. */
export function pageExamples(): readonly Example[] {
  const files = readFileSync(new URL("pages.txt", folder), "utf8").split("\n").slice(1).join("\n").split("\n===\n")
  const labelled = labelledIn<Labels & { readonly kind: string }>("instruction-files", learntSets)
    .filter(({ kind }) => kind === "instructions")
    .map((file) => ({ text: file.text, rules: spansOf(file) }))
  const own = [
    ...files.map(readMarked).flatMap((file) => fileExamples(file, writtenFileWeight)),
    ...labelled.flatMap((file) => fileExamples(file, labelledFileWeight)),
  ]
  const said = ["talk-en.txt", "talk-other.txt"]
    .flatMap(linesOf)
    .flatMap((line) => talkExamples(readMarked(line), 0.2))
    .filter(({ isRule }) => isRule)
  return [...own, ...said]
}

/** Weights of files that were written to be learnt from, and to be labelled; a statement of a real file counts 1. */
const [writtenFileWeight, labelledFileWeight] = [4, 8]

/** Reads a line that was written for the finder, with rules in double square brackets. */
export function readMarked(line: string): Labelled {
  const rules: Span[] = []
  let text = ""
  for (const [n, part] of line.split(/\[\[|\]\]/).entries()) {
    if (n % 2 === 1) rules.push({ start: text.length, end: text.length + part.length })
    text += part
  }
  return { text, rules }
}

export const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(name, folder), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("# "))
    .map((line) => line.replaceAll("\\n", "\n"))

const formsOfLead = 12

/** What people ask for before and after a rule. */
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

/** Combines leads with what follows them, each lead with some bodies in the forms in which people write them. */
export function announced(isRead = (_: number): boolean => true): readonly Labelled[] {
  const [leads, bodies] = [linesOf("leads.txt"), linesOf("bodies.txt")]
  const binding = bodies.filter((body) => !/^[~x] /.test(body))
  return leads.flatMap((line, n) => {
    if (!isRead(n)) return []
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
      // The span starts before the rule, because a lead in the same sentence is read with it.
      return [
        {
          text: before + rule + behind,
          rules: [{ start: Math.max(0, before.length - 2), end: before.length + rule.length }],
        },
      ]
    })
  })
}

/** Combines two lines into each message: people state a rule before or after other things. */
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

/** Puts words that do not tell whether a rule follows before labelled messages: before each with a rule, and one in three of the others. */
function introduced(sets: readonly string[]): readonly Labelled[] {
  const asides = linesOf("asides.txt").map((line) => ({ lang: line.slice(0, 2), words: line.slice(3) }))
  const rows = labelledIn<Labels & { readonly lang: string }>("talk", sets)
  return rows.flatMap((item, n) => {
    const own = asides.filter(({ lang }) => lang === item.lang)
    const aside = own[n % Math.max(1, own.length)]?.words
    const isRule = item.rules.length > 0
    if (aside === undefined || (!isRule && n % 3 !== 0)) return []
    const start = aside.length + (isUnspaced.test(aside) ? 0 : 1)
    const said = /[.。]$/.test(aside) ? item.text : item.text.charAt(0).toLowerCase() + item.text.slice(1)
    const text = aside.padEnd(start) + said
    return [{ text, rules: spansOf(item).map((span) => ({ start: start + span.start, end: start + span.end })) }]
  })
}
const isUnspaced = /[，、]$/

type Fixture = { readonly text: string; readonly channel: string; readonly half: string }

const fixtureLines = <Row extends Fixture>(name: string): readonly Row[] =>
  readFileSync(new URL(name, fixtures), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Row => JSON.parse(line))
    .filter(({ channel, half }) => channel === "user" && half === "development")

/** Returns the sentences of the test fixtures that were always meant for development. */
export function fixtureTalk(): readonly Labelled[] {
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

/** Labelled sets that are learnt from. A new set is measured first, and learnt from when the next one is there. */
export const learntSets: readonly string[] = [
  "",
  "second-",
  "third-",
  "fourth-",
  "fifth-",
  "sixth-",
  "seventh-",
  "eighth-",
  "ninth-",
  "tenth-",
  "eleventh-",
  "twelfth-",
  "fourteenth-",
  "fifteenth-",
  "sixteenth-",
  "seventeenth-",
  "nineteenth-",
  "twentieth-",
  "twenty-first-",
  "twenty-second-",
  "twenty-third-",
  "thirty-eighth-",
  "twenty-fourth-",
  "twenty-sixth-",
  "twenty-seventh-",
  "twenty-ninth-",
  "thirtieth-",
  "thirty-first-",
  "thirty-third-",
  "thirty-fourth-",
  "thirty-fifth-",
  "thirteenth-",
  "eighteenth-",
  "twenty-fifth-",
  "thirty-second-",
  "thirty-sixth-",
  "thirty-ninth-",
  "fortieth-",
  "forty-first-",
  "forty-second-",
]

const labelledIn = <Row extends Labels>(name: string, sets: readonly string[]): readonly Row[] =>
  sets.flatMap((set) => readSet<Row>(`${set}${name}`))

export const labelledTalk = (sets: readonly string[]): readonly Labelled[] =>
  ["talk", "base", "announced", "pasted"]
    .flatMap((name) => labelledIn(name, sets))
    .map((item) => ({ text: item.text, rules: spansOf(item) }))

type CorpusTalk = {
  readonly text: string
  readonly channel: string
  readonly source: string
  readonly rules: readonly { readonly text: string; readonly unclear?: boolean }[]
  readonly unclear?: boolean
}

const spanIn = (text: string, part: string): Span => ({
  start: text.indexOf(part),
  end: text.indexOf(part) + part.length,
})

type Sourced = { readonly item: Labelled; readonly source: string }

/** Returns the labelled talk of a corpus folder and the source of each message; empty if the folder is not there. */
export const corpusTalk = (corpus: string): readonly Sourced[] =>
  talkOfFiles(["talk", "base-rate"].map((name) => `${corpus}/talk/${name}.jsonl`))

/** Returns messages of public prompt logs that people labelled: all files of a folder. */
export const loggedTalk = (folder: string): readonly Sourced[] =>
  existsSync(folder)
    ? talkOfFiles(
        readdirSync(folder)
          .filter((name) => name.endsWith(".jsonl"))
          .toSorted()
          .map((name) => `${folder}/${name}`),
      )
    : []

/** Returns the part of the prompt logs that a repository is in. */
export const logPartOf = (source: string): number =>
  (createHash("sha256").update(source).digest().at(0) ?? 0) % logParts

function talkOfFiles(files: readonly string[]): readonly Sourced[] {
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").trimEnd().split("\n"))
    .map((line): CorpusTalk => JSON.parse(line))
    .filter(({ channel, unclear }) => channel === "user" && unclear !== true)
    .map(({ text, rules, source }) => ({
      item: {
        text,
        rules: rules.filter((rule) => rule.unclear !== true).map((rule) => spanIn(text, rule.text)),
        skip: rules.filter((rule) => rule.unclear === true).map((rule) => spanIn(text, rule.text)),
      },
      source,
    }))
}

const asideWeight = 0.5

/** Weight of sets with the messages of a working day, which is what the finder reads most. */
const dayWeight = 2
const days: ReadonlySet<string> = new Set(learntSets.slice(learntSets.indexOf("twenty-fourth-")))

/** Weight of a message that was written to be labelled: it is nearer to what people say than a line that was written to be learnt from. */
const labelledWeight = 2

const markedWeight = 0.5

/** Returns all examples that were written for the finder. */
export const writtenExamples = (isRead?: (lead: number) => boolean): readonly Example[] => [
  ...["talk-en.txt", "talk-other.txt"].flatMap(linesOf).flatMap((line) => talkExamples(readMarked(line), 1)),
  ...announced(isRead).flatMap((item) => talkExamples(item, 0.15)),
  ...["talk-en.txt", "talk-other.txt"].flatMap(composed).flatMap((item) => talkExamples(item, 0.3)),
  ...fixtureTalk().flatMap((item) => talkExamples(item, labelledWeight)),
  ...markedTalk().flatMap((item) => talkExamples(item, markedWeight)),
]

/** Returns messages in which somebody else speaks beside the user; what the others say gets no label. */
export const markedTalk = (): readonly Labelled[] =>
  readFileSync(new URL("speakers.jsonl", folder), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Marked => JSON.parse(line))
    .map(({ text, rules, pasted }) => ({
      text,
      rules: rules.map((rule) => spanIn(text, rule)),
      skip: pasted.map((part) => spanIn(text, part)),
    }))
type Marked = Labels & { readonly pasted: readonly string[] }

/** Returns the examples of labelled sets, as they are and after words that tell nothing. */
export const setExamples = (sets: readonly string[]): readonly Example[] =>
  sets.flatMap((set) => {
    const weight = days.has(set) ? dayWeight : 1
    return [
      ...introduced([set]).flatMap((item) => talkExamples(item, weight * asideWeight)),
      ...labelledTalk([set]).flatMap((item) => talkExamples(item, weight * labelledWeight)),
    ]
  })

/** Shuffles an array in place. */
export function shuffle(order: number[], dice: (sides: number) => number): void {
  for (let at = order.length - 1; at > 0; at--) {
    const other = dice(at + 1)
    const [one, two] = [order[at] ?? 0, order[other] ?? 0]
    order[at] = two
    order[other] = one
  }
}

/** Returns a generator of pseudo-random numbers, which are the same every time. */
export function createDice(start: number): (below: number) => number {
  let seed = start
  return (below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

/**
 * Decodes the real lines. The group of each feature comes first; then, for each line of talk or of a file, its label and source, its weight
 * in tenths, the number of its features, and each of them as three bytes.
 */
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
