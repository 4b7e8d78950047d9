import { type Fact, type FactKind, slotOf } from "./fact.ts"

/** Latest wins: of the values that held one place, those not in its last message are marked. Both stay. */
export function markSuperseded(facts: ReadonlyMap<string, Fact>): ReadonlyMap<string, Fact> {
  const latest = new Map<string, number>()
  for (const fact of facts.values()) {
    const slot = slotOf(fact)
    if (slot !== undefined) latest.set(slot, Math.max(latest.get(slot) ?? fact.last, fact.last))
  }
  const updated = updatedIn(facts)
  let marked =
    latest.size === 0 && updated.size === 0
      ? facts
      : markAll(facts, (fact) => {
          const slot = slotOf(fact)
          return updated.get(fact) ?? (slot === undefined ? undefined : latest.get(slot))
        })
  for (let also = alsoGone(marked); also.size > 0; also = alsoGone(marked))
    marked = markAll(marked, (fact) => also.get(fact))
  return marked
}

const markAll = (
  facts: ReadonlyMap<string, Fact>,
  latestOf: (fact: Fact) => number | undefined,
): ReadonlyMap<string, Fact> => new Map([...facts].map(([key, fact]) => [key, mark(fact, latestOf(fact))]))

/** Values of the user's that are compared: he says tens of them, and the rest is pasted. */
const maxCompared = 400

const saidByUser = (facts: ReadonlyMap<string, Fact>): readonly Fact[] =>
  [...facts.values()].filter(({ givenByUser, labelFrom }) => givenByUser && labelFrom !== "kind")

/** What the user said to be something else by now: an earlier value of the same sort whose name shares most of its words. */
function updatedIn(facts: ReadonlyMap<string, Fact>): ReadonlyMap<Fact, number> {
  const said = saidByUser(facts)
  const updated = new Map<Fact, number>()
  for (const fact of said.filter(({ updates }) => updates === true).slice(-maxCompared)) {
    for (const other of said.slice(-maxCompared)) {
      if (other.last < fact.last && sortOf(other) === sortOf(fact) && isSameThing(other.label, fact.label))
        updated.set(other, Math.max(updated.get(other) ?? fact.last, fact.last))
    }
  }
  return updated
}

/** Print does not keep every kind apart: what was replaced is so however else the same value was read. */
function alsoGone(facts: ReadonlyMap<string, Fact>): ReadonlyMap<Fact, number> {
  const said = saidByUser(facts)
  const gone = said.filter(({ state }) => state === "superseded").slice(-maxCompared)
  const also = new Map<Fact, number>()
  if (gone.length === 0) return also
  const current = Map.groupBy(
    said.filter(({ state }) => state === "current"),
    ({ value }) => value,
  )
  for (const { value, label, last } of gone) {
    for (const other of current.get(value) ?? [])
      if (other.last <= last && isSameThing(other.label, label)) also.set(other, last + 1)
  }
  return also
}

const quantity = /^[^\p{L}\p{N}]?\d[\d.,]*[ \u00a0]?\p{L}{0,8}%?$/u

/** What may take whose place: print does not tell a number from an amount or an id of digits, nor one sort of name from another. */
function sortOf({ kind, value }: Fact): string {
  if (quantity.test(value)) return "quantity"
  return names.has(kind) ? "name" : kind
}

const names: ReadonlySet<FactKind> = new Set(["id", "identifier", "name", "word", "argument", "version", "quote"])

/** So much of the shorter name must stand in the longer one. */
const sameShare = 0.6

function isSameThing(one: string, other: string): boolean {
  const [a, b] = [stemsOf(one), stemsOf(other)]
  const shared = [...a].filter((stem) => b.has(stem)).length
  return shared > 0 && shared >= sameShare * Math.min(a.size, b.size)
}

const stemLength = 6

const stemsOf = (label: string): ReadonlySet<string> =>
  new Set((label.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []).map((word) => word.slice(0, stemLength)))

/** What was replaced stays so until it is said again. */
function mark(fact: Fact, latest: number | undefined): Fact {
  if (fact.state !== "current" || latest === undefined || fact.last >= latest) return fact
  return { ...fact, state: "superseded" }
}
