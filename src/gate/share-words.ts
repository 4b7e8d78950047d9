/** Letters by which two forms of a word are taken for the same. */
const stemLength = 5

/** Of the words of a line, so many must come from its sources; the rest is the summarizer's own way to put it. */
const minShare = 0.2

/** Fewer words than this say too little to be measured. */
const minWords = 3

const label = /^\s*(?:[-*•]\s*)?\[[^\]\n]{0,40}\]/

/** Stems of a text's longer words; ideographic scripts give pairs of characters instead. */
function stemsOf(text: string): ReadonlySet<string> {
  const stems = new Set<string>()
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (/[\u2e80-\u9fff]/.test(word)) for (let at = 0; at + 2 <= word.length; at++) stems.add(word.slice(at, at + 2))
    else if (word.length >= 4) stems.add(word.slice(0, stemLength))
  }
  return stems
}

const scripts: readonly RegExp[] = [
  /\p{Script=Han}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Hangul}/u,
  /\p{Script=Devanagari}/u,
]

const scriptOf = (text: string): number => scripts.findIndex((script) => script.test(text))

/** What a text is about, prepared once for all lines that claim to rest on it. */
export type Topic = { readonly script: number; readonly stems: ReadonlySet<string> }

export const topicOf = (text: string): Topic => ({ script: scriptOf(text), stems: stemsOf(text) })

/** Does the line speak of what its sources speak of? Across scripts nobody can tell, and the line passes. */
export function sharesWords(line: string, sources: readonly Topic[]): boolean {
  const { script, stems } = topicOf(line.replace(label, ""))
  if (stems.size < minWords || !sources.some((source) => source.script === script)) return true
  const shared = [...stems].filter((stem) => sources.some((source) => source.stems.has(stem)))
  return shared.length >= stems.size * minShare
}
