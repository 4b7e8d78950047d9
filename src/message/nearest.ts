/** Maximum length: a longer text is not a misspelt name. */
const maxLength = 40

/** Returns the known name that a misspelt one most likely means, if any is close enough. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const steps = candidate.startsWith(name) && name.length >= 2 ? 1 : distance(name, candidate)
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best
}

/** Damerau-Levenshtein distance: letters added, removed, changed or swapped with their neighbour. */
function distance(one: string, other: string): number {
  let before: readonly number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, n) => n)
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      const steps = [(above[column - 1] ?? 0) + (same ? 0 : 1), (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1]
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1])
        steps.push((before[column - 2] ?? 0) + 1)
      line.push(Math.min(...steps))
    }
    ;[before, above] = [above, line]
  }
  return above[other.length] ?? 0
}

/** Returns "Did you mean …?" if there is a close name. */
export function suggest(name: string, known: readonly string[], otherwise: string): string {
  const meant = nearest(name, known)
  return meant === undefined ? otherwise : `Did you mean ${meant}?`
}
