import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import type { Span } from "../src/message/message.ts"
import { findRules, ruleLikeIn } from "../src/rules/find-rules.ts"
import { speakerFeatures, speakerTable } from "../src/rules/who-speaks.ts"
import { announced, fixtureTalk, linesOf, readMarked } from "./rules-examples.ts"
import { heldOutSets } from "./rules-labelled.ts"
import { digits, encodeWeights, heaviest, type Model, weightStep } from "./rules-train.ts"
import { trainSparse } from "./sparse-model.ts"

/**
 * Trains the model of who speaks in a sentence of a user's message, and writes `src/rules/generated/speaker-weights.ts`: `node
 * bench/speaker-train.ts`. Deterministic. It learns from the rules that users state in the labelled sets, from sentences in pasted texts
 * that read like rules, and from `bench/rules/speakers.jsonl`: messages in which pasted, quoted or retold text is marked, and others that
 * only look like that.
 */

/** A message with the spans of what the user states in it, and of what somebody else says. */
export type Message = {
  readonly text: string
  readonly own: readonly Span[]
  readonly pasted: readonly Span[]
  readonly weight: number
}
type Example = { readonly ids: readonly number[]; readonly isAnothers: boolean; readonly weight: number }

type Row = {
  readonly text: string
  readonly channel?: string
  readonly attack?: string
  readonly pasted?: readonly (string | { readonly text: string })[]
  readonly rules?: readonly (string | { readonly text: string; readonly unclear?: boolean })[]
}

const labelled = new URL("../test/labelled/", import.meta.url)

const rowsOf = (file: URL): readonly Row[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line))

function messageOf({ text, attack, pasted = [], rules = [] }: Row, weight: number): Message {
  const spansOf = (parts: readonly (string | { readonly text: string })[]): readonly Span[] =>
    parts.flatMap((part) => {
      const words = typeof part === "string" ? part : part.text
      const start = text.indexOf(words)
      return start < 0 ? [] : [{ start, end: start + words.length }]
    })
  const sure = rules.filter((rule) => typeof rule === "string" || rule.unclear !== true)
  return { text, own: spansOf(sure), pasted: spansOf(attack === undefined ? pasted : [attack, ...pasted]), weight }
}

/** Sets that are only measured with the trained model, and not learnt from. */
const heldOut = /^(?:twenty-fifth|thirty-second|thirty-sixth|thirty-ninth|fortieth)-/

/** Weights of examples: a message of one line tells little about the context of a sentence, and rules after made-up leads are many. */
const [lineWeight, leadWeight, pasteWeight] = [0.5, 0.3, 1.5]

/** Ends of the lines in `bench/rules/speakers.jsonl` that each of the people marked. */
const markedUntil: readonly number[] = [500, 896, 1537, 1987, 2688, 2737]

/**
 * Returns the authors whose messages are learnt from: those of labelled sets, by the start of their file names, and those who marked
 * pastes.
 */
export const authors = (): readonly string[] => [
  ...new Set(setFiles().map(authorOf)),
  ...markedUntil.map((_, n) => `marked ${n + 1}`),
]

const setFiles = (): readonly string[] =>
  readdirSync(labelled)
    .filter(
      (name) =>
        /(?:talk|base|announced|pasted)\.jsonl$/.test(name) &&
        !heldOut.test(name) &&
        !heldOutSets.some((set) => name.startsWith(set)),
    )
    .toSorted()

const authorOf = (file: string): string => file.replace(/(?:talk|base|announced|pasted)\.jsonl$/, "")

const messagesIn = (file: string): readonly Message[] =>
  rowsOf(new URL(file, labelled))
    .filter(({ channel = "user" }) => channel === "user")
    .map((row) => messageOf(row, row.text.includes("\n") || file.includes("pasted") ? 1 : lineWeight))

/** Returns the messages of one author. */
export function messagesBy(author: string): readonly Message[] {
  const place = markedUntil.findIndex((_, n) => author === `marked ${n + 1}`)
  if (place >= 0)
    return rowsOf(new URL("rules/speakers.jsonl", import.meta.url))
      .slice(markedUntil[place - 1] ?? 0, markedUntil[place])
      .map((row) => messageOf(row, pasteWeight))
  return setFiles()
    .filter((file) => authorOf(file) === author)
    .flatMap(messagesIn)
}

function messagesOf(some: readonly string[]): readonly Message[] {
  const sets = setFiles()
    .filter((file) => some.includes(authorOf(file)))
    .flatMap(messagesIn)
  const marked = some.filter((author) => author.startsWith("marked ")).flatMap(messagesBy)
  const own = [...announced(), ...fixtureTalk(), ...["talk-en.txt", "talk-other.txt"].flatMap(linesOf).map(readMarked)]
  return [
    ...sets,
    ...ownLists(),
    ...ownBeside(sets),
    ...ownAmid(sets),
    ...ownBetween(sets),
    ...behindRequests(sets),
    ...own.map(({ text, rules }) => ({ text, own: rules, pasted: [], weight: leadWeight })),
    ...marked,
  ]
}

const ownRules = (): readonly string[] => linesOf("bodies.txt").filter((body) => !/^[~x] /.test(body))

/** Returns messages that are lists of the user's own rules: every other one in sentences, the others as typed in a hurry. */
export function ownLists(): readonly Message[] {
  const rules = ownRules()
  return Array.from({ length: listCount }, (_, n): Message => {
    const some = Array.from({ length: 2 + (n % 6) }, (_, k) => rules[(n * 11 + k * 5) % rules.length] ?? "")
    const lines = n % 2 === 0 ? some : some.map(sentenceOf)
    const spans = lines.map((line, k) => {
      const start = lines.slice(0, k).join("\n").length + (k === 0 ? 0 : 1)
      return { start, end: start + line.length }
    })
    return { text: lines.join("\n"), own: spans, pasted: [], weight: leadWeight }
  })
}
const listCount = 200

const sentenceOf = (rule: string): string =>
  `${rule.charAt(0).toUpperCase()}${rule.slice(1)}${rule.endsWith(".") ? "" : "."}`

/** Combines a message that states a rule with a request or another rule before or after it. */
function ownBeside(messages: readonly Message[]): readonly Message[] {
  const { asked, stated } = linesIn(messages, 200)
  return stated.flatMap(({ text, own }, n): readonly Message[] => {
    if (n % besideEvery !== 0) return []
    const others = (n / besideEvery) % 5 === 0 ? stated : asked
    const other = others[(n * 37 + 11) % others.length]?.text ?? ""
    const turn = n / besideEvery
    const gap = gaps[turn % gaps.length] ?? " "
    const isBefore = turn % 3 !== 0
    const shift = isBefore ? 0 : other.length + gap.length
    const spans = own.map(({ start, end }) => ({ start: start + shift, end: end + shift }))
    return [{ text: isBefore ? text + gap + other : other + gap + text, own: spans, pasted: [], weight: lineWeight }]
  })
}

/** Returns the messages of one line: those that ask for something, and those that state a rule. */
function linesIn(messages: readonly Message[], maxLength: number) {
  const lines = messages.filter(
    ({ text, pasted }) => pasted.length === 0 && text.length <= maxLength && !text.includes("\n"),
  )
  return { asked: lines.filter(({ own }) => own.length === 0), stated: lines.filter(({ own }) => own.length > 0) }
}

/** Puts a message that states a rule on a line of its own among many requests, as in a long description of a task. */
function ownAmid(messages: readonly Message[]): readonly Message[] {
  const { asked, stated } = linesIn(messages, 200)
  return stated.flatMap(({ text, own }, n): readonly Message[] => {
    if (n % amidEvery !== 0) return []
    const turn = n / amidEvery
    const around = Array.from({ length: 4 + (turn % 9) }, (_, k) => asked[(n * 31 + k * 17) % asked.length]?.text ?? "")
    const place = turn % (around.length + 1)
    const before = around.slice(0, place).map((line) => `${line}${gaps[turn % 2] ?? "\n"}`)
    const start = before.join("").length
    const spans = own.map((span) => ({ start: start + span.start, end: start + span.end }))
    const whole = `${before.join("")}${text}\n${around.slice(place).join("\n")}`
    return [{ text: whole, own: spans, pasted: [], weight: lineWeight }]
  })
}

/** Puts a message that states a rule after a request in the same paragraph, with another request after it. */
function ownBetween(messages: readonly Message[]): readonly Message[] {
  const { asked, stated } = linesIn(messages, 160)
  return stated.flatMap(({ text, own }, n): readonly Message[] => {
    if (n % betweenEvery !== 0) return []
    const turn = n / betweenEvery
    const [before = "", behind = ""] = [13, 29].map((step) => asked[(n * step + 7) % asked.length]?.text)
    const start = before.length + 1
    const spans = own.map((span) => ({ start: start + span.start, end: start + span.end }))
    const whole = `${before} ${text}${gaps[turn % gaps.length] ?? " "}${behind}`
    return [{ text: whole, own: spans, pasted: [], weight: lineWeight }]
  })
}

/**
 * Puts rules of the user's own, and sentences of pasted texts, into a paragraph behind the same requests and questions: what asks for
 * something need not be about what stands behind it.
 */
export function behindRequests(messages: readonly Message[]): readonly Message[] {
  const { asked, stated } = linesIn(messages, 160)
  const requests = [...asked, ...questionsIn(messages)].map(({ text }) => text)
  const documents = messages.flatMap(lineOfPaste)
  const behind = (said: readonly Message[], every: number, leads: readonly string[]): readonly Message[] =>
    said.flatMap(({ text, own, pasted }, n): readonly Message[] => {
      if (n % every !== 0) return []
      const turn = n / every
      const request = requests[(n * 41 + 5) % requests.length] ?? ""
      const next = turn % 4 === 3 ? `\n\n${requests[(n * 23 + 3) % requests.length]}` : ""
      const before = `${request}\n\n${leads[turn % leads.length] ?? ""}`
      const move = ({ start, end }: Span): Span => ({ start: before.length + start, end: before.length + end })
      return [{ text: before + text + next, own: own.map(move), pasted: pasted.map(move), weight: behindWeight }]
    })
  return [
    ...behind(stated, behindEvery, ownLeads),
    ...behind(stated.flatMap(ruleOnly), behindEvery, ownLeads),
    ...behind(ownRules().map(messageOfRule), 1, ownLeads),
    ...behind(documents, 2, [""]),
    ...stated
      .flatMap(ruleOnly)
      .flatMap((rule, n) =>
        n % behindEvery === 0
          ? [{ ...rule, text: `${rule.text} ${requests[(n * 19 + 2) % requests.length]}`, weight: behindWeight }]
          : [],
      ),
  ]
}
const behindEvery = 4
const behindWeight = 0.7
const ownLeads: readonly string[] = ["", "", "", "also: ", "", "and ", "", "btw "]

/** Returns the short questions that messages with pastes start with. */
const questionsIn = (messages: readonly Message[]): readonly { readonly text: string }[] =>
  messages.flatMap(({ text, pasted }) => {
    const [line = ""] = text.split("\n", 1)
    const isFirst = pasted.length > 0 && pasted.every(({ start }) => start > line.length)
    return isFirst && line.length <= maxSentence && /[?？]\s*$/.test(line) ? [{ text: line }] : []
  })

/** Returns the first rule of a message as a message of its own, written as a sentence. */
function ruleOnly({ text, own }: Message): readonly Message[] {
  const [rule] = own
  if (rule === undefined) return []
  return [messageOfRule(text.slice(rule.start, rule.end))]
}

const messageOfRule = (rule: string): Message => {
  const text = sentenceOf(rule)
  return { text, own: [{ start: 0, end: text.length }], pasted: [], weight: lineWeight }
}

/** Returns the line of a message on which the first of its pasted sentences stands. */
function lineOfPaste({ text, pasted, weight }: Message): readonly Message[] {
  const [part] = pasted
  if (part === undefined || part.end - part.start > 2 * maxSentence) return []
  const start = text.lastIndexOf("\n", part.start - 1) + 1
  const lineBreak = text.indexOf("\n", part.end)
  const line = text.slice(start, lineBreak < 0 ? text.length : lineBreak)
  if (line.length > 2 * maxSentence) return []
  return [{ text: line, own: [], pasted: [{ start: part.start - start, end: part.end - start }], weight }]
}
const betweenEvery = 5
const amidEvery = 6
const besideEvery = 4
const gaps = ["\n", " ", "\n\n", "\n"]
/** Maximum length of pasted text that counts as one sentence. */
const maxSentence = 160

const overlaps = (one: Span, two: Span): boolean => one.start < two.end && two.start < one.end

/**
 * Returns the sentences that the finder would take as rules, in the user's own words and in those of others, and the user's own rules that
 * it would not take.
 */
function examplesOf({ text, own, pasted, weight }: Message): readonly Example[] {
  if (own.length === 0 && pasted.length === 0) return []
  const exampleOf = (span: Span, isAnothers: boolean): Example => ({
    ids: speakerFeatures(text, span),
    isAnothers,
    weight,
  })
  const taken = ruleLikeIn(text)
  const users = own.map((rule) => exampleOf(taken.find((span) => overlaps(span, rule)) ?? rule, false))
  const others = pasted.flatMap((part) => {
    const onPage = findRules(text.slice(part.start, part.end), { channel: "system" })
    const inside = [
      ...onPage.map(({ start, end }) => ({ start: part.start + start, end: part.start + end })),
      ...taken.filter((span) => overlaps(span, part) && !own.some((rule) => overlaps(span, rule))),
    ]
    return (inside.length > 0 || part.end - part.start > maxSentence ? inside : [part]).map((span) =>
      exampleOf(span, true),
    )
  })
  return [...users, ...others]
}

const [epochs, rate, decay, dropped] = [20, 0.3, 1e-4, 0.3]
const seeds: readonly number[] = [12_345, 777, 90_210]

/** Both kinds of sentences count the same in all, as far as the square root of their numbers goes. */
export function trainSpeaker(some = authors(), ownSeeds = seeds): Model {
  const examples = messagesOf(some).flatMap(examplesOf)
  const sumOf = (isAnothers: boolean): number =>
    examples.reduce((sum, one) => sum + (one.isAnothers === isAnothers ? one.weight : 0), 0)
  const rarity = Math.sqrt(sumOf(false) / sumOf(true))
  const known = examples.map(({ ids, isAnothers, weight }) => ({
    ...{ ids, weight, isTrue: isAnothers, factor: isAnothers ? rarity : 1 },
    ...{ part: 1 / Math.sqrt(ids.length), start: 0 },
  }))
  return trainSparse(known, { tableSize: speakerTable, epochs, rate, decay, dropped }, ownSeeds)
}

/** Returns the content of the file of weights. */
export function speakerFile(model: Model): string {
  // Weights are scaled to the range of the levels.
  const scale = model.weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / heaviest
  return [
    "// Written by bench/speaker-train.ts; do not edit.",
    `export const speakerWeightStep: number = ${weightStep * scale}`,
    `export const speakerBias: number = ${digits(model.bias)}`,
    `export const speakerWeights: string = ${JSON.stringify(encodeWeights({ weights: model.weights.map((weight) => weight / scale) }))}`,
    "",
  ].join("\n")
}

if (import.meta.main)
  writeFileSync(new URL("../src/rules/generated/speaker-weights.ts", import.meta.url), speakerFile(trainSpeaker()))
