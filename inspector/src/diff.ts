/** One line of a difference: unchanged, removed, or added. */
export type DiffLine = { readonly kind: "same" | "out" | "in"; readonly text: string }

/** Maximum work in compared line pairs; above it, everything between the equal ends is reported as replaced. */
const maxWork = 4_000_000

/** Returns the difference of two texts by lines: the longest common subsequence between their equal beginnings and ends. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [one, other] = [before.split("\n"), after.split("\n")]
  let start = 0
  while (start < one.length && start < other.length && one[start] === other[start]) start++
  let end = 0
  while (
    end < one.length - start &&
    end < other.length - start &&
    one[one.length - 1 - end] === other[other.length - 1 - end]
  )
    end++
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }))
  return [
    ...same(one.slice(0, start)),
    ...middle(one.slice(start, one.length - end), other.slice(start, other.length - end)),
    ...same(one.slice(one.length - end)),
  ]
}

function middle(one: readonly string[], other: readonly string[]): readonly DiffLine[] {
  const out = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: "out", text }))
  const put = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: "in", text }))
  if (one.length === 0 || other.length === 0 || one.length * other.length > maxWork) return [...out(one), ...put(other)]
  const width = other.length + 1
  const common = new Uint32Array((one.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = other.length - 1; j >= 0; j--)
      common[i * width + j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) {
      lines.push({ kind: "same", text: one[i] ?? "" })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push({ kind: "out", text: one[i++] ?? "" })
    else lines.push({ kind: "in", text: other[j++] ?? "" })
  }
  return [...lines, ...out(one.slice(i)), ...put(other.slice(j))]
}

/** A piece of a difference as shown: a line, or a folded run of removed or unchanged lines. */
export type DiffPiece =
  | DiffLine
  | { readonly kind: "fold"; readonly of: "same" | "out"; readonly lines: readonly DiffLine[] }

/** Longer runs are folded, and this many lines remain at each end. */
const foldFrom = 8
const foldEnds = 2

export function foldDiff(lines: readonly DiffLine[]): readonly DiffPiece[] {
  const pieces: DiffPiece[] = []
  for (let from = 0; from < lines.length; ) {
    const kind = lines[from]?.kind ?? "same"
    let to = from
    while (to < lines.length && lines[to]?.kind === kind) to++
    const run = lines.slice(from, to)
    if (kind === "in" || run.length <= foldFrom) pieces.push(...run)
    else
      pieces.push(
        ...run.slice(0, foldEnds),
        { kind: "fold", of: kind, lines: run.slice(foldEnds, -foldEnds) },
        ...run.slice(-foldEnds),
      )
    from = to
  }
  return pieces
}
