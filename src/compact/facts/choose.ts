import { blockOf } from "./block.ts"
import { describes, type Fact } from "./fact.ts"

/** A fact with what it takes to print it and how soon it is chosen. */
export type Priced = {
  readonly fact: Fact
  /** Tokens of the value, of its label, and of the value that it belongs to. */
  readonly cost: number
  readonly labelCost: number
  readonly subjectCost: number
  readonly rank: number
  /** It was superseded and stands in sight all the same: that has to be said. */
  readonly warns: boolean
  /** The line that it stands on, and the owner that opens the line if it has one. */
  readonly line: string
  readonly owner: string
}

const ownerKey = (fact: Fact, owner: string): string => `${blockOf(fact)}\n${owner}`

/** Where a fact stands in print: a description beside its owner, a name by its label alone. */
export function placeOf(fact: Fact): Pick<Priced, "line" | "owner"> {
  const owner = ownerKey(fact, describes(fact.kind) ? (fact.subject ?? "") : "")
  return { owner, line: `${owner}\n${fact.label}` }
}

/**
 * What to print for so many tokens, best first while there is room: once each value that no chosen one contains; then the rest, which
 * completes the records; what was superseded only if all that stands fits.
 */
export function createChooser(ranked: readonly Priced[]): (budgetTokens: number) => readonly Fact[] {
  const isDue = ({ fact, warns }: Priced): boolean => fact.state !== "superseded" || warns
  const current = ranked.filter(isDue)
  const superseded = ranked.filter((priced) => !isDue(priced))
  // The fact that a description's owner is, so that it is shown under its own label.
  const owners = new Map(current.map((priced) => [ownerKey(priced.fact, priced.fact.value), priced]))
  return (budgetTokens) => {
    const { chosen, spend } = createPurse(owners, budgetTokens)
    const repeated = current.filter((priced) => !spend(priced))
    let all = true
    for (const priced of repeated) all = spend(priced, true) && all
    if (!all) return withoutFarOwners([...chosen])
    for (const priced of superseded) spend(priced, true)
    return [...chosen]
  }
}

type Purse = { readonly chosen: ReadonlySet<Fact>; readonly spend: (priced: Priced, again?: boolean) => boolean }

function createPurse(owners: ReadonlyMap<string, Priced>, budgetTokens: number): Purse {
  const chosen = new Set<Fact>()
  const covered = new Set<string>()
  const lines = new Set<string>()
  let left = budgetTokens
  const take = ({ fact, line }: Priced): void => {
    chosen.add(fact)
    lines.add(line).add(ownerKey(fact, fact.value))
    for (const piece of piecesOf(fact.value)) covered.add(piece)
  }
  const spend: Purse["spend"] = (priced, again = false) => {
    const { fact, cost, labelCost, subjectCost, line, owner } = priced
    if (chosen.has(fact)) return true
    if (cost > left || (!again && covered.has(fact.value))) return false
    const isFirst = describes(fact.kind) && fact.subject !== undefined && !lines.has(owner)
    const head = isFirst ? owners.get(owner) : undefined
    const headCost = head === undefined || lines.has(head.line) ? 0 : head.labelCost
    const price = cost + (lines.has(line) ? 0 : labelCost) + (isFirst ? subjectCost + headCost : 0)
    if (price > left) return false
    left -= price
    if (head !== undefined) take(head)
    lines.add(owner)
    take(priced)
    return true
  }
  return { chosen, spend }
}

/** Where room is short, a name that stands for itself need not say whose it is if its owner is not shown beside it. */
function withoutFarOwners(facts: readonly Fact[]): readonly Fact[] {
  const shown = new Set(facts.map((fact) => `${blockOf(fact)}\n${fact.value}`))
  return facts.map((fact) => {
    if (describes(fact.kind) || fact.subject === undefined || shown.has(`${blockOf(fact)}\n${fact.subject}`))
      return fact
    const { subject: _, ...rest } = fact
    return rest
  })
}

/** A value, its words, and the shorter paths that end it. */
function piecesOf(value: string): readonly string[] {
  const words = value.split(/[\s"'`()=,;:]+/)
  return [
    value,
    ...words.flatMap((word) => [word, ...[...word.matchAll(/[\\/]/g)].map(({ index }) => word.slice(index + 1))]),
  ]
}
