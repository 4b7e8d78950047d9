import { lazy } from "../language/lazy.ts"
import type { Span } from "../message/message.ts"
import { speakerBias, speakerWeightStep, speakerWeights } from "./generated/speaker-weights.ts"
import { readLevels, weightsOfLevels, zeroLevel } from "./weight-table.ts"

/**
 * Who speaks in a sentence of a user's message: the user, or somebody whose text is pasted, quoted or retold. Nothing has to mark that text,
 * so what stands around the sentence tells it: the line before it, the question behind it, the form of its own line and of its neighbours.
 */

/** From these scores on it is somebody else: where no form of the message shows a paste, and beside one that is shown. */
export const [surelyAnothers, surelyPasted]: readonly [number, number] = [1, 3]

/** Below this it is the user, whatever words lead up to it. */
export const surelyOwn = -1.5

/** Is a sentence in the user's own words somebody else's by what stands around it? One line without a joint has no room for two. */
export function isAnothers(text: string, sentence: Span, pages: readonly Span[]): boolean {
  if (!holdsTwo.test(text)) return false
  // Where a paste was found beside the user's words, who says what is known already.
  const isWhole = pages.length === 1 && pages[0]?.start === 0 && pages[0].end === text.length
  return speakerScore(text, sentence) > (isWhole ? surelyAnothers : surelyPasted)
}
/** Signs between what one says and what another does. */
const holdsTwo = /(?<!\d):|:(?!\d)|[\n："“”„«»「—–]| - |['‘]\p{L}/u

const table = lazy(() => ({
  levels: readLevels(speakerWeights, speakerTable),
  weights: weightsOfLevels(speakerWeightStep),
}))

/** How sure it is that somebody else speaks: the logarithm of the odds. */
export function speakerScore(text: string, sentence: Span): number {
  const { levels, weights } = table()
  const ids = speakerFeatures(text, sentence)
  const sum = ids.reduce((all, id) => all + (weights[(levels[id] ?? 0) + zeroLevel] ?? 0), 0)
  return speakerBias + sum / Math.sqrt(ids.length)
}

/** Features are hashed into a table of this size. */
export const speakerTable = 1 << 14

/** Characters of a message that are looked at on either side of a sentence. */
const maxAround = 4_000
/** Words that are read of one place. */
const maxWords = 24

const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+|\p{L}+(?:['’]\p{L}+)*|\d+|[?？!]+/gu
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** The words of a place in small letters; where words have no blanks between them, two signs each. */
function spokenWords(text: string, most: number = maxWords): readonly string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(wordPattern)) {
    if (words.length >= most) break
    if (!unspaced.test(word)) words.push(/^\d/.test(word) ? "0" : word.toLowerCase().replaceAll("’", "'"))
    else
      for (let at = 0; at < Math.max(1, word.length - 1) && words.length < most; at++)
        words.push(word.slice(at, at + 2))
  }
  return words
}

/** The form of a line: how it begins and how it ends, which a log, a list, a chat and a letter have of their own. */
function formOf(line: string): readonly string[] {
  const text = line.trim()
  const begins = forms.find(([, pattern]) => pattern.test(text))?.[0] ?? "plain"
  const last = /[:：]$/.test(text) ? "colon" : /[?？]$/.test(text) ? "asks" : /[.。!！;,]$/.test(text) ? "stop" : "open"
  const count = text.split(/\s+/).length
  const size = count <= 3 ? "few" : count <= 8 ? "some" : count <= 20 ? "many" : "long"
  return [`^${begins}`, `$${last}`, `#${size}`, `^${begins}$${last}`, `#${size}$${last}`]
}

const forms: readonly (readonly [string, RegExp])[] = [
  ["bullet", /^[-*•·–]\s/],
  ["number", /^\(?\d{1,3}[.)]\s/],
  ["heading", /^#{1,6}\s|^\*\*[^*]+\*\*:?$/],
  ["comment", /^(?:\/\/|\/\*|\*\s|;|--\s|#\S|<!--|""")/],
  ["quoted", /^[>»"“„«「『']/],
  ["bracket", /^[[({<]/],
  ["table", /^\||\t|^[^,]{1,30}(?:,[^,]{1,40}){3,}$/],
  ["prompt", /^(?:\$|PS |C:\\|[\w.-]+@[\w.-]+[:~$])/],
  ["time", /^\[?\d{1,4}[-/:.]\d{1,2}(?:[-/:.]\d{1,4})?/],
  ["key", /^[\w.-]{1,30}\s?=/],
  ["label", /^[\p{L}\p{N} ._()'’-]{1,40}[:：]\s/u],
  ["dash", /^(?:—|--)\s?\p{L}/u],
  ["lower", /^\p{Ll}/u],
]

type Line = Span & { readonly text: string }

function linesAround(
  text: string,
  { start, end }: Span,
): { readonly lines: readonly Line[]; readonly own: number; readonly ownEnd: number } {
  const from = Math.max(0, start - maxAround)
  const to = Math.min(text.length, end + maxAround)
  const lines: Line[] = []
  let at = from
  for (const line of text.slice(from, to).split("\n")) {
    lines.push({ start: at, end: at + line.length, text: line })
    at += line.length + 1
  }
  const own = lines.findIndex((line) => start <= line.end)
  const ownEnd = lines.findIndex((line) => end <= line.end)
  return { lines, own: Math.max(0, own), ownEnd: ownEnd < 0 ? lines.length - 1 : ownEnd }
}

const isBlank = (line: Line | undefined): boolean => line === undefined || line.text.trim() === ""

/** FNV-1a, folded into the table. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return ((hash >>> 15) ^ hash) & (speakerTable - 1)
}

/** What tells who speaks in one sentence of a message, each feature once. */
export function speakerFeatures(text: string, span: Span): readonly number[] {
  const { lines, own, ownEnd } = linesAround(text, span)
  const names = new Set<string>()
  const add = (tag: string, words: readonly string[], pairs: boolean): void => {
    for (const [n, word] of words.entries()) {
      names.add(`${tag} ${word}`)
      if (pairs) names.add(`${tag} ${words[n - 1] ?? "^"} ${word}`)
    }
  }
  const first = lines[own]
  const last = lines[ownEnd]
  const before = text.slice(first?.start ?? span.start, span.start)
  const after = text.slice(span.end, last?.end ?? span.end)
  const sentence = spokenWords(text.slice(span.start, span.end))
  add("s", sentence, false)
  add("s0", sentence.slice(0, 3), true)
  add("b", spokenWords(before).slice(-12), true)
  add("a", spokenWords(after, 12), true)
  if (/[:：]\s*$/.test(before)) names.add("b colon")
  if (/["“„«'(]\s*$/.test(before)) names.add("b quote")
  names.add(before.trim() === "" ? "b none" : "b some").add(after.trim() === "" ? "a none" : "a some")
  for (const form of formOf(first?.text ?? "")) names.add(`own ${form}`)
  const [up, down] = [neighbour(lines, own, -1), neighbour(lines, ownEnd, 1)]
  for (const [tag, found] of [
    ["p", up],
    ["n", down],
  ] as const) {
    if (found === undefined) {
      names.add(`${tag} nothing`)
      continue
    }
    add(tag, spokenWords(found.line.text, 16), true)
    for (const form of formOf(found.line.text))
      names.add(`${tag} ${form}`).add(`${tag}${found.gap ? "|" : "+"} ${form}`)
  }
  const spoken = lines.filter((line) => !isBlank(line))
  const [head, tail] = [spoken[0], spoken.at(-1)]
  if (head !== undefined && head.end < span.start) {
    add("f", spokenWords(head.text, 16), true)
    for (const form of formOf(head.text)) names.add(`f ${form}`)
  } else names.add("f own")
  if (tail !== undefined && tail.start > span.end) {
    add("l", spokenWords(tail.text, 16), true)
    for (const form of formOf(tail.text)) names.add(`l ${form}`)
  } else names.add("l own")
  let [top, bottom] = [own, ownEnd]
  while (!isBlank(lines[top - 1])) top--
  while (!isBlank(lines[bottom + 1])) bottom++
  const outside = lines.filter((_, n) => n < top || n > bottom)
  const inside = lines.filter((_, n) => n >= top && n <= bottom && (n < own || n > ownEnd))
  add("o", spokenWords(outside.map((line) => line.text).join("\n"), 80), false)
  add("k", spokenWords(inside.map((line) => line.text).join("\n"), 80), false)
  names
    .add(`lines ${bucket(spoken.length)}`)
    .add(`block ${bucket(bottom - top + 1)}`)
    .add(`outside ${bucket(outside.length)}`)
  names.add(
    `asks ${/[?？]/.test(outside.map((line) => line.text).join(" "))} ${/[?？]/.test(inside.map((line) => line.text).join(" "))}`,
  )
  return [...new Set([...names].map(hashOf))]
}

const bucket = (count: number): string =>
  count <= 3 ? String(count) : count <= 6 ? "4-6" : count <= 12 ? "7-12" : "many"

/** The next line that says something, and whether a blank one stands between. */
function neighbour(
  lines: readonly Line[],
  from: number,
  step: number,
): { readonly line: Line; readonly gap: boolean } | undefined {
  let gap = false
  for (let at = from + step; at >= 0 && at < lines.length; at += step) {
    const line = lines[at]
    if (line !== undefined && !isBlank(line)) return { line, gap }
    gap = true
  }
  return undefined
}
