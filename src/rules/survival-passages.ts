import type { Unit } from "./survival-units.ts"

/** A sentence of a text by its units, and what stands over it. */
export type Passage = {
  readonly from: number
  readonly to: number
  readonly asks: boolean
  /** The heading and the line with a colon that it stands under, as places among the passages. */
  readonly under: readonly number[]
  /** It is itself such a heading or line. */
  readonly leads: boolean
  /** It starts a paragraph or an item of a list, so that what stood before need not be its own. */
  readonly fresh: boolean
}

const isMark = (unit: Unit | undefined): boolean => unit?.kind === "quote" || unit?.kind === "strike"

/** The sentences of a text. A heading stands over what follows until the next; a line with a colon over its list. */
export function passagesOf(units: readonly Unit[]): readonly Passage[] {
  const passages: Passage[] = []
  let from = 0
  let heading: number | undefined
  let lead: number | undefined
  let opener: Unit | undefined
  let broken = false
  let starting = true
  const close = (to: number, asks: boolean): void => {
    if (
      units
        .slice(from, to)
        .some(({ kind }) => kind === "word" || kind === "sign" || kind === "value" || kind === "number")
    ) {
      const isHeading = opener?.text.startsWith("#") === true
      const bulleted = opener !== undefined && opener.text !== "\n"
      if (broken && !bulleted) lead = undefined
      if (isHeading) [heading, lead] = [undefined, undefined]
      const leads =
        isHeading || (units[to - 1]?.kind === "colon" && /item|break|undefined/.test(String(units[to]?.kind)))
      const under = [heading, lead].filter((place) => place !== undefined)
      passages.push({ from, to, asks, under, leads, fresh: broken || (bulleted && starting) })
      if (isHeading) heading = passages.length - 1
      else if (leads) lead = passages.length - 1
      broken = false
      starting = false
    }
  }
  for (let at = 0; at < units.length; at++) {
    const kind = units[at]?.kind
    if (kind !== "end" && kind !== "question" && kind !== "break" && kind !== "item") continue
    let to = at
    if (kind === "end" || kind === "question") while (isMark(units[to + 1])) to++
    close(to > at ? to + 1 : at, kind === "question")
    if (kind === "break") broken = true
    if (kind === "item") starting = true
    opener =
      kind === "item"
        ? units[at]
        : kind === "break"
          ? undefined
          : opener === undefined
            ? undefined
            : { ...opener, text: "\n" }
    from = to + 1
    at = to
  }
  close(units.length, false)
  return passages
}
