import { blockOf, blocks, userHeading } from "./block.ts"
import type { Fact, FactState } from "./fact.ts"
import { quoteValue } from "./quote-value.ts"
import { titleOf } from "./title.ts"

/** What stands behind a value of which more is to be said. */
export const marks: Readonly<Record<FactState, string>> = {
  current: "",
  superseded: " (superseded)",
  failed: " (failed)",
  resolved: " (fixed)",
}

/**
 * The facts as lines of `label: values`, by who brought them up; what belongs to a value stands behind it or below it, and what belongs
 * to one of another block on a line `of value: …`. `parseLedger` reads all of it back.
 */
export function renderFacts(facts: readonly Fact[]): string {
  const byBlock = Map.groupBy(facts, blockOf)
  const [others = [], user = []] = blocks.map((block) => renderBlock(byBlock.get(block) ?? []))
  return [...others, ...(user.length === 0 ? [] : [userHeading, ...user])].join("\n")
}

const write = ({ value, state }: Fact): string => `${quoteValue(value)}${marks[state]}`

function renderBlock(facts: readonly Fact[]): readonly string[] {
  const values = new Set(facts.map(({ value }) => value))
  const owners = new Set(facts.map(({ subject }) => subject))
  const [own, owned] = partition(facts, ({ subject }) => subject !== undefined)
  // An owner that is itself owned has its own line, so that nothing is nested twice.
  const [far, near] = partition(owned, ({ value, subject = "" }) => values.has(subject) && !owners.has(value))
  const detailsOf = Map.groupBy(near, ({ subject }) => subject ?? "")
  const lines = [...Map.groupBy(own, titleOf)].flatMap(([title, group]) => renderGroup(title, group, detailsOf))
  const apart = [...Map.groupBy(far, ({ subject }) => subject ?? "")].map(
    ([subject, group]) => `of ${quoteValue(subject)}: ${renderDetails(group)}`,
  )
  const left = [...detailsOf].map(([subject, group]) => `of ${quoteValue(subject)}: ${renderDetails(group)}`)
  return [...lines, ...apart, ...left]
}

/** One line for the values of one title, and one below it for each value of which more is known. */
function renderGroup(
  title: string,
  group: readonly Fact[],
  detailsOf: Map<string, readonly Fact[]>,
): readonly string[] {
  const bare: string[] = []
  const detailed: [string, string][] = []
  for (const fact of group) {
    const details = detailsOf.get(fact.value)
    detailsOf.delete(fact.value)
    if (details === undefined) bare.push(write(fact))
    else detailed.push([write(fact), renderDetails(details)])
  }
  const [only] = detailed
  if (bare.length === 0 && detailed.length === 1 && only !== undefined) return [`${title}: ${only[0]} (${only[1]})`]
  const first = bare.length === 0 ? `${title}:` : `${title}: ${bare.join(", ")}`
  return [first, ...detailed.map(([value, details]) => `  ${value}: ${details}`)]
}

const renderDetails = (details: readonly Fact[]): string =>
  [...Map.groupBy(details, titleOf)]
    .map(([title, group]) => `${title} ${[...new Set(group.map(write))].join(", ")}`)
    .join("; ")

function partition<Item>(items: readonly Item[], isSecond: (item: Item) => boolean): readonly [Item[], Item[]] {
  const parts: readonly [Item[], Item[]] = [[], []]
  for (const item of items) parts[isSecond(item) ? 1 : 0].push(item)
  return parts
}
