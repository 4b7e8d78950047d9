import { type Mentions, minQuotedLength, visitWords } from "./later-mentions.ts"
import { lineNumber, raise } from "./score-lines.ts"

/** What makes a line of one result worth keeping beside what it says. */
export type Interest = {
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
export function citeLines(lines: readonly string[], weights: Uint8Array, { mentions, after, focus }: Interest): void {
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
