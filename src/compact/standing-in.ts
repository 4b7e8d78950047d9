const parting = /[\s"'`,;()<>{}[\]=|*]+/
/** What may cling to a value in a sentence. */
const clinging = ".:!?#@-"
const isEdged = (word: string): boolean =>
  word !== "" && (clinging.includes(word.charAt(0)) || clinging.includes(word.charAt(word.length - 1)))
const edges = /^[.:!?#@-]+|[.:!?-]+$/g
/** A value of several words is looked for in so much text at most; beyond that it is said again, which costs a few tokens. */
const maxSearched = 100_000

/** Does a value stand in these texts? They are read once; a value that is one word is then found at once. */
export function standingIn(texts: readonly string[]): (value: string) => boolean {
  const words = new Set<string>()
  for (const text of texts) {
    for (const word of text.split(parting)) {
      words.add(word)
      if (isEdged(word)) words.add(word.replace(edges, ""))
    }
  }
  const searched = texts.join("\n").slice(-maxSearched)
  return (value) => words.has(value) || (parting.test(value) && searched.includes(value))
}
