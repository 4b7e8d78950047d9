import type { FoundRule } from "./rule.ts"

/**
 * The rules of both lists in the order of the text, none of them overlapping another. Where two overlap the longer one stays, so that no
 * letter of a rule in `found` is lost: one of `more` takes the place of those that it covers, and gives way where it covers one in part.
 */
export function mergeRules(found: readonly FoundRule[], more: readonly FoundRule[]): readonly FoundRule[] {
  const sorted = [
    ...found.map((rule) => ({ rule, own: true })),
    ...more.map((rule) => ({ rule, own: false })),
  ].toSorted((one, two) => one.rule.start - two.rule.start || two.rule.end - one.rule.end)
  const own = found.toSorted((one, two) => one.start - two.start)
  const kept: FoundRule[] = []
  for (const { rule, own: isOwn } of sorted) {
    const end = kept.at(-1)?.end ?? 0
    if (isOwn ? rule.end > end || rule.start >= end : rule.start >= end && !cuts(rule, own)) kept.push(rule)
  }
  return kept
}

/** Would the rule take only a part of another? */
function cuts(rule: FoundRule, others: readonly FoundRule[]): boolean {
  let [low, high] = [0, others.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((others[middle]?.end ?? 0) <= rule.start) low = middle + 1
    else high = middle
  }
  for (let at = low; at < others.length && (others[at]?.start ?? rule.end) < rule.end; at++) {
    const { start, end } = others[at] ?? rule
    if (start < rule.start || end > rule.end) return true
  }
  return false
}
