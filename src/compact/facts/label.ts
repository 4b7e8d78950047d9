import type { LabelSource } from "./fact.ts"
import { maxLabelLength } from "./limits.ts"

export type Label = { readonly label: string; readonly labelFrom: LabelSource }

/** How far back a label is looked for: a few words. */
const reach = 56

/** Words that say nothing about the value they lead up to, in some of the languages that people write to agents. */
const idle = new Set(
  (
    "the a an to of in on at and or is are for with from by my your our this that it its as be was i we you please have has " +
    "will would can let me der die das den und zu mit von für mein le la les de des du et un une mon el los y en con mi " +
    "в на и с для от к по из мой это"
  ).split(" "),
)
export const copulas: ReadonlySet<string> = new Set([
  "is",
  "are",
  "was",
  "be",
  "ist",
  "sind",
  "est",
  "sont",
  "es",
  "son",
  "è",
  "это",
  "=",
])
const opening = /["'`(*#[<“«「：:=\s-]/u

/** A few words on what stands at `start`: the key before a colon or equals sign, or else the words that lead up to it. */
export function labelBefore(text: string, start: number): Label | undefined {
  const before = text.slice(Math.max(0, start - reach), start)
  let end = before.length
  let keyed = false
  for (let sign = before[end - 1]; sign !== undefined && opening.test(sign); sign = before[--end - 1]) {
    if (sign === "\n") return undefined
    keyed ||= sign === ":" || sign === "=" || sign === "："
  }
  const words = lastPhrase(before.slice(0, end))
  const suffix = /(?:是|は|为|が)$/u.exec(words.at(-1) ?? "")?.index
  if (suffix !== undefined) words.push(words.pop()?.slice(0, suffix) ?? "")
  const stated = keyed || suffix !== undefined || copulas.has(words.at(-1) ?? "")
  const label = trimIdle(trimIdle(words).slice(stated ? -3 : -2))
    .join(" ")
    .slice(0, maxLabelLength)
    .trim()
  return label === "" ? undefined : { label, labelFrom: stated ? "pair" : "words" }
}

const ending = new Set('.,;!?(){}[]|<>"`\n。，；、！？：:=')

/** The words behind the last sign that ends a thought. */
function lastPhrase(line: string): string[] {
  let start = line.length
  while (start > 0 && !ending.has(line[start - 1] ?? "")) start--
  return line
    .slice(start)
    .split(/\s+/)
    .filter((word) => /^[\p{L}_][\p{L}\p{N}_/'’-]*$/u.test(word))
}

/** Words without those at either end that say nothing. */
export function trimIdle(words: readonly string[]): readonly string[] {
  const isIdle = (word: string): boolean => idle.has(word.toLowerCase())
  const from = words.findIndex((word) => !isIdle(word))
  const to = words.findLastIndex((word) => !isIdle(word) && !copulas.has(word.toLowerCase()))
  return from < 0 ? [] : words.slice(from, to + 1)
}

/** A key as a label: on one line, short, and nothing in it that could pass for markup. */
export const labelOfKey = (key: string): string =>
  key
    .slice(0, 4 * maxLabelLength)
    .replace(/[^\p{L}\p{N}_ .-]+/gu, " ")
    .trim()
    .slice(0, maxLabelLength)
    .trim()
