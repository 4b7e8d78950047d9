import type { CallFacts } from "../facts/facts.ts"
import { maxFacts } from "../facts/limits.ts"
import { searchable } from "../facts/words.ts"
import type { CompiledMatcher } from "./matcher.ts"
import type { AttributeName } from "./schema.ts"

export type AttributeValue = string | number | boolean | readonly string[]

/** What the caller knows and the call does not say. */
export type Circumstances = {
  /** Who calls, for policies that name an agent. */
  readonly agent?: string
  /** The names of the session in which it calls, for policies that name a session. */
  readonly sessions?: readonly string[]
  /** Hundredths of the currency that the session has spent so far. */
  readonly spentMinor?: number
}

const unique = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort()

/** How each attribute is read off the facts. */
const readers: Readonly<Record<Exclude<AttributeName, "matches" | "spent">, (facts: CallFacts) => AttributeValue>> = {
  tool: ({ tool }) => tool,
  actions: ({ actions }) => unique(actions),
  changes: ({ changes }) => changes,
  recipients: ({ emails }) => unique(emails.filter(({ recipient }) => recipient).map(({ address }) => address)),
  recipientDomains: ({ emails }) => unique(emails.filter(({ recipient }) => recipient).map(({ domain }) => domain)),
  unresolvedRecipients: ({ unresolvedRecipients }) => unresolvedRecipients,
  hosts: ({ hosts }) => unique(hosts.filter(({ contacted }) => contacted).map(({ host }) => host)),
  linkedHosts: ({ hosts }) => unique(hosts.filter(({ contacted }) => !contacted).map(({ host }) => host)),
  suspectAddresses: ({ emails, hosts }) =>
    emails.some(({ recipient, suspect }) => recipient && suspect) || hosts.some(({ suspect }) => suspect),
  network: ({ network }) => network,
  paths: ({ paths }) => unique(paths.map(({ path }) => path)),
  changedPaths: ({ paths }) => unique(paths.filter(({ access }) => access !== "read").map(({ path }) => path)),
  secretPaths: ({ paths }) => unique(paths.filter(({ secret }) => secret).map(({ path }) => path)),
  sqlVerbs: ({ statements }) => unique(statements.map(({ verb }) => verb)),
  sqlTargets: ({ statements }) => unique(statements.flatMap(({ targets }) => targets)),
  sqlUnbounded: ({ statements }) => statements.some(({ unbounded }) => unbounded),
  commands: ({ commands }) => unique(commands.map(({ name }) => name)),
  effects: ({ commands }) => unique(commands.flatMap(({ effects }) => [...effects])),
  destructive: ({ destructive }) => unique(destructive),
  environments: ({ environments }) => unique(environments),
  spend: ({ amounts }) => amounts.reduce((most, { minor }) => Math.max(most, minor), 0),
  currencies: ({ amounts }) => unique(amounts.flatMap(({ currency }) => currency ?? [])),
  amountNamed: ({ amounts }) => amounts.length > 0,
  regions: ({ regions }) => unique(regions),
  media: ({ media }) => unique(media),
  languages: ({ languages }) => unique(languages),
  personal: ({ personal }) => unique(personal),
  secrets: ({ secrets }) => unique(secrets),
  controlsOff: ({ controlsOff }) => unique(controlsOff),
  marks: ({ marks }) => unique(marks),
  text: ({ text }) => searchable(text),
}

export type Context = {
  readonly get: (name: AttributeName) => AttributeValue
  /** For each matcher's answer, the values that it rests on. */
  readonly matched: () => ReadonlyMap<string, readonly string[]>
  /** There were more facts of a kind than a judgement takes. */
  readonly tooMany: () => boolean
}

type Matches = ReadonlyMap<string, readonly string[]>

function matchAll(facts: CallFacts, matchers: ReadonlyMap<string, CompiledMatcher>): Matches {
  const matched = new Map<string, readonly string[]>()
  for (const [name, match] of matchers) {
    const { outside, within } = match(facts)
    if (outside.length > 0) matched.set(`outside:${name}`, outside)
    if (within.length > 0) matched.set(`within:${name}`, within)
    if (outside.length === 0) matched.set(`inside:${name}`, within)
  }
  return matched
}

/** The facts as policies ask for them. Each is worked out when it is first asked for: most policies are decided by two or three. */
export function contextOf(
  facts: CallFacts,
  matchers: ReadonlyMap<string, CompiledMatcher>,
  { spentMinor = 0 }: Circumstances,
): Context {
  const values = new Map<AttributeName, AttributeValue>()
  let matched: Matches | undefined
  let tooMany = false
  const matches = (): Matches => {
    matched ??= matchAll(facts, matchers)
    return matched
  }
  const read = (name: AttributeName): AttributeValue => {
    if (name === "matches") return [...matches().keys()]
    const value = name === "spent" ? Math.round(spentMinor) : readers[name](facts)
    if (typeof value !== "object" || value.length <= maxFacts) return value
    tooMany = true
    return value.slice(0, maxFacts)
  }
  return {
    get: (name) => {
      const known = values.get(name)
      if (known !== undefined) return known
      const value = read(name)
      values.set(name, value)
      return value
    },
    matched: matches,
    tooMany: () => tooMany,
  }
}
