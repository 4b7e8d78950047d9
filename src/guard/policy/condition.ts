import { isObject } from "../../wire/json.ts"
import type { AttributeValue } from "./context.ts"
import { type AttributeName, attributes } from "./schema.ts"

export type Get = (name: AttributeName) => AttributeValue

/** What a condition comes to, or nothing where only the engine can tell. */
type Known = AttributeValue | undefined
type Expression = (get: Get) => Known

/**
 * A foreknowledge of Cedar's answer: `false` means that the policy surely does not hold and raises no error, so that the engine need
 * not be asked. Everything else is the engine's to decide.
 */
export type Condition = (get: Get) => boolean

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
