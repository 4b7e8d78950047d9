import { citeLines, type Interest } from "./cite-lines.ts"
import { cutText } from "./cut-text.ts"
import { failureLine } from "./failure.ts"
import { type Hidden, keepLines, maxWeight, nothingHidden } from "./keep-lines.ts"
import { escapeMarkers, nameHandle } from "./marker.ts"
import { scoreOfOutput } from "./output-shape.ts"
import { readJson } from "./read-json.ts"
import { raise, scoreLog, seenOf, settleLine } from "./score-lines.ts"
import { prepareJson } from "./shorten-json.ts"
import type { ToolKind } from "./tool-kind.ts"

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
  let fitting = { maxLength: 0, text: "" }
  let tooLong = Number.POSITIVE_INFINITY
  let maxLength = Math.floor((text.length * sizes.budget * caution) / Math.max(1, sizes.tokens))
  for (let tries = 0; tries < maxTries; tries++) {
    const shortened = nameHandle(shorten(maxLength), handle, source.advice)
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

/** Look at a text once; then it can be shortened to any length. Inside JSON a handle is written as JSON writes it. */
function prepareText(text: string, source: TextSource): Prepared {
  const { handle } = source
  const tree = readJson(text)
  if (tree === undefined) return { shorten: prepareLines(escapeMarkers(text), source), handle }
  const { mentions, after } = source.interest
  const shorten = prepareJson(tree, {
    prepareText: (inner) => prepareLines(inner, source),
    isCited: (value) => mentions.word(value, after),
  })
  return { shorten, handle: handle === undefined ? undefined : JSON.stringify(handle).slice(1, -1) }
}

function prepareLines(text: string, { kind, failed, interest, wholeEnds }: TextSource): (maxLength: number) => string {
  const { lines: written, hidden } = windowOf(text)
  const lines = kind === "shell" || kind === "test" ? written.map(settleLine) : written
  if (lines.length === 1 && hidden.count === 0) return (maxLength) => cutText(lines[0] ?? "", maxLength)
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
