const small: ReadonlyMap<string, number> = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
    .split(" ")
    .map((word, value) => [word, value]),
)
const tens: ReadonlyMap<string, number> = new Map(
  "twenty thirty forty fifty sixty seventy eighty ninety".split(" ").map((word, at) => [word, (at + 2) * 10]),
)
const scales: ReadonlyMap<string, number> = new Map([
  ["hundred", 100],
  ["thousand", 1e3],
  ["grand", 1e3],
  ["million", 1e6],
  ["billion", 1e9],
])
const joints = new Set(["and", "a", "an"])

/** The number that words spell out, such as "two thousand five hundred"; absent if a word is none of a number's. */
export function numberOfWords(words: readonly string[]): number | undefined {
  let total = 0
  let current = 0
  let told = false
  for (const word of words) {
    if (joints.has(word)) continue
    const plain = small.get(word) ?? tens.get(word)
    const scale = scales.get(word)
    if (plain === undefined && scale === undefined) return undefined
    told = true
    if (plain !== undefined) current += plain
    else if (scale === 100) current = Math.max(1, current) * 100
    else if (scale !== undefined) {
      total += Math.max(1, current) * scale
      current = 0
    }
  }
  return told ? total + current : undefined
}

/** Is it a word that numbers are spelled with? */
export const isNumberWord = (word: string): boolean =>
  small.has(word) || tens.has(word) || scales.has(word) || joints.has(word)
