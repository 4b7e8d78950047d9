import { type Part, type Transcript, textOf } from "../message/message.ts"

const parting = /[\s"'`,;()<>{}[\]=|*]+/
/** What may cling to a value in a sentence. */
const clinging = ".:!?#@-"
const isEdged = (word: string): boolean =>
  word !== "" && (clinging.includes(word.charAt(0)) || clinging.includes(word.charAt(word.length - 1)))
const edges = /^[.:!?#@-]+|[.:!?-]+$/g
/** A value of several words is looked for in so much text at most; beyond that it is said again, which costs a few tokens. */
const maxSearched = 100_000

type Standing = (value: string) => boolean

function addWords(words: Set<string>, text: string): void {
  for (const word of text.split(parting)) {
    words.add(word)
    if (isEdged(word)) words.add(word.replace(edges, ""))
  }
}

/** Does a value stand in these texts? They are read once; a value that is one word is then found at once. */
export function standingIn(texts: readonly string[]): Standing {
  const words = new Set<string>()
  for (const text of texts) addWords(words, text)
  return createStanding([words], () => texts)
}

/** The words of each part, which is read once however often it is asked what stands in its transcript. */
const kept = new WeakMap<Part, ReadonlySet<string>>()

function wordsOf(part: Part): ReadonlySet<string> {
  const known = kept.get(part)
  if (known !== undefined) return known
  const words = new Set<string>()
  addWords(words, textOf(part))
  kept.set(part, words)
  return words
}

/** Does a value stand in these messages? */
export function standingInMessages(messages: Transcript): Standing {
  const parts = messages.flatMap((message) => message.parts)
  return createStanding(parts.map(wordsOf), () => parts.map(textOf))
}

function createStanding(words: readonly ReadonlySet<string>[], texts: () => readonly string[]): Standing {
  const known = new Map<string, boolean>()
  let searched: string | undefined
  const stands: Standing = (value) => {
    if (words.some((some) => some.has(value))) return true
    if (!parting.test(value)) return false
    searched ??= texts().join("\n").slice(-maxSearched)
    return searched.includes(value)
  }
  return (value) => {
    const before = known.get(value)
    if (before !== undefined) return before
    const found = stands(value)
    known.set(value, found)
    return found
  }
}
