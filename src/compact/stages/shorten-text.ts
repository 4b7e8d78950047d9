import { anyOf } from "../../language/word-lists.ts"
import { failureLine, readJsonTree } from "./failure.ts"
import { type Mentions, minQuotedLength, visitWords } from "./later-mentions.ts"
import words from "./line-words.json" with { type: "json" }
import { escapeMarkers, headAndTail, leftOut, nameHandle, usualMarkerLength } from "./marker.ts"
import { prepareJson } from "./shorten-json.ts"
import type { ToolKind } from "./tool-kind.ts"

/** Rates how much each line is worth keeping, from 0 to 9, for one kind of text. */
type ScoreLines = (lines: readonly string[]) => Uint8Array

/** Maximum number of characters per line that are examined. */
const maxScoredLines = 400
const examinedPart = (line: string): string => (line.length > maxScoredLines ? line.slice(0, maxScoredLines) : line)

const escapeSign = String.fromCharCode(27)
const colours = new RegExp(`${escapeSign}\\[[\\d;]{0,20}[A-Za-z]`, "g")

/** Returns a terminal line as a person sees it: without colours, and without overwritten text. */
function settleLine(line: string): string {
  const plain = line.includes(escapeSign) ? line.replace(colours, "") : line
  const ended = plain.endsWith("\r") ? plain.slice(0, -1) : plain
  return ended.slice(ended.lastIndexOf("\r") + 1)
}

/** Maximum number of lines of one pattern: more would crowd out the rest. */
const maxAlike = 3

const alarm = new RegExp(`\\b${anyOf(words.alarms)}\\b|(?:Error|Exception)\\b|^E {2,}|[✗✕❌]`, "i")
const failing = /^\s*(?:[✗✕×●❌]|not ok\b|FAIL(?:ED)?\b|--- FAIL)|\bFAILED\b|\.{3} ?(?:FAIL|ERROR)/
const passing = /^\s*(?:[✓✔√]|ok \d|ok\s+\S|PASS(?:ED)?\b|--- PASS)|\bPASSED\b|\.{3} ?ok$/
const cautionWords = /\bwarn(?:ing)?s?\b|\bdeprecat/i
const ending =
  /\bexit(?:ed)?\b.{0,24}\d|\b\d+ (?:passed|failed|passing|failing|errors?|warnings?|tests?|failures?|files? changed)\b|^\s*(?:Ran \d|OK\b|BUILD |Tests?:|Test Suites:|Total\b|Finished|Done\b|Success|real\s)|\b(?:succeeded|completed)\b/
const frame = /^\s+(?:at |File "|in |\d+: |#\d+ |from )|^\s+\^|^\s*\.{3} \d+ more/

/** Logs and test reports: failures with the lines next to them, warnings, and the end; passed tests are dropped first. */
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
    const line = examinedPart(lines[at] ?? "")
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

/** Diffs: file headers, positions, and changed lines. */
const scoreDiff: ScoreLines = (lines) =>
  Uint8Array.from(lines, (line) => {
    if (/^(?:diff --git |--- |\+\+\+ |Index: |rename |new file|deleted file|\*\*\* (?:Add|Update|Delete) )/.test(line))
      return 8
    if (line.startsWith("@@")) return 7
    return /^[+-]/.test(line) ? 5 : 0
  })

const matchedFile = /^([^\s:][^:]{0,250}):\d+[:-]|^([^\s:][^:]{0,250}):/
const matchCount = /^\s*(?:found|no|total|\d+)\b.{0,80}\b(?:match|result|file|hit)/i

/** Search matches: the count, then one match per file before a second of any. */
const scoreMatches: ScoreLines = (lines) => {
  const files = new Map<string, number>()
  return Uint8Array.from(lines, (whole) => {
    const line = examinedPart(whole)
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
    const line = examinedPart(whole)
    const folder = line.slice(0, line.lastIndexOf("/") + 1)
    if (folder === "" || folders.has(folder)) return /:$/.test(line) ? 3 : 0
    folders.add(folder)
    return 3
  })
}

/** Matches the number before a line of a file, as `cat -n`, editors and agents print it. */
const lineNumber = /^\s{0,10}(\d{1,7})(?:\t|→|:(?!\d\d\b)|\||\s{2})/

const opening = new RegExp(`^\\s{0,12}(?:${anyOf(words.modifiers)} )*${anyOf(words.declarations)}\\s`)
const bound =
  /^(?:export )?(?:const|let|var|val)\s+[\w$]+.{0,80}(?:=>|function)|^[A-Za-z_][\w\s*:<>,&~]{2,80}\([^;]{0,200}\{?\s*$/
const method =
  /^\s{1,8}(?!(?:if|for|while|switch|catch|return|else|with)\b)(?:[\w<>[\]]+ ){0,4}[\w$]+\([^;{}]{0,200}\)[^;{}]{0,80}\{\s*$/
const heading = /^#{1,4} \S|^(?:=|-){4,}$|^\S.{0,80}:$|^\[[\w. -]{1,60}\]$/

/** Files: lines that start a function, a class or a heading. */
const scoreFile: ScoreLines = (lines) =>
  Uint8Array.from(lines, (whole, at) => {
    const line = examinedPart(whole).replace(lineNumber, "")
    if (opening.test(line) || bound.test(line) || method.test(line) || heading.test(line)) return 4
    return at === 0 ? 5 : 0
  })

/** Prose and unknown text: headings and the first line. */
const scoreProse: ScoreLines = (lines) =>
  Uint8Array.from(lines, (whole, at) => (at === 0 ? 5 : heading.test(examinedPart(whole)) ? 3 : 0))

/** Raises the weight of a line; indexes outside the text are ignored. */
function raise(weights: Uint8Array, at: number, weight: number): void {
  if (at >= 0 && at < weights.length && (weights[at] ?? 0) < weight) weights[at] = weight
}

/** What is known about the text of a result. */
export type TextSource = {
  readonly kind: ToolKind
  readonly failed: boolean
  readonly interest: Interest
  readonly handle?: string
  /** What the reader can do to see the rest; added to the last marker. */
  readonly advice?: string
  /** True to keep the beginning, the end and what the call asked about instead of the most important lines. */
  readonly wholeEnds?: true
}

/** Maximum number of token counts per text: the first guess is proportional, and each count corrects the next. */
const maxTries = 5
/** Guesses aim slightly below the budget, because what is kept is denser than what is dropped. */
const caution = 0.95
/** If less than this share of the budget is used, another try is worth it. */
const wellUsed = 0.75

/** Minimum budget for advice, which would otherwise replace the content. */
const adviceBudget = 96

/** Number of characters at either end of a text that are rated line by line; the middle between them is always dropped. */
const maxWeighedPerEnd = 250_000

/** Shortens a text to a token budget by its type: JSON stays JSON; of lines the most important stay. Undefined if that is impossible. */
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

/** A text prepared for shortening to any length. */
type Prepared = { readonly shorten: (maxLength: number) => string; readonly handle: string | undefined }

/** Cache of the last text: it is shortened again for slightly less if it came out too large. */
const prepared = new WeakMap<TextSource, { readonly text: string; readonly made: Prepared }>()

/** Analyzes a text once, so that it can be shortened to any length. Inside JSON a handle is escaped. */
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
    for (const [at, line] of lines.entries()) if (failureLine.test(examinedPart(line))) raise(weights, at, maxWeight)
  }
  citeLines(lines, weights, interest)
  return (maxLength) => keepLines({ lines, weights, hidden }, maxLength)
}

/** Returns the lines of a text; for a huge one without its middle, of which only the count and position are kept. */
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

/** Number of lines examined to classify a text: enough to get past a header, few enough to be cheap. */
const sampledLines = 120

/** A text has a type if more than this share of its lines do. */
const majority = 0.5

const scoreOfKind: Readonly<Record<ToolKind, ScoreLines>> = {
  ...{ read: scoreFile, search: scoreMatches, shell: scoreLog, test: scoreLog, web: scoreProse },
  ...{ json: scoreProse, diff: scoreDiff, list: scoreList, other: scoreProse },
}

/** Returns how to rate the lines of an output: by what they look like, and if that is unclear by the kind of the tool. */
function scoreOfOutput(lines: readonly string[], kind: ToolKind): ScoreLines {
  const sample = lines.slice(0, sampledLines).filter((line) => line.trim() !== "")
  const share = (pattern: RegExp): number =>
    sample.filter((line) => pattern.test(line.slice(0, 300))).length / sample.length
  if (sample.some((line) => /^@@ -\d|^diff --git /.test(line)) && share(/^(?:[-+ @]|diff |index )/) > majority)
    return scoreDiff
  if (share(lineNumber) > majority) return scoreFile
  if (share(/^(?!\d)[^\s:]{1,250}:\d+[:-]/) > majority) return scoreMatches
  if (kind === "other" && share(/^\[?\d{4}-\d\d-\d\d|^\[?\d\d:\d\d|\b(?:INFO|DEBUG|WARN|ERROR)\b|^\s+at /) > majority)
    return scoreLog
  if (kind === "other" && share(/^\S*[/\\]\S*$/) > majority) return scoreList
  return scoreOfKind[kind]
}

/** What makes a line of a result worth keeping, apart from its content. */
type Interest = {
  readonly mentions: Mentions
  /** Index of the result's message: only what was said after it counts. */
  readonly after: number
  /** Words of what is to be done next, in lower case. */
  readonly focus: ReadonlySet<string>
}

/** Maximum number of characters of a line that are searched for names. */
const maxSeen = 1_000

/** Maximum number of lines with the same word or text: in more it does not identify any of them. */
const maxOccurrences = 4

/** Raises the lines that later turns quoted, referred to by number or mentioned something of, and those about the focus. */
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
    if (found.length <= maxOccurrences) for (const at of found) raiseWithContext(weights, at, 8)
  for (const found of named.values()) if (found.length <= maxOccurrences) for (const at of found) raise(weights, at, 6)
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

/** Maximum length of a line in a shortened text, or a third of the text if that is more: enough for any line that a person wrote. */
const minCutLength = 200

/** The highest weight. */
const maxWeight = 9

/**
 * Cost of a gap in characters. More than the marker's length, because its punctuation and digits take more tokens than words, and gaps make
 * a text hard to read.
 */
const gapCost = usualMarkerLength + 12

/** Lines that are only counted: how many, and the index of the line that follows them. */
type Hidden = { readonly before: number; readonly count: number }
const nothingHidden: Hidden = { before: -1, count: 0 }

type WeighedLines = { readonly lines: readonly string[]; readonly weights: Uint8Array; readonly hidden: Hidden }

/** The lines chosen so far; `add` returns false if the line does not fit. */
type Choice = { readonly kept: Uint8Array; readonly add: (line: number) => boolean }

/** Tracks the chosen lines and the space that the markers for the gaps between them will take. */
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

/** Yields the items from both ends to the middle. */
function* fromBothEnds(lines: readonly number[]): Generator<number> {
  for (let first = 0, last = lines.length - 1; first <= last; first++, last--) {
    yield lines[first] ?? 0
    if (first < last) yield lines[last] ?? 0
  }
}

/** Fills the remaining space from the head and the tail, two to one, without a gap. */
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
 * Keeps the lines of the highest weight, in their original order, in at most about `maxLength` characters. Among equal weights the middle
 * is dropped first; lines without weight only fill the ends. Every gap says how many lines it replaced.
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
    // A marker never replaces less than its own length.
    if (unseen === 0 && cost <= gapCost) for (; at < end; at++) written.push(lines[at] ?? "")
    else written.push(leftOut(end - at + unseen, "line"))
    at = end
    if (at < lines.length) written.push(headAndTail(lines[at++] ?? "", cut))
  }
  return written.join("\n")
}
