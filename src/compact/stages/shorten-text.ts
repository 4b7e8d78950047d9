import { anyOf } from "../../language/word-lists.ts"
import { failureLine, readJsonTree } from "./failure.ts"
import { type Mentions, minQuotedLength, visitWords } from "./later-mentions.ts"
import words from "./line-words.json" with { type: "json" }
import { escapeMarkers, headAndTail, leftOut, nameHandle, usualMarkerLength } from "./marker.ts"
import { prepareJson } from "./shorten-json.ts"
import type { ToolKind } from "./tool-kind.ts"

/** How much a line is worth keeping, 0 to 9, by the kind of text it stands in. */
type ScoreLines = (lines: readonly string[]) => Uint8Array

/** A line says what it is within so many characters. */
const maxScoredLines = 400
const seenOf = (line: string): string => (line.length > maxScoredLines ? line.slice(0, maxScoredLines) : line)

const escapeSign = String.fromCharCode(27)
const colours = new RegExp(`${escapeSign}\\[[\\d;]{0,20}[A-Za-z]`, "g")

/** A terminal's line as a person sees it: without colours, and without what was written over. */
function settleLine(line: string): string {
  const plain = line.includes(escapeSign) ? line.replace(colours, "") : line
  const ended = plain.endsWith("\r") ? plain.slice(0, -1) : plain
  return ended.slice(ended.lastIndexOf("\r") + 1)
}

/** So many lines of one pattern make the point; more of them would crowd out the rest. */
const maxAlike = 3

const alarm = new RegExp(`\\b${anyOf(words.alarms)}\\b|(?:Error|Exception)\\b|^E {2,}|[✗✕❌]`, "i")
const failing = /^\s*(?:[✗✕×●❌]|not ok\b|FAIL(?:ED)?\b|--- FAIL)|\bFAILED\b|\.{3} ?(?:FAIL|ERROR)/
const passing = /^\s*(?:[✓✔√]|ok \d|ok\s+\S|PASS(?:ED)?\b|--- PASS)|\bPASSED\b|\.{3} ?ok$/
const cautionWords = /\bwarn(?:ing)?s?\b|\bdeprecat/i
const ending =
  /\bexit(?:ed)?\b.{0,24}\d|\b\d+ (?:passed|failed|passing|failing|errors?|warnings?|tests?|failures?|files? changed)\b|^\s*(?:Ran \d|OK\b|BUILD |Tests?:|Test Suites:|Total\b|Finished|Done\b|Success|real\s)|\b(?:succeeded|completed)\b/
const frame = /^\s+(?:at |File "|in |\d+: |#\d+ |from )|^\s+\^|^\s*\.{3} \d+ more/

/** Logs and test reports: what failed with the lines beside it, what was warned of, and how it ended; what passed goes first. */
const scoreLog: ScoreLines = (lines) => {
  const weights = new Uint8Array(lines.length)
  const alike = new Map<string, number>()
  const isNew = (line: string): boolean => {
    const pattern = line.replace(/\d+/g, "#").slice(0, 100)
    const seen = alike.get(pattern) ?? 0
    alike.set(pattern, seen + 1)
    return seen < maxAlike
  }
  for (let at = 0; at < lines.length; at++) {
    const line = seenOf(lines[at] ?? "")
    if (ending.test(line)) raise(weights, at, 8)
    else if (passing.test(line)) continue
    else if (failing.test(line)) raise(weights, at, isNew(line) ? 7 : 3)
    else if (alarm.test(line)) raise(weights, at, isNew(line) ? 6 : 1)
    else if (cautionWords.test(line)) raise(weights, at, isNew(line) ? 4 : 1)
    else if (frame.test(line)) raise(weights, at, 2)
    else continue
    if ((weights[at] ?? 0) < 6) continue
    for (const beside of [at - 1, at + 1, at + 2]) raise(weights, beside, 3)
  }
  return weights
}

/** Diffs: whose file, where in it, and what changed. */
const scoreDiff: ScoreLines = (lines) =>
  Uint8Array.from(lines, (line) => {
    if (/^(?:diff --git |--- |\+\+\+ |Index: |rename |new file|deleted file|\*\*\* (?:Add|Update|Delete) )/.test(line))
      return 8
    if (line.startsWith("@@")) return 7
    return /^[+-]/.test(line) ? 5 : 0
  })

const matchedFile = /^([^\s:][^:]{0,250}):\d+[:-]|^([^\s:][^:]{0,250}):/
const matchCount = /^\s*(?:found|no|total|\d+)\b.{0,80}\b(?:match|result|file|hit)/i

/** Matches of a search: how many there were, then one for each file before a second of any. */
const scoreMatches: ScoreLines = (lines) => {
  const files = new Map<string, number>()
  return Uint8Array.from(lines, (whole) => {
    const line = seenOf(whole)
    if (matchCount.test(line)) return 8
    if (line.trim() === "" || line === "--") return 0
    const found = matchedFile.exec(line)
    const file = found?.[1] ?? found?.[2]
    if (file === undefined) return /^\S*\/\S*$/.test(line) ? 6 : 0
    const seen = files.get(file) ?? 0
    files.set(file, seen + 1)
    return seen === 0 ? 6 : seen < maxAlike ? 1 : 0
  })
}

/** Lists of files: one of each folder first. */
const scoreList: ScoreLines = (lines) => {
  const folders = new Set<string>()
  return Uint8Array.from(lines, (whole) => {
    const line = seenOf(whole)
    const folder = line.slice(0, line.lastIndexOf("/") + 1)
    if (folder === "" || folders.has(folder)) return /:$/.test(line) ? 3 : 0
    folders.add(folder)
    return 3
  })
}

/** The number before a line of a file, as `cat -n`, editors and agents print it. */
const lineNumber = /^\s{0,10}(\d{1,7})(?:\t|→|:(?!\d\d\b)|\||\s{2})/

const opening = new RegExp(`^\\s{0,12}(?:${anyOf(words.modifiers)} )*${anyOf(words.declarations)}\\s`)
const bound =
  /^(?:export )?(?:const|let|var|val)\s+[\w$]+.{0,80}(?:=>|function)|^[A-Za-z_][\w\s*:<>,&~]{2,80}\([^;]{0,200}\{?\s*$/
const method =
  /^\s{1,8}(?!(?:if|for|while|switch|catch|return|else|with)\b)(?:[\w<>[\]]+ ){0,4}[\w$]+\([^;{}]{0,200}\)[^;{}]{0,80}\{\s*$/
const heading = /^#{1,4} \S|^(?:=|-){4,}$|^\S.{0,80}:$|^\[[\w. -]{1,60}\]$/

/** Files: the lines that open a function, a class, a heading. */
const scoreFile: ScoreLines = (lines) =>
  Uint8Array.from(lines, (whole, at) => {
    const line = seenOf(whole).replace(lineNumber, "")
    if (opening.test(line) || bound.test(line) || method.test(line) || heading.test(line)) return 4
    return at === 0 ? 5 : 0
  })

/** Prose and what we cannot tell: headings and the first line. */
const scoreProse: ScoreLines = (lines) =>
  Uint8Array.from(lines, (whole, at) => (at === 0 ? 5 : heading.test(seenOf(whole)) ? 3 : 0))

/** A weight can only grow; outside the text there is nothing to weigh. */
function raise(weights: Uint8Array, at: number, weight: number): void {
  if (at >= 0 && at < weights.length && (weights[at] ?? 0) < weight) weights[at] = weight
}

/** What is known of the text of a result. */
export type TextSource = {
  readonly kind: ToolKind
  readonly failed: boolean
  readonly interest: Interest
  readonly handle?: string
  /** What the reader can do to see the rest, said in the last marker. */
  readonly advice?: string
  /** Keep beginning and end and what the call asked about, rather than the lines that tell most wherever they stand. */
  readonly wholeEnds?: true
}

/** Counts of one text at most: the first guess is by proportion, and each count corrects the next. */
const maxTries = 5
/** A guess aims a little below the mark, because what is kept is denser than what goes. */
const caution = 0.95
/** Less of the budget used than this is worth one more try. */
const wellUsed = 0.75

/** Tokens of a budget in which advice would take the place of what it is about. */
const adviceBudget = 96

/** Characters weighed line by line from either end of a text; what lies between goes first in any case. */
const maxWeighedPerEnd = 250_000

/** Shorten a text to a budget in tokens by what it is: JSON stays JSON, of lines the telling ones stay. Nothing where it cannot be done. */
export function shortenText(
  text: string,
  sizes: { readonly tokens: number; readonly budget: number },
  source: TextSource,
  count: (text: string) => number,
): string | undefined {
  const { shorten, handle } = prepareText(text, source)
  const advice = sizes.budget < adviceBudget ? undefined : source.advice
  let fitting = { maxLength: 0, text: "" }
  let tooLong = Number.POSITIVE_INFINITY
  let maxLength = Math.floor((text.length * sizes.budget * caution) / Math.max(1, sizes.tokens))
  for (let tries = 0; tries < maxTries; tries++) {
    const shortened = nameHandle(shorten(maxLength), handle, advice)
    const tokens = count(shortened)
    if (tokens > sizes.budget) tooLong = maxLength
    else if (shortened.length >= fitting.text.length) fitting = { maxLength, text: shortened }
    if (tokens <= sizes.budget && tokens >= sizes.budget * wellUsed) break
    const guess = (maxLength * sizes.budget * caution) / Math.max(1, tokens)
    maxLength = Math.floor(
      guess > fitting.maxLength && guess < tooLong ? guess : (fitting.maxLength + Math.min(tooLong, text.length)) / 2,
    )
  }
  return fitting.text === "" ? undefined : fitting.text
}

type Prepared = { readonly shorten: (maxLength: number) => string; readonly handle: string | undefined }

/** A text is shortened again for a little less where it came out too large. */
const prepared = new WeakMap<TextSource, { readonly text: string; readonly made: Prepared }>()

/** Look at a text once; then it can be shortened to any length. Inside JSON a handle is written as JSON writes it. */
function prepareText(text: string, source: TextSource): Prepared {
  const known = prepared.get(source)
  if (known?.text === text) return known.made
  const made = readText(text, source)
  prepared.set(source, { text, made })
  return made
}

function readText(text: string, source: TextSource): Prepared {
  const { handle } = source
  const tree = readJsonTree(text)
  if (tree === undefined) return { shorten: prepareLines(escapeMarkers(text), source), handle }
  const { mentions, after, focus } = source.interest
  const shorten = prepareJson(tree, {
    prepareText: (inner) => prepareLines(inner, source),
    isCited: (value) => mentions.word(value, after) || (focus.size > 0 && focus.has(value.toLowerCase())),
  })
  return { shorten, handle: handle === undefined ? undefined : JSON.stringify(handle).slice(1, -1) }
}

function prepareLines(text: string, { kind, failed, interest, wholeEnds }: TextSource): (maxLength: number) => string {
  const { lines: written, hidden } = windowOf(text)
  const lines = kind === "shell" || kind === "test" ? written.map(settleLine) : written
  if (lines.length === 1 && hidden.count === 0) return (maxLength) => headAndTail(lines[0] ?? "", maxLength)
  const weights = wholeEnds === true ? new Uint8Array(lines.length) : scoreOfOutput(lines, kind)(lines)
  if (failed && wholeEnds !== true) {
    for (const [at, weight] of scoreLog(lines).entries()) raise(weights, at, weight)
    for (const [at, line] of lines.entries()) if (failureLine.test(seenOf(line))) raise(weights, at, maxWeight)
  }
  citeLines(lines, weights, interest)
  return (maxLength) => keepLines({ lines, weights, hidden }, maxLength)
}

/** The lines of a text, without the middle of a huge one: only counted, and where they stood. */
function windowOf(text: string): { readonly lines: readonly string[]; readonly hidden: Hidden } {
  const from = text.lastIndexOf("\n", maxWeighedPerEnd)
  const to = text.indexOf("\n", text.length - maxWeighedPerEnd)
  if (text.length <= 2 * maxWeighedPerEnd || from < 0 || to <= from)
    return { lines: text.split("\n"), hidden: nothingHidden }
  const head = text.slice(0, from).split("\n")
  let count = 0
  for (let at = from; at < to; at = text.indexOf("\n", at + 1)) count++
  return { lines: [...head, ...text.slice(to + 1).split("\n")], hidden: { before: head.length, count } }
}

/** Lines looked at to tell what a text is: enough to get past a header, few enough to cost nothing. */
const sampledLines = 120

/** A text is of a shape when more than this share of its lines are. */
const enough = 0.5

const scoreOfKind: Readonly<Record<ToolKind, ScoreLines>> = {
  ...{ read: scoreFile, search: scoreMatches, shell: scoreLog, test: scoreLog, web: scoreProse },
  ...{ json: scoreProse, diff: scoreDiff, list: scoreList, other: scoreProse },
}

/** How to weigh the lines of an output: by what they look like, and where that says nothing by the kind of the tool. */
function scoreOfOutput(lines: readonly string[], kind: ToolKind): ScoreLines {
  const sample = lines.slice(0, sampledLines).filter((line) => line.trim() !== "")
  const share = (pattern: RegExp): number =>
    sample.filter((line) => pattern.test(line.slice(0, 300))).length / sample.length
  if (sample.some((line) => /^@@ -\d|^diff --git /.test(line)) && share(/^(?:[-+ @]|diff |index )/) > enough)
    return scoreDiff
  if (share(lineNumber) > enough) return scoreFile
  if (share(/^(?!\d)[^\s:]{1,250}:\d+[:-]/) > enough) return scoreMatches
  if (kind === "other" && share(/^\[?\d{4}-\d\d-\d\d|^\[?\d\d:\d\d|\b(?:INFO|DEBUG|WARN|ERROR)\b|^\s+at /) > enough)
    return scoreLog
  if (kind === "other" && share(/^\S*[/\\]\S*$/) > enough) return scoreList
  return scoreOfKind[kind]
}

/** What makes a line of one result worth keeping beside what it says. */
type Interest = {
  readonly mentions: Mentions
  /** The position of the result's message: what was said after it counts. */
  readonly after: number
  /** Words of what is to be done next, in lower case. */
  readonly focus: ReadonlySet<string>
}

/** Characters of a line that are searched for names. */
const maxSeen = 1_000

/** A word or line that stands in more places than this tells none of them apart. */
const maxTelling = 4

/** Raise the lines that later turns quoted, numbered or named something of, and those about the focus. */
function citeLines(lines: readonly string[], weights: Uint8Array, { mentions, after, focus }: Interest): void {
  const named = new Map<string, number[]>()
  const quoted = new Map<string, number[]>()
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? "").slice(0, maxSeen)
    const number = lineNumber.exec(line)
    if (number !== null && mentions.number(Number(number[1]), after)) raiseWithContext(weights, at, 7)
    const bare = (number === null ? line : line.slice(number[0].length)).trim()
    if (bare.length >= minQuotedLength && !bare.startsWith("```") && mentions.line(bare, after)) note(quoted, bare, at)
    visitWords(bare, (word) => {
      if (mentions.word(word, after) || (focus.size > 0 && focus.has(word.toLowerCase()))) note(named, word, at)
    })
  }
  for (const found of quoted.values())
    if (found.length <= maxTelling) for (const at of found) raiseWithContext(weights, at, 8)
  for (const found of named.values()) if (found.length <= maxTelling) for (const at of found) raise(weights, at, 6)
}

function note(places: Map<string, number[]>, word: string, at: number): void {
  const found = places.get(word)
  if (found === undefined) places.set(word, [at])
  else if (found.at(-1) !== at) found.push(at)
}

function raiseWithContext(weights: Uint8Array, at: number, weight: number): void {
  raise(weights, at, weight)
  raise(weights, at - 1, 3)
  raise(weights, at + 1, 3)
}

/** A line of a shortened text is no longer than this or a third of the text: long enough for any line that a person wrote. */
const minCutLength = 200

/** What weights run up to. */
const maxWeight = 9

/** A gap costs more than its marker's characters: signs and numbers take more tokens than words, and a torn text reads badly. */
const gapCost = usualMarkerLength + 12

/** Lines that are not at hand: how many, and before which of the others they stood. */
type Hidden = { readonly before: number; readonly count: number }
const nothingHidden: Hidden = { before: -1, count: 0 }

type WeighedLines = { readonly lines: readonly string[]; readonly weights: Uint8Array; readonly hidden: Hidden }

type Choice = { readonly kept: Uint8Array; readonly add: (line: number) => boolean }

/** Keeps account of the lines chosen and of the markers that the gaps between them will take. */
function chooseLines(costs: Float64Array, maxLength: number): Choice {
  const kept = new Uint8Array(costs.length)
  let used = gapCost
  return {
    kept,
    add: (line) => {
      if (kept[line] === 1) return true
      const before = line === 0 || kept[line - 1] === 1
      const after = line === costs.length - 1 || kept[line + 1] === 1
      const gaps = before && after ? -1 : before || after ? 0 : 1
      const next = used + (costs[line] ?? 0) + gaps * gapCost
      if (next > maxLength) return false
      kept[line] = 1
      used = next
      return true
    },
  }
}

/** From both ends to the middle. */
function* fromBothEnds(lines: readonly number[]): Generator<number> {
  for (let first = 0, last = lines.length - 1; first <= last; first++, last--) {
    yield lines[first] ?? 0
    if (first < last) yield lines[last] ?? 0
  }
}

/** Fill what room is left from the head and the tail, two to one, without a hole. */
function fillEnds(total: number, { add }: Choice): void {
  let head = 0
  let tail = total - 1
  for (let open = true; open && head <= tail; ) {
    open = add(head)
    if (open) head++
    if (open && head <= tail && add(head)) head++
    if (head <= tail && add(tail)) tail--
    else if (!open) return
  }
}

/**
 * The heaviest lines in their own order, in at most about `maxLength` characters. Of lines of one weight the middle goes first; lines of
 * no weight only fill the ends. Every gap says how many lines it took.
 */
function keepLines({ lines, weights, hidden }: WeighedLines, maxLength: number): string {
  const cut = Math.max(minCutLength, Math.floor(maxLength / 3))
  const costs = new Float64Array(lines.length)
  const classes: number[][] = Array.from({ length: maxWeight + 1 }, () => [])
  for (let at = 0; at < lines.length; at++) {
    costs[at] = Math.min(cut, (lines[at] ?? "").length) + 1
    classes[Math.min(maxWeight, weights[at] ?? 0)]?.push(at)
  }
  const choice = chooseLines(costs, maxLength)
  for (let weight = maxWeight; weight > 0; weight--) {
    for (const line of fromBothEnds(classes[weight] ?? [])) choice.add(line)
  }
  fillEnds(lines.length, choice)
  return writeLines(lines, hidden, costs, choice.kept, cut)
}

function writeLines(
  lines: readonly string[],
  hidden: Hidden,
  costs: Float64Array,
  kept: Uint8Array,
  cut: number,
): string {
  const written: string[] = []
  for (let at = 0; at < lines.length; ) {
    let end = at
    let cost = 0
    for (; end < lines.length && kept[end] === 0; end++) cost += costs[end] ?? 0
    const unseen = hidden.count > 0 && hidden.before >= at && hidden.before <= end ? hidden.count : 0
    // A marker never stands for less than it takes.
    if (unseen === 0 && cost <= gapCost) for (; at < end; at++) written.push(lines[at] ?? "")
    else written.push(leftOut(end - at + unseen, "line"))
    at = end
    if (at < lines.length) written.push(headAndTail(lines[at++] ?? "", cut))
  }
  return written.join("\n")
}
