/** Words that raise the worth of a line. */
export type Focus = readonly string[]

/** Words of a focus that count: a focus is a sentence, not a page. */
const maxWords = 24

/** What a line about the focus is worth more, and at most how often that counts. */
const perWord = 4
const maxCounted = 3

const common = new Set(
  "the and for with that this from what about which all any its was are were has have into onto".split(" "),
)

/** The telling words of a focus; a script without blanks gives pairs of characters. */
export function focusOf(text: string): Focus {
  const words =
    text
      .slice(0, 2_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  const telling = words.flatMap((word) => {
    if (/[\u2e80-\u9fff]/.test(word))
      return word.length < 2 ? [] : Array.from({ length: word.length - 1 }, (_, n) => word.slice(n, n + 2))
    return word.length < 3 || common.has(word) ? [] : [word]
  })
  return [...new Set(telling)].slice(0, maxWords)
}

/** The worth of a text to somebody with this focus. */
export function raised(worth: number, text: string, focus: Focus): number {
  if (focus.length === 0) return worth
  const said = text.toLowerCase()
  const counted = focus.filter((word) => said.includes(word)).length
  return worth + perWord * Math.min(maxCounted, counted)
}
