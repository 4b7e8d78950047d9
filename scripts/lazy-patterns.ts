import { type Plugin, RolldownMagicString } from "rolldown"
import { parseAst } from "rolldown/parseAst"

/**
 * Regular expressions are created at their first use. V8 parses a regular expression when it parses the module, even one within a function
 * that is never called, and again when it is evaluated; one with Unicode classes takes up to two milliseconds each time, and a program uses
 * few of the hundreds that it imports. `const word = /\p{L}+/u` becomes a function, and `word` where it is used becomes `word()`; so does a
 * constant that is composed of strings. A pattern within a function becomes a call that creates it once.
 */
export function lazyPatterns(): Plugin {
  return { name: "lazy-patterns", renderChunk: (code) => makeLazy(code) }
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
/** `isWhole`: a literal, which is rewritten; a composed pattern keeps its source text. */
type Constant = { readonly at: Node; readonly name: string; readonly init: Node; readonly isWhole: boolean }
type Pattern = { readonly pattern: string; readonly flags: string }
/** Where a name is used: its node, and its role in the parent. */
type Place = { readonly node: Node; readonly parent: Node; readonly key: string }

/**
 * True for patterns that are slow to create: one without Unicode classes takes less than a hundredth of a millisecond unless it is long.
 */
const isCostly = (pattern: string): boolean => pattern.includes("\\p{") || pattern.length > 120

/** Positions at which a name is read. A name used anywhere else (redeclared, exported, assigned) is left unchanged everywhere. */
const reads = new Set(
  [
    "ArrayExpression.elements ArrowFunctionExpression.body AssignmentExpression.right BinaryExpression.left",
    "BinaryExpression.right CallExpression.arguments ConditionalExpression.alternate ConditionalExpression.consequent",
    "LogicalExpression.left LogicalExpression.right MemberExpression.object NewExpression.arguments Property.value",
    "ReturnStatement.argument SpreadElement.argument TemplateLiteral.expressions VariableDeclarator.init",
  ].flatMap((line) => line.split(" ")),
)

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** Returns the source of a chunk with its costly patterns created at first use. */
export function makeLazy(code: string): RolldownMagicString {
  const program: unknown = parseAst(code)
  const text = new RolldownMagicString(code)
  if (!isNode(program) || !Array.isArray(program.body)) return text
  const constants = new Map(program.body.flatMap(constantOf).map((constant) => [constant.name, constant]))
  const places = placesOf(program, constants)
  const written = new Set<Node>()
  for (const { at, name, init, isWhole } of constants.values()) {
    const used = places.get(name) ?? []
    if (code.includes(`${name}$made`) || !used.every(isRead)) continue
    text.overwrite(at.start, init.start, `var ${name}$made; const ${name} = () => ${name}$made ??= `)
    const pattern = patternOf(init)
    if (isWhole && pattern !== undefined) {
      written.add(init)
      text.overwrite(init.start, init.end, madeOf(pattern))
    }
    for (const { node, parent } of used)
      text.appendLeft(node.end, parent.type === "Property" && parent.shorthand ? `: ${name}()` : "()")
  }
  makeInnerLazy(program, text, written)
  return text
}

const argumentsOf = ({ pattern, flags }: Pattern): string => `${JSON.stringify(pattern)}, "${flags}"`
const madeOf = (pattern: Pattern): string => `new RegExp(${argumentsOf(pattern)})`

/** Returns the pattern of a literal that is slow to create. */
function patternOf({ regex }: Node): Pattern | undefined {
  if (typeof regex !== "object" || regex === null) return undefined
  const { pattern, flags } = { pattern: "", flags: "", ...regex }
  return isCostly(pattern) ? { pattern, flags } : undefined
}

/** Matches `const name = /pattern/flags` at the top of a module, or `const name = new RegExp(...)` of strings and other constants. */
function constantOf(at: Node): readonly Constant[] {
  const [only, ...others] = at.type === "VariableDeclaration" && Array.isArray(at.declarations) ? at.declarations : []
  if (!isNode(only) || others.length > 0 || at.kind !== "const" || !isNode(only.id) || !isNode(only.init)) return []
  const { id, init } = only
  if (id.name === undefined) return []
  if (patternOf(init) !== undefined) return [{ at, name: id.name, init, isWhole: true }]
  return isComposed(init) ? [{ at, name: id.name, init, isWhole: false }] : []
}

const listOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : [])

/** True for `new RegExp` of strings, names, word lists and the sources of patterns: the same whenever it is evaluated. */
const isComposed = (node: Node): boolean =>
  node.type === "NewExpression" &&
  isNode(node.callee) &&
  node.callee.name === "RegExp" &&
  listOf(node.arguments).every(isText)

function isText(node: Node): boolean {
  if (node.type === "Literal") return typeof node.value === "string"
  if (node.type === "Identifier") return true
  if (node.type === "TemplateLiteral") return listOf(node.expressions).every(isText)
  if (node.type === "CallExpression") return isAnyOf(node) && listOf(node.arguments).every(isTextOrList)
  return memberOfName(node) === "source"
}

/** True for `anyOf` of src/language/word-lists.ts, which makes a string of word lists. */
const isAnyOf = ({ callee }: Node): boolean => isNode(callee) && /^anyOf(?:\$\d+)?$/.test(callee.name ?? "")

/** True for a string, or `words.people`: a list in a file of words, which nothing changes. */
const isTextOrList = (node: Node): boolean => isText(node) || memberOfName(node) !== undefined

/** Returns the property read of a name: `source` in `word.source`. */
function memberOfName(node: Node): string | undefined {
  if (node.type !== "MemberExpression" || node.computed === true || !isNode(node.property)) return undefined
  return isNode(node.object) && node.object.type === "Identifier" ? node.property.name : undefined
}

/** Methods that start at the beginning of the string, whatever the pattern was used for before. */
const ignoresLastIndex = new Set(["match", "matchAll", "replace", "replaceAll", "search", "split"])

/** True if the same object may be used each time. A pattern that keeps `lastIndex` may be shared only where `lastIndex` is ignored. */
function isShareable({ flags }: Pattern, { node, parent, key }: Place): boolean {
  if (flags.includes("y")) return false
  if (!flags.includes("g")) return true
  const { callee } = parent
  return (
    parent.type === "CallExpression" &&
    key === "arguments" &&
    listOf(parent.arguments)[0] === node &&
    isNode(callee) &&
    isNode(callee.property) &&
    ignoresLastIndex.has(callee.property.name ?? "")
  )
}

const isFunction = ({ type }: Node): boolean => /^(?:ArrowFunctionExpression|Function\w+)$/.test(type)

/** Code added to a chunk: creates the pattern of a place at its first use. */
const helper =
  "var made$; function pattern$(at, source, flags) { return (made$ ??= [])[at] ??= new RegExp(source, flags); }"

/** Rewrites the patterns within functions and tables. */
function makeInnerLazy(program: Node, text: RolldownMagicString, written: ReadonlySet<Node>): void {
  let count = 0
  const visit = (node: Node, parent: Node, key: string, isInFunction: boolean): void => {
    const pattern = written.has(node) ? undefined : patternOf(node)
    if (pattern !== undefined && !isInFunction) text.overwrite(node.start, node.end, madeOf(pattern))
    else if (pattern !== undefined && isShareable(pattern, { node, parent, key }))
      text.overwrite(node.start, node.end, `pattern$(${count++}, ${argumentsOf(pattern)})`)
    for (const [name, value] of Object.entries(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) visit(child, node, name, isInFunction || isFunction(node))
  }
  visit(program, program, "", false)
  if (count > 0) text.append(`\n${helper}`)
}

/** Returns all uses of the names of the constants, except their own declarations and property names. */
function placesOf(program: Node, constants: ReadonlyMap<string, Constant>): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>()
  const visit = (node: Node, parent: Node, key: string): void => {
    const constant = constants.get(node.name ?? "")
    if (node.type === "Identifier" && constant !== undefined && !isPropertyName(parent, key)) {
      const isOwn = node.start >= constant.at.start && node.end <= constant.at.end
      if (!isOwn) places.set(constant.name, [...(places.get(constant.name) ?? []), { node, parent, key }])
    }
    // A pattern on the left of an assignment or in a parameter also has properties, but they declare names.
    const seen =
      node.type === "Property" && parent.type === "ObjectPattern" ? { ...node, type: "PatternProperty" } : node
    for (const [name, value] of Object.entries(node))
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, seen, name)
  }
  visit(program, program, "")
  return places
}

/**
 * True for property names such as `text.word` and `{ word: 1 }`, which are not the constant. The name in `{ word }` is visited as a value.
 */
const isPropertyName = (parent: Node, key: string): boolean =>
  (key === "property" || (key === "key" && parent.type !== "PatternProperty")) && parent.computed !== true

const isRead = ({ parent, key }: Place): boolean => reads.has(`${parent.type}.${key}`)
