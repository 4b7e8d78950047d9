import { compactionContent, unpackElements } from "./own-item.ts"

/** Elements with the last compaction of ours written out: it stands for all that came before it. */
export function settleCompactions(elements: readonly string[]): readonly string[] {
  for (let n = elements.length - 1; n >= 0; n--) {
    const content = compactionContent(elements[n] ?? "")
    const texts = content === undefined ? undefined : unpackElements(content)
    if (texts !== undefined) return [...texts, ...elements.slice(n + 1)]
  }
  return elements
}
