/** How much a line is worth keeping, 0 to 9, by the kind of text it stands in. */
export type ScoreLines = (lines: readonly string[]) => Uint8Array

/** A line says what it is within so many characters. */
const maxSeen = 400
export const seenOf = (line: string): string => (line.length > maxSeen ? line.slice(0, maxSeen) : line)

const escapeSign = String.fromCharCode(27)
const colours = new RegExp(`${escapeSign}\\[[\\d;]{0,20}[A-Za-z]`, "g")

/** A terminal's line as a person sees it: without colours, and without what was written over. */
export function settleLine(line: string): string {
  const plain = line.includes(escapeSign) ? line.replace(colours, "") : line
  const ended = plain.endsWith("\r") ? plain.slice(0, -1) : plain
  return ended.slice(ended.lastIndexOf("\r") + 1)
}

/** So many lines of one pattern make the point; more of them would crowd out the rest. */
const maxAlike = 3

const alarm =
  /\b(?:errors?|exception|fail(?:ed|ures?|s|ing)?|fatal|panic(?:ked)?|critical|traceback|segfault|segmentation fault|denied|refused|timed out|timeout|cannot|can't|could not|unable to|undefined|not found|no such|invalid|unexpected|abort(?:ed)?|killed|conflict)\b|(?:Error|Exception)\b|^E {2,}|[✗✕❌]/i
const failing = /^\s*(?:[✗✕×●❌]|not ok\b|FAIL(?:ED)?\b|--- FAIL)|\bFAILED\b|\.{3} ?(?:FAIL|ERROR)/
const passing = /^\s*(?:[✓✔√]|ok \d|ok\s+\S|PASS(?:ED)?\b|--- PASS)|\bPASSED\b|\.{3} ?ok$/
const caution = /\bwarn(?:ing)?s?\b|\bdeprecat/i
const ending =
  /\bexit(?:ed)?\b.{0,24}\d|\b\d+ (?:passed|failed|passing|failing|errors?|warnings?|tests?|failures?|files? changed)\b|^\s*(?:Ran \d|OK\b|BUILD |Tests?:|Test Suites:|Total\b|Finished|Done\b|Success|real\s)|\b(?:succeeded|completed)\b/
const frame = /^\s+(?:at |File "|in |\d+: |#\d+ |from )|^\s+\^|^\s*\.{3} \d+ more/

/** Logs and test reports: what failed with the lines beside it, what was warned of, and how it ended; what passed goes first. */
export const scoreLog: ScoreLines = (lines) => {
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
    else if (caution.test(line)) raise(weights, at, isNew(line) ? 4 : 1)
    else if (frame.test(line)) raise(weights, at, 2)
    else continue
    if ((weights[at] ?? 0) < 6) continue
    for (const beside of [at - 1, at + 1, at + 2]) raise(weights, beside, 3)
  }
  return weights
}

/** Diffs: whose file, where in it, and what changed. */
export const scoreDiff: ScoreLines = (lines) =>
  Uint8Array.from(lines, (line) => {
    if (/^(?:diff --git |--- |\+\+\+ |Index: |rename |new file|deleted file|\*\*\* (?:Add|Update|Delete) )/.test(line))
      return 8
    if (line.startsWith("@@")) return 7
    return /^[+-]/.test(line) ? 5 : 0
  })

const matchedFile = /^([^\s:][^:]{0,250}):\d+[:-]|^([^\s:][^:]{0,250}):/
const matchCount = /^\s*(?:found|no|total|\d+)\b.{0,80}\b(?:match|result|file|hit)/i

/** Matches of a search: how many there were, then one for each file before a second of any. */
export const scoreMatches: ScoreLines = (lines) => {
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
export const scoreList: ScoreLines = (lines) => {
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
export const lineNumber = /^\s{0,10}(\d{1,7})(?:\t|→|:(?!\d\d\b)|\||\s{2})/

const opening =
  /^\s{0,12}(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|override|pub(?:\([a-z]+\))?|unsafe|const|inline|extern|declare|sealed|partial|virtual) )*(?:function\*?|class|def|fn|func|fun|struct|enum|trait|impl|interface|type|module|namespace|package|record|object|protocol|sub|defmodule|defp?)\s/
const bound =
  /^(?:export )?(?:const|let|var|val)\s+[\w$]+.{0,80}(?:=>|function)|^[A-Za-z_][\w\s*:<>,&~]{2,80}\([^;]{0,200}\{?\s*$/
const method =
  /^\s{1,8}(?!(?:if|for|while|switch|catch|return|else|with)\b)(?:[\w<>[\]]+ ){0,4}[\w$]+\([^;{}]{0,200}\)[^;{}]{0,80}\{\s*$/
const heading = /^#{1,4} \S|^(?:=|-){4,}$|^\S.{0,80}:$|^\[[\w. -]{1,60}\]$/

/** Files: the lines that open a function, a class, a heading. */
export const scoreFile: ScoreLines = (lines) =>
  Uint8Array.from(lines, (whole, at) => {
    const line = seenOf(whole).replace(lineNumber, "")
    if (opening.test(line) || bound.test(line) || method.test(line) || heading.test(line)) return 4
    return at === 0 ? 5 : 0
  })

/** Prose and what we cannot tell: headings and the first line. */
export const scoreProse: ScoreLines = (lines) =>
  Uint8Array.from(lines, (whole, at) => (at === 0 ? 5 : heading.test(seenOf(whole)) ? 3 : 0))

/** A weight can only grow; outside the text there is nothing to weigh. */
export function raise(weights: Uint8Array, at: number, weight: number): void {
  if (at >= 0 && at < weights.length && (weights[at] ?? 0) < weight) weights[at] = weight
}
