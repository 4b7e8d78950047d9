import { leftOut } from "../compact/stages/marker.ts"

/** As many of some fenced texts as go into one answer, from the first on: at least one, so that there is always something to see. */
export function fitItems<Item extends { readonly text: string }>(
  items: readonly Item[],
  maxCharacters: number,
): readonly Item[] {
  let length = 0
  const end = items.findIndex(({ text }, n) => {
    length += text.length
    return n > 0 && length > maxCharacters
  })
  return end < 0 ? items : items.slice(0, end)
}

/** A text that says where it was cut. */
export const cutText = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters
    ? text
    : `${text.slice(0, maxCharacters)}\n${leftOut(text.length - maxCharacters, "character")}`
