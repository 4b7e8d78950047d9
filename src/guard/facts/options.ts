/** How the words of a command are read: options, what they are given, and the words that are neither. */

/** What each such option is given: what its pattern finds in the option's own word (`--to=x`), or else the next word. */
export const toldBy = (words: readonly string[], option: RegExp): readonly string[] =>
  words.flatMap((word, at) => {
    const found = option.exec(word)
    return found === null ? [] : [found.slice(1).find((group) => group !== undefined) ?? words[at + 1] ?? ""]
  })

/** The same of the first such option, if there is one. */
export const firstTold = (words: readonly string[], option: RegExp): string | undefined => toldBy(words, option)[0]

/** The words that stand behind such an option. */
export const behind = (words: readonly string[], option: RegExp): readonly string[] =>
  words.filter((_, at) => option.test(words[at - 1] ?? ""))

/** The words that are no options, and do not stand behind an option that takes a value. */
export const operandsOf = (words: readonly string[], valued: RegExp): readonly string[] =>
  words.filter((word, at) => !word.startsWith("-") && !valued.test(words[at - 1] ?? ""))

/** The words from the first operand on. */
export const fromOperand = (words: readonly string[], valued: RegExp): readonly string[] => {
  const at = words.findIndex((word, place) => !word.startsWith("-") && !valued.test(words[place - 1] ?? ""))
  return at < 0 ? [] : words.slice(at)
}

/** The words behind the options, the assignments and so many operands: the command that a program is to run. */
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

/** What a pattern finds in a text: of each place the first group that took part. */
export const foundIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((found) => found.slice(1).find((group) => group !== undefined) ?? "")
