import { blockOf, blocks, type Fact, type FactKind, type FactState, quoteValue, userHeading } from "./fact.ts"

/** What a line is called whose values carry no label of their own. */
const titles: Readonly<Record<FactKind, string>> = {
  path: "files",
  identifier: "code",
  quote: "quoted",
  name: "names",
  command: "commands",
  url: "links",
  id: "ids",
  hash: "hashes",
  email: "e-mails",
  error: "errors",
  line: "lines",
  argument: "arguments",
  amount: "amounts",
  date: "dates",
  time: "times",
  version: "versions",
  number: "numbers",
  word: "words",
}

const kindsByTitle: ReadonlyMap<string, FactKind> = new Map(
  [...Object.entries(titles)].flatMap(([kind, title]) => (isKind(kind) ? [[title, kind] as const] : [])),
)

function isKind(kind: string): kind is FactKind {
  return Object.hasOwn(titles, kind)
}

/** A line that opens with a speaker's name could pass for something said. */
const speakers = new Set("system developer operator user human assistant ai tool function".split(" "))
const longestSpeaker = "developer".length

const isSpeaker = (label: string): boolean => label.length <= longestSpeaker && speakers.has(label.toLowerCase())

/** What a value is called in print: its label, or its kind; a label that could be read as anything else stands in quotation marks. */
function titleOf({ kind, label, labelFrom }: Fact): string {
  if (labelFrom === "kind") return titles[kind]
  return isSpeaker(label) || kindsByTitle.has(label) || label.startsWith("of ") ? `"${label}"` : label
}

/** What a printed title says: a label, or which kind the values are of. */
export function readTitle(title: string): { readonly label: string } | { readonly kind: FactKind } {
  const kind = kindsByTitle.get(title)
  return kind === undefined ? { label: title.replace(/^"(.*)"$/, "$1") } : { kind }
}

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
