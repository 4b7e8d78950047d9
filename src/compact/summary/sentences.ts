import { maxReadPerEnd } from "./note.ts"

/** Signs that may end a sentence, with what closes behind them; the full-width ones end it whatever follows. */
const stops = /[.!?…]["')*”’»`\]]{0,8}|[。！？]["')”’»」』]{0,8}/g
const fullWidthStop = /^[。！？]/

/** Bullets, numbers, headings and emphasis before the first word. */
const dress = /^(?:[-*•>#+|\s]|\d{1,3}[.)]\s|\[[ xX]\]\s)+/

/** A stop behind these is no end: list numbers, single letters, usual abbreviations. */
const noEnd = /(?:^|[\s(])(?:\d{1,3}|\p{L}|e\.g|i\.e|etc|vs|Mr|Ms|Mrs|Dr|No|approx)$/u

/** The text that is read of a long one: its two ends. */
export const endsOf = (text: string): readonly string[] =>
  text.length <= 2 * maxReadPerEnd ? [text] : [text.slice(0, maxReadPerEnd), text.slice(-maxReadPerEnd)]

/** Where code between fences begins and ends does not matter here: none of it is a sentence. */
function withoutCode(text: string): string {
  const kept: string[] = []
  let inCode = false
  for (const line of text.split("\n")) {
    const fence = line.trimStart().startsWith("```")
    if (!fence && !inCode) kept.push(line)
    if (fence) inCode = !inCode
  }
  return kept.join("\n")
}

/** The sentences and list items of a text in order, without the code in it and without their bullets. */
export function sentencesOf(text: string): readonly string[] {
  return endsOf(text).flatMap((end) => withoutCode(end).split("\n").flatMap(sentencesOfLine))
}

function sentencesOfLine(line: string): readonly string[] {
  const found: string[] = []
  let start = 0
  const take = (end: number): void => {
    const sentence = line.slice(start, end).replace(dress, "").replaceAll("**", "").trim()
    if (sentence !== "") found.push(sentence)
    start = end
  }
  for (const { 0: signs, index } of line.matchAll(stops)) {
    const end = index + signs.length
    const next = line.charAt(end)
    if (!fullWidthStop.test(signs) && next !== "" && next.trim() !== "") continue
    if (signs === "." && noEnd.test(line.slice(Math.max(start, index - 8), index))) continue
    take(end)
  }
  take(line.length)
  return found
}
