import { isObject } from "../../wire/json.ts"
import type { Action } from "../facts/action.ts"
import type { CallFacts } from "../facts/facts.ts"
import { maxFactsPerKind } from "../facts/leaf.ts"
import { searchable } from "../facts/words.ts"
import type { CompiledMatcher } from "./matcher.ts"
import { type AttributeName, attributes } from "./schema.ts"

/** What becomes of a call that no policy speaks of: it is let through, or only what a policy permits is. */
export type Mode = "forbid-only" | "allow-list"

export type Get = (name: AttributeName) => AttributeValue

/** What a condition comes to, or nothing where only the engine can tell. */
type Known = AttributeValue | undefined
type Expression = (get: Get) => Known

/**
 * A foreknowledge of Cedar's answer: `false` means that the policy surely does not hold and raises no error, so that the engine need
 * not be asked. Everything else is the engine's to decide.
 */
type Condition = (get: Get) => boolean

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

/** Only what stands left is read when it decides, as in Cedar: an error behind it never comes up. */
const binary: Readonly<Record<string, (left: Expression, right: Expression) => Expression>> = {
  "&&": (left, right) => (get) => {
    const one = left(get)
    return one === true ? right(get) : one === false ? false : undefined
  },
  "||": (left, right) => (get) => {
    const one = left(get)
    return one === false ? right(get) : one === true ? true : undefined
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
    return isObject(body.left) && body.left.Var === "context" && isAttribute(name) ? (get) => get(name) : unknown
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
  return join === undefined ? unknown : join(compileExpression(body.left), compileExpression(body.right))
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
    for (const piece of rest) {
      const found = text.indexOf(piece, at)
      if (found < 0) return false
      at = found + piece.length
    }
    return at <= text.length - last.length
  }
}

/** Make the conditions of a policy, as Cedar writes them in JSON, ready to be foreknown. */
export function compileCondition(
  clauses: readonly { readonly kind: "when" | "unless"; readonly body: unknown }[],
): Condition {
  const compiled = clauses.map(({ kind, body }) => ({ wanted: kind === "when", holds: compileExpression(body) }))
  return (get) => {
    for (const { wanted, holds } of compiled) {
      const value = holds(get)
      if (value === undefined) return true
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

export type PolicyContext = {
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
export function policyContext(
  facts: CallFacts,
  matchers: ReadonlyMap<string, CompiledMatcher>,
  { spentMinor = 0 }: Circumstances,
): PolicyContext {
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
  /** The rule in words, from `@rule("…")`. */
  readonly rule: string
  /** What to do instead, from `@instead("…")`. */
  readonly instead?: string
  readonly asks: ReadonlySet<AttributeName>
  /** The actions that its head names; absent where it holds for all of them. */
  readonly actions?: ReadonlySet<Action>
  /** The one tool and the one agent that its head names, if it does. */
  readonly tool?: string
  readonly agent?: string
  /** Its conditions ask which action it is. */
  readonly asksAction: boolean
  /** False where it surely does not hold. */
  readonly mayHold: Condition
}
