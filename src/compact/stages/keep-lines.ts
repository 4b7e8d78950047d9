import { cutText } from "./cut-text.ts"
import { leftOut, usualMarkerLength } from "./marker.ts"

/** A line of a shortened text is no longer than this or a third of the text: long enough for any line that a person wrote. */
const minCutLength = 200

/** What weights run up to. */
export const maxWeight = 9

/** A gap costs more than its marker's characters: signs and numbers take more tokens than words, and a torn text reads badly. */
const gapCost = usualMarkerLength + 12

/** Lines that are not at hand: how many, and before which of the others they stood. */
export type Hidden = { readonly before: number; readonly count: number }
export const nothingHidden: Hidden = { before: -1, count: 0 }

export type WeighedLines = { readonly lines: readonly string[]; readonly weights: Uint8Array; readonly hidden: Hidden }

type Choice = { readonly kept: Uint8Array; readonly add: (line: number) => boolean }

/** Keeps account of the lines chosen and of the markers that the gaps between them will take. */
function chooseLines(costs: Float64Array, maxLength: number): Choice {
  const kept = new Uint8Array(costs.length)
  let used = gapCost
  return {
    kept,
    add: (line) => {
      if (kept[line] === 1) return true
      const before = line === 0 || kept[line - 1] === 1
      const after = line === costs.length - 1 || kept[line + 1] === 1
      const gaps = before && after ? -1 : before || after ? 0 : 1
      const next = used + (costs[line] ?? 0) + gaps * gapCost
      if (next > maxLength) return false
      kept[line] = 1
      used = next
      return true
    },
  }
}

/** From both ends to the middle. */
function* fromBothEnds(lines: readonly number[]): Generator<number> {
  for (let first = 0, last = lines.length - 1; first <= last; first++, last--) {
    yield lines[first] ?? 0
    if (first < last) yield lines[last] ?? 0
  }
}

/** Fill what room is left from the head and the tail, two to one, without a hole. */
function fillEnds(total: number, { add }: Choice): void {
  let head = 0
  let tail = total - 1
  for (let open = true; open && head <= tail; ) {
    open = add(head)
    if (open) head++
    if (open && head <= tail && add(head)) head++
    if (head <= tail && add(tail)) tail--
    else if (!open) return
  }
}

/**
 * The heaviest lines in their own order, in at most about `maxLength` characters. Of lines of one weight the middle goes first; lines of
 * no weight only fill the ends. Every gap says how many lines it took.
 */
export function keepLines({ lines, weights, hidden }: WeighedLines, maxLength: number): string {
  const cut = Math.max(minCutLength, Math.floor(maxLength / 3))
  const costs = new Float64Array(lines.length)
  const classes: number[][] = Array.from({ length: maxWeight + 1 }, () => [])
  for (let at = 0; at < lines.length; at++) {
    costs[at] = Math.min(cut, (lines[at] ?? "").length) + 1
    classes[Math.min(maxWeight, weights[at] ?? 0)]?.push(at)
  }
  const choice = chooseLines(costs, maxLength)
  for (let weight = maxWeight; weight > 0; weight--) {
    for (const line of fromBothEnds(classes[weight] ?? [])) choice.add(line)
  }
  fillEnds(lines.length, choice)
  return writeLines(lines, hidden, costs, choice.kept, cut)
}

function writeLines(
  lines: readonly string[],
  hidden: Hidden,
  costs: Float64Array,
  kept: Uint8Array,
  cut: number,
): string {
  const written: string[] = []
  for (let at = 0; at < lines.length; ) {
    let end = at
    let cost = 0
    for (; end < lines.length && kept[end] === 0; end++) cost += costs[end] ?? 0
    const unseen = hidden.count > 0 && hidden.before >= at && hidden.before <= end ? hidden.count : 0
    // A marker never stands for less than it takes.
    if (unseen === 0 && cost <= gapCost) for (; at < end; at++) written.push(lines[at] ?? "")
    else written.push(leftOut(end - at + unseen, "line"))
    at = end
    if (at < lines.length) written.push(cutText(lines[at++] ?? "", cut))
  }
  return written.join("\n")
}
