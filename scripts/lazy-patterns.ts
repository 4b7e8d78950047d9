import { type Plugin, RolldownMagicString } from "rolldown"
import { parseAst } from "rolldown/parseAst"

/**
 * Patterns that are constants of a module are made at their first use. V8 reads a regular expression when it reads the module and again when it
 * runs it; one with classes of Unicode takes up to two milliseconds each time, and a program uses few of the hundreds that it imports.
 * `const word = /\p{L}+/u` becomes a function, and `word` where it is used becomes `word()`.
 */
export function lazyPatterns(): Plugin {
  return { name: "lazy-patterns", renderChunk: (code) => (/^const \S+ = \//m.test(code) ? makeLazy(code) : null) }
}

type Node = {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly name?: string
  readonly shorthand?: boolean
  readonly computed?: boolean
  readonly [key: string]: unknown
}
type Constant = { readonly at: Node; readonly name: string; readonly pattern: string; readonly flags: string }
/** Where a name stands: in which node, and as what of it. */
type Place = { readonly node: Node; readonly parent: Node; readonly key: string }

/** A short pattern without classes of Unicode takes less than a hundredth of a millisecond. */
const isCostly = (pattern: string): boolean => pattern.includes("\\p{") || pattern.length > 80

/** Where a name is read. A name that stands anywhere else (declared again, exported, assigned) stays as it is, everywhere. */
const reads = new Set(
  [
    "ArrayExpression.elements ArrowFunctionExpression.body AssignmentExpression.right BinaryExpression.left",
    "BinaryExpression.right CallExpression.arguments ConditionalExpression.alternate ConditionalExpression.consequent",
    "LogicalExpression.left LogicalExpression.right MemberExpression.object NewExpression.arguments Property.value",
    "ReturnStatement.argument SpreadElement.argument TemplateLiteral.expressions VariableDeclarator.init",
  ].flatMap((line) => line.split(" ")),
)

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** The source of a chunk with its costly patterns made at first use. */
export function makeLazy(code: string): RolldownMagicString {
  const program: unknown = parseAst(code)
  const text = new RolldownMagicString(code)
  if (!isNode(program) || !Array.isArray(program.body)) return text
  const constants = new Map(program.body.flatMap(constantOf).map((constant) => [constant.name, constant]))
  const places = placesOf(program, constants)
  for (const { at, name, pattern, flags } of constants.values()) {
    const used = places.get(name) ?? []
    if (code.includes(`${name}$made`) || !used.every(isRead)) continue
    const made = `new RegExp(${JSON.stringify(pattern)}, "${flags}")`
    text.overwrite(at.start, at.end, `var ${name}$made; const ${name} = () => ${name}$made ??= ${made};`)
    for (const { node, parent } of used)
      text.appendLeft(node.end, parent.type === "Property" && parent.shorthand ? `: ${name}()` : "()")
  }
  return text
}

/** `const name = /pattern/flags` at the top of a module. */
function constantOf(at: Node): readonly Constant[] {
  const [only, ...others] = at.type === "VariableDeclaration" && Array.isArray(at.declarations) ? at.declarations : []
  if (!isNode(only) || others.length > 0 || at.kind !== "const" || !isNode(only.id) || !isNode(only.init)) return []
  const { name } = only.id
  const regex = only.init.regex
  if (name === undefined || typeof regex !== "object" || regex === null) return []
  const { pattern, flags } = { pattern: "", flags: "", ...regex }
  return isCostly(pattern) ? [{ at, name, pattern, flags }] : []
}

/** Wherever the names of the constants stand, but for their own declarations and for the names of properties. */
function placesOf(program: Node, constants: ReadonlyMap<string, Constant>): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>()
  const visit = (node: Node, parent: Node, key: string): void => {
    const constant = constants.get(node.name ?? "")
    if (node.type === "Identifier" && constant !== undefined && !isPropertyName(parent, key)) {
      const isOwn = node.start >= constant.at.start && node.end <= constant.at.end
      if (!isOwn) places.set(constant.name, [...(places.get(constant.name) ?? []), { node, parent, key }])
    }
    // A pattern on the left of an assignment or a parameter has properties too, which declare what they name.
    const seen =
      node.type === "Property" && parent.type === "ObjectPattern" ? { ...node, type: "PatternProperty" } : node
    for (const [name, value] of Object.entries(node))
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, seen, name)
  }
  visit(program, program, "")
  return places
}

/** `text.word`, `{ word: 1 }`: not the constant. The name in `{ word }` is visited as a value. */
const isPropertyName = (parent: Node, key: string): boolean =>
  (key === "property" || (key === "key" && parent.type !== "PatternProperty")) && parent.computed !== true

const isRead = ({ parent, key }: Place): boolean => reads.has(`${parent.type}.${key}`)
