/** Something that was lifted out of a list, and where it stood. */
export type Lifted<Item> = { readonly at: number; readonly item: Item }

/**
 * Put each lifted item before the first kept one that stood after it. A kept item without a place is new: it stands for what led
 * to the next one that has a place.
 */
export function weave<Item>(
  lifted: readonly Lifted<Item>[],
  kept: readonly Item[],
  placesOfKept: readonly (number | undefined)[],
): readonly Item[] {
  const places = [...placesOfKept]
  let next = Number.POSITIVE_INFINITY
  for (let n = places.length - 1; n >= 0; n--) {
    next = places[n] ?? next
    places[n] = next
  }
  const woven: Item[] = []
  let done = 0
  for (const [n, item] of kept.entries()) {
    const before = places[n] ?? next
    for (let piece = lifted[done]; piece !== undefined && piece.at < before; piece = lifted[++done]) {
      woven.push(piece.item)
    }
    woven.push(item)
  }
  return [...woven, ...lifted.slice(done).map(({ item }) => item)]
}
