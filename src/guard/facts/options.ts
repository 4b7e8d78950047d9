/** Reads the words of a command: options, their values, and operands. */

/** Values of each matching option: what a group of the pattern captures in the option's own word (`--to=x`), or else the next word. */
export const optionValues = (words: readonly string[], option: RegExp): readonly string[] =>
  words.flatMap((word, at) => {
    const found = option.exec(word)
    return found === null ? [] : [found.slice(1).find((group) => group !== undefined) ?? words[at + 1] ?? ""]
  })

/** Value of the first matching option, if there is one. */
export const firstTold = (words: readonly string[], option: RegExp): string | undefined =>
  optionValues(words, option)[0]

/** Words right after a matching option. */
export const wordsAfter = (words: readonly string[], option: RegExp): readonly string[] =>
  words.filter((_, at) => option.test(words[at - 1] ?? ""))

/** Operands: words that are neither options nor the value of an option that takes one. */
export const operandsOf = (words: readonly string[], valued: RegExp): readonly string[] =>
  words.filter((word, at) => !word.startsWith("-") && !valued.test(words[at - 1] ?? ""))

/** Words from the first operand on. */
export const fromOperand = (words: readonly string[], valued: RegExp): readonly string[] => {
  const at = words.findIndex((word, place) => !word.startsWith("-") && !valued.test(words[place - 1] ?? ""))
  return at < 0 ? [] : words.slice(at)
}

/** Words after the options, the assignments and a number of operands: the command that a program is to run. */
export function afterOptions(words: readonly string[], valued: RegExp, operands: number): readonly string[] {
  let at = 0
  for (let left = operands; at < words.length; at++) {
    const word = words[at] ?? ""
    if (word === "--") {
      at += 1 + left
      break
    }
    if (valued.test(word)) at++
    else if (/^-|^\w+=/.test(word)) continue
    else if (left === 0) break
    else left--
  }
  return words.slice(at)
}

/** Matches of a pattern in a text: of each, the first group that took part. */
export const foundIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((found) => found.slice(1).find((group) => group !== undefined) ?? "")
