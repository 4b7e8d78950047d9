import type { Unit } from "./survival-units.ts"

/** Units that are compared; a comma, a quotation mark or a line end between them changes nothing, the end of a sentence does. */
const isSaid = ({ kind }: Unit): boolean =>
  kind === "word" ||
  kind === "sign" ||
  kind === "value" ||
  kind === "number" ||
  kind === "money" ||
  kind === "end" ||
  kind === "question" ||
  kind === "break" ||
  kind === "strike"

const isEnd = (text: string): boolean => text === "."

/** A unit as quotations compare it. */
export const said = (unit: Unit): string =>
  unit.kind === "end" || unit.kind === "break" || unit.kind === "question" ? "." : unit.text

/** Places at which the rule stands word for word, as ranges of units. One pass over the text. */
export function verbatimIn(
  rule: readonly Unit[],
  text: readonly Unit[],
): readonly { readonly from: number; readonly to: number }[] {
  const words = rule.filter(isSaid).map(said)
  while (isEnd(words.at(-1) ?? "")) words.pop()
  if (words.length === 0) return []
  const back = [0]
  for (let at = 1, length = 0; at < words.length; at++) {
    while (length > 0 && words[at] !== words[length]) length = back[length - 1] ?? 0
    if (words[at] === words[length]) length++
    back.push(length)
  }
  const found: { from: number; to: number }[] = []
  const places: number[] = []
  let length = 0
  text.forEach((unit, at) => {
    if (!isSaid(unit)) return
    places.push(at)
    const word = said(unit)
    while (length > 0 && (length === words.length || word !== words[length])) length = back[length - 1] ?? 0
    if (word === words[length]) length++
    if (length === words.length) found.push({ from: places[places.length - length] ?? at, to: at + 1 })
  })
  return found
}
