import { describes, type Fact, slotOf } from "./fact.ts"

/** Latest wins: of the values that held one place, those not in its last message are marked. Both stay. */
export function markSuperseded(facts: ReadonlyMap<string, Fact>): ReadonlyMap<string, Fact> {
  const latest = new Map<string, number>()
  for (const fact of facts.values()) {
    const slot = slotOf(fact)
    if (slot !== undefined) latest.set(slot, Math.max(latest.get(slot) ?? 0, fact.last))
  }
  const marked = new Map<string, Fact>()
  for (const [key, fact] of facts) marked.set(key, mark(fact, latest.get(slotOf(fact) ?? "")))
  return marked
}

function mark(fact: Fact, latest: number | undefined): Fact {
  if (!describes(fact.kind)) return fact
  const state = latest !== undefined && fact.last < latest ? "superseded" : "current"
  return state === fact.state ? fact : { ...fact, state }
}
