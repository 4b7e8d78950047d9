import type { Fact, FactKind } from "./fact.ts"

const plain = /^[\p{L}\p{N}_@./:+#$€£¥₹%~\\=&?-]+$/u

/** A value to the letter: as it is if nothing in it could be read as ours, otherwise between backticks, more of them than stand in a row inside. */
export function quoteValue(value: string): string {
  if (plain.test(value)) return value
  const longest = Math.max(0, ...[...value.matchAll(/`+/g)].map(([run]) => run.length))
  const mark = "`".repeat(longest + 1)
  return longest > 0 ? `${mark} ${value} ${mark}` : `${mark}${value}${mark}`
}

const marks: Readonly<Record<Fact["state"], string>> = {
  current: "",
  superseded: " (superseded)",
  failed: " (failed)",
  resolved: "",
}

/** What a line is called whose values carry no label of their own. */
const titles: Readonly<Partial<Record<FactKind, string>>> = {
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
}

/** A line that opens with a speaker's name could pass for something said. */
const speaker = /^(?:system|developer|operator|user|human|assistant|ai|tool|function)$/i

function titleOf({ kind, label, labelFrom }: Fact): string {
  if (labelFrom === "kind" || kind === "command") return titles[kind] ?? kind
  return speaker.test(label) ? `"${label}"` : label
}

export type RenderOptions = {
  /** Say at which message each value came up last. */
  readonly positions: boolean
}

/** The facts as lines of `label: values`; a value of which more is known stands on a line of its own below its label. */
export function renderFacts(facts: readonly Fact[], { positions }: RenderOptions): string {
  const values = new Set(facts.map(({ value }) => value))
  const owners = new Set(facts.flatMap(({ subject }) => (subject === undefined ? [] : [subject])))
  const ownerOf = ({ subject }: Fact): string | undefined =>
    subject !== undefined && values.has(subject) ? subject : undefined
  const [own, details] = partition(facts, (fact) => ownerOf(fact) !== undefined && !owners.has(fact.value))
  const detailsOf = Map.groupBy(details, ({ subject }) => subject ?? "")
  const write = (fact: Fact): string =>
    `${quoteValue(fact.value)}${marks[fact.state]}${positions ? ` @${fact.last}` : ""}`
  const describe = (fact: Fact): string => {
    const named = Map.groupBy(detailsOf.get(fact.value) ?? [], (detail) => titleBelow(titleOf(fact), titleOf(detail)))
    detailsOf.delete(fact.value)
    if (named.size === 0) return write(fact)
    return `${write(fact)}: ${[...named].map(([name, said]) => `${name} ${said.map(write).join(", ")}`).join("; ")}`
  }
  const groups = Map.groupBy(own, (fact) => headingOf(titleOf(fact), ownerOf(fact)))
  const lines = [...groups].map(([heading, group]) => {
    const [bare, detailed] = partition(group, ({ value }) => detailsOf.has(value))
    const [only] = detailed
    if (group.length === 1 && only !== undefined && ownerOf(only) === undefined) return `${heading} ${describe(only)}`
    const first = bare.length === 0 ? `${heading}:` : `${heading}: ${bare.map(write).join(", ")}`
    return [first, ...detailed.map((fact) => `  ${describe(fact)}`)].join("\n")
  })
  return lines.join("\n")
}

const headingOf = (title: string, owner: string | undefined): string =>
  owner === undefined ? title : `${title} of ${quoteValue(owner)}`

/** Below its own heading a title need not repeat it. */
const titleBelow = (heading: string, title: string): string =>
  title.startsWith(`${heading} `) ? title.slice(heading.length + 1) : title

function partition<Item>(items: readonly Item[], isSecond: (item: Item) => boolean): readonly [Item[], Item[]] {
  const parts: readonly [Item[], Item[]] = [[], []]
  for (const item of items) parts[isSecond(item) ? 1 : 0].push(item)
  return parts
}
