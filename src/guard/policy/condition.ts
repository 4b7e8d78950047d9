import type { Channel } from "../../message/message.ts"
import { entriesOf } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import type { Action } from "../facts/action.ts"
import type { CallFacts } from "../facts/facts.ts"
import { maxFactsPerKind, type OpenKind } from "../facts/leaf.ts"
import { searchable } from "../facts/words.ts"
import type { CompiledMatcher, Reach } from "./matcher.ts"
import { type AttributeName, attributeNames, attributes, type SpentName, spentNames } from "./schema.ts"

/** What happens to a call that no policy mentions: it is allowed, or denied because no policy permits it. */
export type Mode = "forbid-only" | "allow-list"

/** Reads attributes of a call: their known values, and whether the call may have further ones. */
export type AttributeGetter = {
  readonly value: (name: AttributeName) => AttributeValue
  readonly isOpen: (name: AttributeName, member?: string) => boolean
  /** Reads both sides of `&&` and `||`, even where Cedar would stop at an error on the left. */
  readonly isLenient?: boolean
}

/** The value of an expression; undefined if only the engine can tell. */
type KnownValue = AttributeValue | undefined
type Expression = (get: AttributeGetter) => KnownValue

/**
 * What is known of Cedar's answer without asking it. `false`: the policy certainly does not hold and raises no error. `undefined`: only
 * the engine can tell, or the answer depends on an unresolved fact.
 */
type Condition = (get: AttributeGetter) => boolean | undefined

const unknown: Expression = () => undefined

const isText = (value: unknown): value is string => typeof value === "string"

/** Applies a function if both sides are known. */
function whenBothKnown(
  read: (left: AttributeValue, right: AttributeValue) => KnownValue,
): (left: Expression, right: Expression) => Expression {
  return (left, right) => (get) => {
    const one = left(get)
    if (one === undefined) return undefined
    const other = right(get)
    return other === undefined ? undefined : read(one, other)
  }
}

const numbers = (compare: (left: number, right: number) => KnownValue) =>
  whenBothKnown((left, right) =>
    typeof left === "number" && typeof right === "number" ? compare(left, right) : undefined,
  )

const sets = (compare: (left: readonly string[], right: readonly string[]) => boolean) =>
  whenBothKnown((left, right) =>
    typeof left === "object" && typeof right === "object" ? compare(left, right) : undefined,
  )

const binary: Readonly<Record<string, (left: Expression, right: Expression) => Expression>> = {
  "&&": (left, right) => (get) => {
    const one = left(get)
    if (one === true || one === false) return one ? right(get) : false
    // If the right side is false, an unresolved left side cannot change the result. Without leniency the left side may be an error, so
    // the result is unknown.
    return get.isLenient === true && right(get) === false ? false : undefined
  },
  "||": (left, right) => (get) => {
    const one = left(get)
    return one === false
      ? right(get)
      : one === true || (get.isLenient === true && right(get) === true)
        ? true
        : undefined
  },
  "==": whenBothKnown((left, right) =>
    typeof left === "object" || typeof left !== typeof right ? undefined : left === right,
  ),
  "!=": whenBothKnown((left, right) =>
    typeof left === "object" || typeof left !== typeof right ? undefined : left !== right,
  ),
  "<": numbers((left, right) => left < right),
  "<=": numbers((left, right) => left <= right),
  ">": numbers((left, right) => left > right),
  ">=": numbers((left, right) => left >= right),
  "+": numbers((left, right) => (Number.isSafeInteger(left + right) ? left + right : undefined)),
  contains: whenBothKnown((left, right) =>
    typeof left === "object" && isText(right) ? left.includes(right) : undefined,
  ),
  containsAny: sets((left, right) => right.some((member) => left.includes(member))),
  containsAll: sets((left, right) => right.every((member) => left.includes(member))),
}

const isAttribute = (name: unknown): name is AttributeName => isText(name) && Object.hasOwn(attributes, name)

function compileExpression(node: unknown): Expression {
  if (!isObject(node)) return unknown
  const [kind, body] = Object.entries(node)[0] ?? []
  if (kind === "Value") return literal(body)
  if (kind === "Set") return setOf(body)
  if (!isObject(body) || kind === undefined) return unknown
  if (kind === ".") {
    const name = body.attr
    // An unresolved flag that is set stays set; any other unresolved value is unknown.
    return isObject(body.left) && body.left.Var === "context" && isAttribute(name)
      ? (get) => {
          const value = get.value(name)
          return get.isOpen(name) && value !== true ? undefined : value
        }
      : unknown
  }
  if (kind === "like") return like(body)
  if (kind === "!" || kind === "isEmpty") {
    const inner = compileExpression(body.arg)
    return (get) => {
      const value = inner(get)
      if (kind === "!") return typeof value === "boolean" ? !value : undefined
      return typeof value === "object" ? value.length === 0 : undefined
    }
  }
  const join = Object.hasOwn(binary, kind) ? binary[kind] : undefined
  const set = compileSetTest(kind, body)
  if (set !== undefined) return set
  return join === undefined ? unknown : join(compileExpression(body.left), compileExpression(body.right))
}

/** Compiles a test on a set that may have more members than are known: a member that is absent may still be in it. */
function compileSetTest(kind: string, { left, right, arg }: Readonly<Record<string, unknown>>): Expression | undefined {
  const name = attributeOf(kind === "isEmpty" ? arg : left)
  const within = attributeOf(right)
  if (kind === "isEmpty" && name !== undefined)
    return (get) => {
      const value = get.value(name)
      if (typeof value !== "object") return undefined
      return value.length > 0 ? false : get.isOpen(name) ? undefined : true
    }
  if ((kind === "contains" || kind === "containsAny") && name !== undefined) {
    const wanted = compileExpression(right)
    return (get) => {
      const [value, other] = [get.value(name), wanted(get)]
      const members = isText(other) ? [other] : other
      if (typeof value !== "object" || typeof members !== "object") return undefined
      if (members.some((member) => value.includes(member))) return true
      return members.some((member) => get.isOpen(name, member)) ? undefined : false
    }
  }
  // `["eu-west-1"].containsAll(context.regions)`: one member outside is enough for false.
  if (kind === "containsAll" && within !== undefined && name === undefined) {
    const limits = compileExpression(left)
    return (get) => {
      const [allowed, value] = [limits(get), get.value(within)]
      if (typeof value !== "object" || typeof allowed !== "object") return undefined
      if (!value.every((member) => allowed.includes(member))) return false
      return get.isOpen(within) ? undefined : true
    }
  }
  return undefined
}

const attributeOf = (node: unknown): AttributeName | undefined => {
  const access = isObject(node) ? node["."] : undefined
  if (!isObject(access) || !isObject(access.left) || access.left.Var !== "context") return undefined
  return isAttribute(access.attr) ? access.attr : undefined
}

function literal(value: unknown): Expression {
  return isText(value) || typeof value === "boolean" || Number.isSafeInteger(value) ? () => asValue(value) : unknown
}

const asValue = (value: unknown): KnownValue =>
  isText(value) || typeof value === "boolean" || typeof value === "number" ? value : undefined

function setOf(members: unknown): Expression {
  if (!Array.isArray(members)) return unknown
  const texts = members.map((member: unknown) => (isObject(member) ? member.Value : undefined)).filter(isText)
  return texts.length === members.length ? () => texts : unknown
}

/** Compiles a `like` pattern: fixed pieces with anything between them. */
function like({ left, pattern }: Readonly<Record<string, unknown>>): Expression {
  if (!Array.isArray(pattern)) return unknown
  const value = compileExpression(left)
  const pieces: string[] = [""]
  for (const element of pattern) {
    if (element === "Wildcard") pieces.push("")
    else if (isObject(element) && isText(element.Literal)) pieces.push(`${pieces.pop() ?? ""}${element.Literal}`)
    else return unknown
  }
  const [first = "", ...rest] = pieces
  const last = rest.pop()
  return (get) => {
    const text = value(get)
    if (!isText(text)) return undefined
    if (last === undefined) return text === first
    if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
    let at = first.length
    if (text.length >= minIndexed && rest.some((piece) => certainlyLacks(text, piece))) return false
    for (const piece of rest) {
      const found = text.indexOf(piece, at)
      if (found < 0) return false
      at = found + piece.length
    }
    return at <= text.length - last.length
  }
}

/** Minimum length in characters to index a text; shorter ones are searched as fast as indexed. */
const minIndexed = 1_000
/** Bloom filter of the 4-character runs in the last long text, by their hash; many policies search the same text. */
const lastTextRuns = { text: "", has: new Uint8Array(65_536) }

/** Rolling hash of a run of four characters: older ones are shifted out. */
const nextRun = (run: number, text: string, at: number): number => (run << 8) ^ text.charCodeAt(at)
const slotOf = (run: number): number => Math.imul(run, 0x9e3779b1) >>> 16

/** True if the piece has a run of four characters that is not in the text; false means that a search is needed. */
function certainlyLacks(text: string, piece: string): boolean {
  const { has } = lastTextRuns
  if (lastTextRuns.text !== text) {
    has.fill(0)
    for (let at = 0, run = 0; at < text.length; at++) {
      run = nextRun(run, text, at)
      has[slotOf(run)] = 1
    }
    lastTextRuns.text = text
  }
  for (let at = 0, run = 0; at < piece.length; at++) {
    run = nextRun(run, piece, at)
    if (at >= 3 && has[slotOf(run)] === 0) return true
  }
  return false
}

/** Compiles a policy's conditions, given as Cedar's JSON, so that they can be evaluated without the engine where possible. */
export function compileCondition(
  clauses: readonly { readonly kind: "when" | "unless"; readonly body: unknown }[],
): Condition {
  const compiled = clauses.map(({ kind, body }) => ({ wanted: kind === "when", holds: compileExpression(body) }))
  return (get) => {
    for (const { wanted, holds } of compiled) {
      const value = holds(get)
      if (value === undefined) return undefined
      if (value !== wanted) return false
    }
    return true
  }
}

export type AttributeValue = string | number | boolean | readonly string[]

/** What the caller knows and the call does not show. */
export type Circumstances = {
  /** The calling agent, for policies that name one. */
  readonly agent?: string
  /** The names of the calling session, for policies that name one. */
  readonly sessions?: readonly string[]
  /** What the session has spent so far, in hundredths of the currency. */
  readonly spentMinor?: number
  /** The same for its agent and its tenant, in total and today. */
  readonly spentByMinor?: SpentBy
}

/** Spending in hundredths beyond the session, by attribute; a missing one is 0. */
export type SpentBy = Readonly<Partial<Record<Exclude<SpentName, "spent">, number>>>

const isSpentName = (name: AttributeName): name is SpentName => spentNames.some((spent) => spent === name)

const unique = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort()

/** Reads each set attribute from the facts. */
export const setReaders = {
  actions: ({ actions }) => unique(actions),
  recipients: ({ emails }) => unique(emails.filter(({ recipient }) => recipient).map(({ address }) => address)),
  recipientDomains: ({ emails }) => unique(emails.filter(({ recipient }) => recipient).map(({ domain }) => domain)),
  hosts: ({ hosts }) => unique(hosts.filter(({ contacted }) => contacted).map(({ host }) => host)),
  linkedHosts: ({ hosts }) => unique(hosts.filter(({ contacted }) => !contacted).map(({ host }) => host)),
  paths: ({ paths }) => unique(paths.map(({ path }) => path)),
  changedPaths: ({ paths }) => unique(paths.filter(({ access }) => access !== "read").map(({ path }) => path)),
  // A file that the call only creates is not opened.
  secretPaths: ({ paths }) =>
    unique(paths.filter(({ secret, isFresh }) => secret && isFresh !== true).map(({ path }) => path)),
  sqlVerbs: ({ statements }) => unique(statements.map(({ verb }) => verb)),
  sqlTargets: ({ statements }) => unique(statements.flatMap(({ targets }) => targets)),
  commands: ({ commands }) => unique(commands.map(({ name }) => name)),
  effects: ({ commands }) => unique(commands.flatMap(({ effects }) => [...effects])),
  destructive: ({ destructive }) => unique(destructive),
  environments: ({ environments }) => unique(environments),
  currencies: ({ amounts }) => unique(amounts.flatMap(({ currency }) => currency ?? [])),
  regions: ({ regions }) => unique(regions),
  media: ({ media }) => unique(media),
  rooms: ({ rooms }) => unique(rooms),
  languages: ({ languages }) => unique(languages),
  personal: ({ personal }) => unique(personal),
  secrets: ({ secrets }) => unique(secrets),
  controlsOff: ({ controlsOff }) => unique(controlsOff),
  marks: ({ marks }) => unique(marks),
} as const satisfies Readonly<Record<string, (facts: CallFacts) => readonly string[]>>

/** Reads each attribute from the facts. */
const readers: Readonly<Record<Exclude<AttributeName, "matches" | SpentName>, (facts: CallFacts) => AttributeValue>> = {
  ...setReaders,
  tool: ({ tool }) => tool,
  changes: ({ changes }) => changes,
  productionChanges: ({ productionChanges }) => productionChanges,
  unresolvedRecipients: ({ unresolvedRecipients }) => unresolvedRecipients,
  suspectAddresses: ({ emails, hosts }) =>
    emails.some(({ recipient, suspect }) => recipient && suspect) || hosts.some(({ suspect }) => suspect),
  network: ({ network }) => network,
  sqlUnbounded: ({ statements }) => statements.some(({ unbounded }) => unbounded),
  spend: ({ amounts }) => amounts.reduce((most, { minor }) => Math.max(most, minor), 0),
  amountNamed: ({ amounts }) => amounts.length > 0,
  text: ({ text }) => searchableText(text),
}

let searched: { readonly text: string; readonly words: string } | undefined

/** Returns the searchable text of a call. Cached, because each call asks twice: for what it does, and for what it may do. */
function searchableText(text: string): string {
  if (searched?.text !== text) searched = { text, words: searchable(text) }
  return searched.words
}

/** The attributes that an unresolved fact leaves open, in the order in which facts are reported. */
const openedAttributes = entriesOf<Exclude<OpenKind, "everything">, readonly AttributeName[]>({
  recipients: ["recipients", "recipientDomains", "unresolvedRecipients"],
  hosts: ["hosts"],
  network: ["network"],
  paths: ["paths", "secretPaths"],
  changedPaths: ["changedPaths"],
  changes: ["changes", "productionChanges"],
  statements: ["sqlVerbs", "sqlTargets", "sqlUnbounded", "destructive", "changes", "productionChanges"],
  environments: ["environments", "productionChanges"],
  amounts: ["spend", "currencies", "amountNamed"],
  secrets: ["secrets"],
  personal: ["personal"],
  regions: ["regions"],
  controls: ["controlsOff"],
})
const openKindsOf: ReadonlyMap<AttributeName, readonly OpenKind[]> = new Map(
  attributeNames.map((name) => [
    name,
    openedAttributes.flatMap(([kind, names]) => (names.includes(name) ? [kind] : [])),
  ]),
)

/** Attributes that a running program cannot change: the tool, and the content of the call. */
const unchangeable: ReadonlySet<AttributeName> = new Set([
  "tool",
  ...spentNames,
  "text",
  "marks",
  "languages",
  "personal",
  "linkedHosts",
])

/** Attributes that follow from the values in a call, whatever the call does with them. */
const statedAttributes: ReadonlySet<AttributeName> = new Set([
  "tool",
  ...spentNames,
  "text",
  "languages",
  "personal",
  "secrets",
])
export const isSaid = (name: AttributeName): boolean => statedAttributes.has(name)

/** Returns why an attribute is open, if it is. */
export function openReason(name: AttributeName, { open }: CallFacts, assumed: ReadonlySet<string>): string | undefined {
  const kind = openKindsOf.get(name)?.find((one) => open.has(one) && !assumed.has(one))
  if (kind !== undefined) return open.get(kind)
  return unchangeable.has(name) ? undefined : open.get("everything")
}

export type PolicyContext = {
  readonly get: (name: AttributeName) => AttributeValue
  /** For each result of a matcher, the values that led to it. */
  readonly matched: () => ReadonlyMap<string, readonly string[]>
  /** True if there were more facts of a kind than the limit. */
  readonly tooMany: () => boolean
}

/** Files with secrets by name, and folders of which all content is copied or searched for secrets. */
const secretsBelow = ({ paths }: CallFacts): readonly string[] =>
  unique(
    paths
      .filter(({ secret, tree, isFresh }) => (secret && isFresh !== true) || tree === "secrets")
      .map(({ path }) => path),
  )

type Matches = ReadonlyMap<string, readonly string[]>

function matchAll(facts: CallFacts, matchers: ReadonlyMap<string, CompiledMatcher>, reach: Reach): Matches {
  const matched = new Map<string, readonly string[]>()
  for (const [name, match] of matchers) {
    const { outside, within } = match(facts, reach)
    if (outside.length > 0) matched.set(`outside:${name}`, outside)
    if (within.length > 0) matched.set(`within:${name}`, within)
    if (outside.length === 0) matched.set(`inside:${name}`, within)
  }
  return matched
}

/** Creates the policy context of a call. Attributes are computed when first read: most policies need two or three. */
export function policyContext(
  facts: CallFacts,
  matchers: ReadonlyMap<string, CompiledMatcher>,
  { spentMinor = 0, spentByMinor = {} }: Circumstances,
  reach: Reach = "named",
): PolicyContext {
  const values = new Map<AttributeName, AttributeValue>()
  let matched: Matches | undefined
  let tooMany = false
  const matches = (): Matches => {
    matched ??= matchAll(facts, matchers, reach)
    return matched
  }
  const read = (name: AttributeName): AttributeValue => {
    if (name === "matches") return [...matches().keys()]
    const value = isSpentName(name)
      ? Math.round(name === "spent" ? spentMinor : (spentByMinor[name] ?? 0))
      : name === "secretPaths" && reach === "below"
        ? secretsBelow(facts)
        : readers[name](facts)
    if (typeof value !== "object" || value.length <= maxFactsPerKind) return value
    tooMany = true
    return value.slice(0, maxFactsPerKind)
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

/** A checked policy, with what it reads of a call. */
export type GuardPolicy = {
  readonly id: string
  readonly text: string
  /** The input that it came from, and its line there. */
  readonly source: string
  readonly line: number
  readonly effect: "permit" | "forbid"
  readonly decision: "deny" | "ask"
  /** The decision on a call for which it is unresolved whether the policy holds. */
  readonly unresolved: "deny" | "ask"
  /** Facts that are taken as the call states them, even if there may be more: they count as resolved. */
  readonly assumed: ReadonlySet<string>
  /** Whether the policy is enforced, or only reported. */
  readonly mode: "enforce" | "observe"
  readonly rule: string
  /** Who stated the rule, in a policy from a rule in words. */
  readonly speaker?: Channel
  /** What to do instead, from `@instead("…")`. */
  readonly instead?: string
  readonly asks: ReadonlySet<AttributeName>
  /** The actions in its head; absent if it applies to all. */
  readonly actions?: ReadonlySet<Action>
  /** The tool and the agent in its head, if exactly one is named. */
  readonly tool?: string
  readonly agent?: string
  /** The session in its head. */
  readonly session?: string
  readonly asksAction: boolean
  /** False if it certainly does not hold, true if it certainly does. */
  readonly holds: Condition
}
