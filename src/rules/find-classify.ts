import type { Span } from "../message/request.ts"
import { ruleOf } from "./find-join.ts"
import { asRule } from "./find-judge.ts"
import { type FindOptions, pagesIn } from "./find-pages.ts"
import { type Judged, judgeInPlace } from "./find-place.ts"
import type { Statement } from "./find-statements.ts"
import type { FoundRule } from "./rule.ts"

/** A rule with all the sentences that were pointed at is no longer than this. */
const maxRule = 2000

/** Makes rules of places in a text: the whole sentences there, judged where they stand. Headings and code hold none. */
export function createClassifier(text: string, options: FindOptions): (span: Span) => FoundRule | undefined {
  const read: (readonly [Statement, Judged | undefined])[] = []
  for (const { statements, place } of pagesIn(text, options))
    for (const statement of statements) read.push([statement, judgeInPlace(statement, place)])
  return (span) => {
    const from = firstBehind(read, span.start)
    let to = from
    while (to < read.length && (read[to]?.[0].start ?? span.end) < span.end) to++
    const [opening, judged] = read[from] ?? []
    const end = read[to - 1]?.[0].end ?? 0
    if (opening === undefined || to === from || end - opening.start > maxRule) return undefined
    if (read.slice(from, to).some(([{ block }]) => block.kind === "heading")) return undefined
    const { seen, signs, block, start } = opening
    const verdict = judged ?? { ...asRule(seen, signs), context: block.under, needsContext: false }
    return ruleOf(text, { ...verdict, start, end }, options.channel)
  }
}

/** The first statement that ends behind a place. */
function firstBehind(read: readonly (readonly [Statement, unknown])[], place: number): number {
  let [low, high] = [0, read.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((read[middle]?.[0].end ?? 0) <= place) low = middle + 1
    else high = middle
  }
  return low
}
