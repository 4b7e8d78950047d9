import { entriesOf } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import type { Action } from "../facts/action.ts"
import type { CallFacts } from "../facts/facts.ts"
import { maxFactsPerKind, type OpenKind } from "../facts/leaf.ts"
import { searchable } from "../facts/words.ts"
import type { CompiledMatcher, Reach } from "./matcher.ts"
import { type AttributeName, attributeNames, attributes, type SpentName, spentNames } from "./schema.ts"

/** What becomes of a call that no policy speaks of: it is let through, or only what a policy permits is. */
export type Mode = "forbid-only" | "allow-list"

/** The value of an attribute, and whether the call may have more of it than that. */
export type Get = {
  readonly value: (name: AttributeName) => AttributeValue
  readonly isOpen: (name: AttributeName, member?: string) => boolean
  /** Both sides of `&&` and `||` are read, also where Cedar would stop at an error on the left. */
  readonly isLenient?: boolean
}

/** What a condition comes to, or nothing where only the engine can tell. */
type Known = AttributeValue | undefined
type Expression = (get: Get) => Known

/**
 * What is known of Cedar's answer: `false` means that the policy surely does not hold and raises no error, so that the engine need
 * not be asked. `undefined` means that only the engine can tell, or that it rests on a fact that is unresolved.
 */
type Condition = (get: Get) => boolean | undefined

const unknown: Expression = () => undefined

const isText = (value: unknown): value is string => typeof value === "string"

/** Both sides, when both are known. */
function both(
  read: (left: AttributeValue, right: AttributeValue) => Known,
): (left: Expression, right: Expression) => Expression {
  return (left, right) => (get) => {
    const one = left(get)
    if (one === undefined) return undefined
    const other = right(get)
    return other === undefined ? undefined : read(one, other)
  }
}

const numbers = (compare: (left: number, right: number) => Known) =>
  both((left, right) => (typeof left === "number" && typeof right === "number" ? compare(left, right) : undefined))

const sets = (compare: (left: readonly string[], right: readonly string[]) => boolean) =>
  both((left, right) => (typeof left === "object" && typeof right === "object" ? compare(left, right) : undefined))

const binary: Readonly<Record<string, (left: Expression, right: Expression) => Expression>> = {
  "&&": (left, right) => (get) => {
    const one = left(get)
    if (one === true || one === false) return one ? right(get) : false
    // What is unresolved on the left cannot make true what is false on the right; what only the engine can tell may be an error.
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
  "==": both((left, right) => (typeof left === "object" || typeof left !== typeof right ? undefined : left === right)),
  "!=": both((left, right) => (typeof left === "object" || typeof left !== typeof right ? undefined : left !== right)),
  "<": numbers((left, right) => left < right),
  "<=": numbers((left, right) => left <= right),
  ">": numbers((left, right) => left > right),
  ">=": numbers((left, right) => left >= right),
  "+": numbers((left, right) => (Number.isSafeInteger(left + right) ? left + right : undefined)),
  contains: both((left, right) => (typeof left === "object" && isText(right) ? left.includes(right) : undefined)),
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
    // A flag that is unresolved and set stays set; anything else that is unresolved is not known.
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
  const set = setQuestion(kind, body)
  if (set !== undefined) return set
  return join === undefined ? unknown : join(compileExpression(body.left), compileExpression(body.right))
}

/** Questions about a set that may have more members than are known: what is not in it may be. */
function setQuestion(kind: string, { left, right, arg }: Readonly<Record<string, unknown>>): Expression | undefined {
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
  // `["eu-west-1"].containsAll(context.regions)`: one member outside is enough to say no.
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

const asValue = (value: unknown): Known =>
  isText(value) || typeof value === "boolean" || typeof value === "number" ? value : undefined

function setOf(members: unknown): Expression {
  if (!Array.isArray(members)) return unknown
  const texts = members.map((member: unknown) => (isObject(member) ? member.Value : undefined)).filter(isText)
  return texts.length === members.length ? () => texts : unknown
}

/** A pattern of fixed pieces with anything between them. */
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
    if (text.length >= minIndexed && rest.some((piece) => surelyLacks(text, piece))) return false
    for (const piece of rest) {
      const found = text.indexOf(piece, at)
      if (found < 0) return false
      at = found + piece.length
    }
    return at <= text.length - last.length
  }
}

/** Shorter texts are searched as fast as they are indexed. */
const minIndexed = 1_000
/** Which runs of four signs the last long text has, by their hash; many policies search the same text. */
const runsOfLast = { text: "", has: new Uint8Array(65_536) }

/** The hash of the run that ends with a sign, from that of the run before it: signs shift out after four. */
const nextRun = (run: number, text: string, at: number): number => (run << 8) ^ text.charCodeAt(at)
const slotOf = (run: number): number => Math.imul(run, 0x9e3779b1) >>> 16

/** A piece with a run of four signs that the text has not is not in it; false where it takes a search to tell. */
function surelyLacks(text: string, piece: string): boolean {
  const { has } = runsOfLast
  if (runsOfLast.text !== text) {
    has.fill(0)
    for (let at = 0, run = 0; at < text.length; at++) {
      run = nextRun(run, text, at)
      has[slotOf(run)] = 1
    }
    runsOfLast.text = text
  }
  for (let at = 0, run = 0; at < piece.length; at++) {
    run = nextRun(run, piece, at)
    if (at >= 3 && has[slotOf(run)] === 0) return true
  }
  return false
}

/** Make the conditions of a policy, as Cedar writes them in JSON, ready to be foreknown. */
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

/** What the caller knows and the call does not say. */
export type Circumstances = {
  /** Who calls, for policies that name an agent. */
  readonly agent?: string
  /** The names of the session in which it calls, for policies that name a session. */
  readonly sessions?: readonly string[]
  /** Hundredths of the currency that the session has spent so far. */
  readonly spentMinor?: number
  /** The same of its agent and its tenant, in all and today. */
  readonly spentByMinor?: SpentBy
}

/** Hundredths that were spent outside the session as well, by the attribute that says so; what is missing is nothing. */
export type SpentBy = Readonly<Partial<Record<Exclude<SpentName, "spent">, number>>>

const isSpentName = (name: AttributeName): name is SpentName => spentNames.some((spent) => spent === name)

const unique = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort()

/** How the attributes that are sets are read off the facts. */
export const setReaders = {
  actions: ({ actions }) => unique(actions),
  recipients: ({ emails }) => unique(emails.filter(({ recipient }) => recipient).map(({ address }) => address)),
  recipientDomains: ({ emails }) => unique(emails.filter(({ recipient }) => recipient).map(({ domain }) => domain)),
  hosts: ({ hosts }) => unique(hosts.filter(({ contacted }) => contacted).map(({ host }) => host)),
  linkedHosts: ({ hosts }) => unique(hosts.filter(({ contacted }) => !contacted).map(({ host }) => host)),
  paths: ({ paths }) => unique(paths.map(({ path }) => path)),
  changedPaths: ({ paths }) => unique(paths.filter(({ access }) => access !== "read").map(({ path }) => path)),
  // What is only put there is not opened.
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

/** How each attribute is read off the facts. */
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

/** The text of the call that is judged is asked for twice: by what it does, and by what it may do. */
function searchableText(text: string): string {
  if (searched?.text !== text) searched = { text, words: searchable(text) }
  return searched.words
}

/** The attributes that an unresolved fact leaves open, in the order in which the facts are told. */
const opens = entriesOf<Exclude<OpenKind, "everything">, readonly AttributeName[]>({
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
const openings: ReadonlyMap<AttributeName, readonly OpenKind[]> = new Map(
  attributeNames.map((name) => [name, opens.flatMap(([kind, names]) => (names.includes(name) ? [kind] : []))]),
)

/** What no program that runs can change: who is called, and what stands in the call. */
const settled: ReadonlySet<AttributeName> = new Set([
  "tool",
  ...spentNames,
  "text",
  "marks",
  "languages",
  "personal",
  "linkedHosts",
])

/** Attributes that the values of a call say, whatever it does with them. */
const said: ReadonlySet<AttributeName> = new Set(["tool", ...spentNames, "text", "languages", "personal", "secrets"])
export const isSaid = (name: AttributeName): boolean => said.has(name)

/** Why an attribute is open, if it is. */
export function openReason(name: AttributeName, { open }: CallFacts, assumed: ReadonlySet<string>): string | undefined {
  const kind = openings.get(name)?.find((one) => open.has(one) && !assumed.has(one))
  if (kind !== undefined) return open.get(kind)
  return settled.has(name) ? undefined : open.get("everything")
}

export type PolicyContext = {
  readonly get: (name: AttributeName) => AttributeValue
  /** For each matcher's answer, the values that it rests on. */
  readonly matched: () => ReadonlyMap<string, readonly string[]>
  /** There were more facts of a kind than a judgement takes. */
  readonly tooMany: () => boolean
}

/** Files that are secret by name, and folders of which everything is carried off or searched for secrets. */
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

/** The facts as policies ask for them. Each is worked out when it is first asked for: most policies are decided by two or three. */
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

/** One policy, checked, with what it asks about a call. */
export type GuardPolicy = {
  readonly id: string
  readonly text: string
  /** The input that it came from, and the line there. */
  readonly source: string
  readonly line: number
  readonly effect: "permit" | "forbid"
  readonly decision: "deny" | "ask"
  /** What becomes of a call that leaves open whether the policy holds. */
  readonly unresolved: "deny" | "ask"
  /** Facts that are taken as the call says them, also where it may have more: their openness does not count. */
  readonly assumed: ReadonlySet<string>
  /** Whether the policy is in force, or only reported on. */
  readonly mode: "enforce" | "observe"
  readonly rule: string
  /** What to do instead, from `@instead("…")`. */
  readonly instead?: string
  readonly asks: ReadonlySet<AttributeName>
  /** The actions that its head names; absent where it holds for all of them. */
  readonly actions?: ReadonlySet<Action>
  /** The one tool and the one agent that its head names, if it does. */
  readonly tool?: string
  readonly agent?: string
  /** The session that its head names. */
  readonly session?: string
  readonly asksAction: boolean
  /** False where it surely does not hold, true where it surely does. */
  readonly holds: Condition
}
