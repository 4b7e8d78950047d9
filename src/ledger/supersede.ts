import { type Fact, slotOf } from "./fact.ts"

/** Latest wins: of the values that held one place, those not in its last message are marked. Both stay. */
export function markSuperseded(facts: ReadonlyMap<string, Fact>): ReadonlyMap<string, Fact> {
  const latest = new Map<string, number>()
  for (const fact of facts.values()) {
    const slot = slotOf(fact)
    if (slot !== undefined) latest.set(slot, Math.max(latest.get(slot) ?? fact.last, fact.last))
  }
  if (latest.size === 0) return facts
  const marked = new Map<string, Fact>()
  for (const [key, fact] of facts) {
    const slot = slotOf(fact)
    marked.set(key, slot === undefined ? fact : mark(fact, latest.get(slot)))
  }
  return marked
}

/** What was replaced stays so until it is said again. */
function mark(fact: Fact, latest: number | undefined): Fact {
  if (fact.state !== "current" || latest === undefined || fact.last >= latest) return fact
  return { ...fact, state: "superseded" }
}
