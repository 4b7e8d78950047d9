import {
  type ArithmeticExpression,
  type Assignment,
  type Command,
  type CommandNode,
  type HereDocBody,
  type ParameterExpansionPart,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
  type TestExpression,
  type Word,
  type WordPart,
} from "unbash"
import { present } from "../../message/present.ts"
import { maxCommands, maxScriptDepth, maxWords } from "./leaf.ts"
import { listedBy, outputOf, shortPart } from "./shell-output.ts"
import { expandBraces } from "./words.ts"

/** Stands in a word for a part that is known only when the call runs: a variable, what another command prints. */
export const unknownPart = "\u0001"

/** One command of a script with what it reads and writes. A part that is known only when it runs is `unknownPart` in its words. */
export type ShellCommand = {
  readonly words: readonly string[]
  readonly writesTo: readonly string[]
  readonly readsFrom: readonly string[]
  /** Text handed to it: a here-document, or what a command before it in the pipe prints. */
  readonly given: readonly string[]
  /** It reads what another command prints, and nobody knows what that is. */
  readonly piped: boolean
  /** What it prints, if that is known. */
  readonly prints?: string
  /** Patterns of the names of files that it prints, and of those that are handed to it. */
  readonly lists?: readonly string[]
  readonly fed?: readonly string[]
  /** Variables that are set for it alone. */
  readonly sets: ReadonlyMap<string, readonly string[]>
}

/** A word as a pattern, in which what is known only when it runs may be anything. */
export const asPattern = (word: string): string => word.replaceAll(unknownPart, "*").replaceAll(shortPart, "*")

type ShellScript = {
  readonly commands: readonly ShellCommand[]
  /** The text is no script in the grammar of a POSIX shell or bash, so that a shell may read it in another way. */
  readonly unparsed: boolean
  readonly tooMany: boolean
}

type Variables = Map<string, readonly string[]>

type Walk = {
  readonly commands: ShellCommand[]
  readonly names: Variables
  readonly functions: Map<string, CommandNode | undefined>
  /** Values of `$1` and so on, if they are known. */
  arguments: readonly string[] | undefined
  /** What is assigned here may not be assigned when it runs. */
  conditional: number
  depth: number
  unparsed: boolean
  tooMany: boolean
}

/** Values that one variable or word may have; more than that is unknown. */
const maxValues = 64

/** A blank that splits a word in two, because it came out of a variable without quotes. */
const split = "\u0002"

/** Paths of Windows are no escapes. */
const windowsPath = /(?<![\w\\])(?:[A-Za-z]:|%\w+%|\$env:\w+|\$HOME|~|\.{1,2})\\[^\s"';|&<>()]*/gi

/** The commands of a script, those within substitutions, functions, loops and here-documents included. Never throws. */
export function readScript(text: string, names: ReadonlyMap<string, readonly string[]> = new Map()): ShellScript {
  const walk: Walk = {
    commands: [],
    names: new Map(names),
    functions: new Map(),
    arguments: undefined,
    conditional: 0,
    depth: 0,
    unparsed: false,
    tooMany: false,
  }
  const readable = text.includes("\\") ? text.replace(windowsPath, (path) => path.replaceAll("\\", "/")) : text
  // An assignment of PowerShell.
  readParsed(
    walk,
    parsed(readable.includes("$env:") ? readable.replace(/(^|[;\n]\s*)\$env:(\w+)\s*=\s*/gi, "$1$2=") : readable),
  )
  return { commands: walk.commands, unparsed: walk.unparsed, tooMany: walk.tooMany }
}

/** A brace that is never closed is looked for to the end of its word, each one anew: more of them are not read. */
const maxOpenBraces = 300

function hasManyOpenBraces(text: string): boolean {
  let open = 0
  for (const sign of text.matchAll(/[{}\s]/g)) {
    if (sign[0] === "{") open++
    else open = sign[0] === "}" ? Math.max(0, open - 1) : 0
    if (open > maxOpenBraces) return true
  }
  return false
}

function parsed(text: string): ParsedScript | undefined {
  if (hasManyOpenBraces(text)) return undefined
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

function readParsed(walk: Walk, script: ParsedScript | undefined): void {
  if (script === undefined || (script.errors?.length ?? 0) > 0) walk.unparsed = true
  for (const statement of script?.commands ?? []) readStatement(walk, statement)
}

function readStatement(walk: Walk, { command }: Statement): void {
  if (walk.commands.length > maxCommands) {
    walk.tooMany = true
    return
  }
  if (command.type !== "AndOr") {
    readPipeline(walk, command)
    return
  }
  for (const [at, one] of command.commands.entries()) {
    if (at > 0) walk.conditional++
    readPipeline(walk, one)
    if (at > 0) walk.conditional--
  }
}

type Input = { readonly given: readonly string[]; readonly piped: boolean; readonly fed?: readonly string[] }

/** What a command passes on: its text, if that is known, and names of files, if it prints some. */
type Output = { readonly prints?: string; readonly lists?: readonly string[] }
const noInput: Input = { given: [], piped: false }

function readPipeline(walk: Walk, node: PipelineNode): void {
  if (node.type !== "Pipeline") {
    readNode(walk, node, noInput)
    return
  }
  let input = noInput
  for (const command of node.commands) {
    const { prints, lists } = readNode(walk, command, input)
    const fed = lists === undefined ? {} : { fed: lists }
    input = prints === undefined ? { given: [], piped: true, ...fed } : { given: [prints], piped: false, ...fed }
  }
}

/** Read one command, simple or compound; what it prints, if that is known. */
function readNode(walk: Walk, node: CommandNode, input: Input): Output {
  if (walk.depth > 4 * maxScriptDepth) {
    walk.tooMany = true
    return {}
  }
  walk.depth++
  const printed = readKind(walk, node, input)
  walk.depth--
  return printed ?? {}
}

function readKind(walk: Walk, node: CommandNode, input: Input): Output | undefined {
  switch (node.type) {
    case "Command":
      return readCommand(walk, node, input)
    case "Redirected": {
      const targets = redirectsOf(walk, node.redirects)
      const given = targets.given.length > 0 ? { given: targets.given, piped: false } : input
      const printed = readNode(walk, node.command, given)
      // What the whole writes is written by a command without a name.
      if (targets.writesTo.length + targets.readsFrom.length > 0)
        walk.commands.push({ words: [], ...targets, piped: false, sets: new Map(), ...printed })
      return printed
    }
    case "Function":
      walk.functions.set(valuesOf(walk, node.name)[0] ?? "", node.body.type === "CompoundList" ? undefined : node.body)
      return undefined
    case "Coproc":
      if (node.body.type !== "CompoundList") readNode(walk, node.body, noInput)
      return undefined
    case "Subshell":
    case "BraceGroup":
      return readList(walk, node.body.commands, input)
    case "If":
      readList(walk, node.clause.commands, input)
      readConditional(walk, [node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then]), node.else], input)
      return undefined
    case "While":
      readConditional(walk, [node.clause, node.body], input)
      return undefined
    case "For":
    case "Select": {
      const values = (node.wordlist ?? []).flatMap((word) => valuesOf(walk, word))
      assign(walk, node.name.value, node.wordlist === undefined ? (walk.arguments ?? [unknownPart]) : values)
      readConditional(walk, [node.body], input)
      return undefined
    }
    case "ArithmeticFor":
      for (const one of [node.initialize, node.test, node.update]) readArithmetic(walk, one)
      readConditional(walk, [node.body], input)
      return undefined
    case "Case":
      valuesOf(walk, node.word)
      readConditional(
        walk,
        node.items.map(({ body }) => body),
        input,
      )
      return undefined
    case "TestCommand":
      readTest(walk, node.expression)
      return undefined
    case "ArithmeticCommand":
      readArithmetic(walk, node.expression)
      // Two words side by side are no calculation: simpler shells read two brackets as one in another.
      if (/[\w)\]]\s+[\w.~/$"']/.test(node.body)) readParsed(walk, parsed(node.body))
      return undefined
  }
}

type List = { readonly commands: readonly Statement[] } | undefined

function readConditional(walk: Walk, lists: readonly List[], input: Input): void {
  walk.conditional++
  for (const list of lists) if (list !== undefined) readList(walk, list.commands, input)
  walk.conditional--
}

/** Read commands one after another; what a single one prints. */
function readList(walk: Walk, statements: readonly Statement[], input: Input): Output | undefined {
  const [only] = statements
  if (
    statements.length === 1 &&
    only !== undefined &&
    only.command.type !== "AndOr" &&
    only.command.type !== "Pipeline"
  )
    return readNode(walk, only.command, input)
  // The first that reads gets what is handed in: all may.
  const from = walk.commands.length
  for (const statement of statements) readStatement(walk, statement)
  if (input.given.length > 0 || input.piped)
    for (let at = from; at < walk.commands.length; at++) {
      const command = walk.commands[at]
      if (command !== undefined && command.given.length === 0) walk.commands[at] = { ...command, ...input }
    }
  return undefined
}

const declaring = /^(?:export|local|declare|typeset|readonly)$/

function readCommand(walk: Walk, command: Command, input: Input): Output | undefined {
  const sets = new Map<string, readonly string[]>()
  for (const part of command.prefix)
    if (part.type === "Assignment") {
      const values = assignedValues(walk, part)
      sets.set(part.name, values)
      if (command.name === undefined) assign(walk, part.name, values, part.append === true)
      else if (!walk.names.has(part.name)) walk.names.set(part.name, values)
    }
  const heads = command.name === undefined ? [] : valuesOf(walk, command.name)
  const rest = command.args.flatMap((word) => argumentValues(walk, word, declaring.test(heads[0] ?? "")))
  const targets = redirectsOf(walk, command.redirects)
  if (command.name === undefined && targets.writesTo.length + targets.readsFrom.length === 0) return undefined
  const given = targets.given.length > 0 ? targets.given : [...targets.given, ...input.given]
  const piped = (input.piped && targets.given.length === 0) || targets.piped
  const several = command.name !== undefined && isAlternative(walk, command.name)
  const fed = targets.given.length > 0 ? undefined : input.fed
  let printed: Output = {}
  for (const words of several ? heads.map((head) => [head, ...rest]) : [[...heads, ...rest]]) {
    if (words.length > maxWords) walk.tooMany = true
    printed = present({ prints: outputOf(words, given, piped), lists: listedBy(words, fed) })
    const { writesTo, readsFrom } = targets
    const written = { words: words.slice(0, maxWords), writesTo, readsFrom, given, piped, sets }
    walk.commands.push({ ...written, ...present({ fed }), ...printed })
    setByCommand(walk, words, fed)
    callFunction(walk, words, { given, piped })
  }
  return targets.writesTo.length > 0 ? { prints: "" } : printed
}

/** A name that may be one of several commands, as opposed to one that is split into a command with its words. */
const isAlternative = (walk: Walk, { parts = [] }: Word): boolean =>
  parts.some((part) => part.type === "BraceExpansion") === false &&
  parts.some((part) => nameOf(part) !== undefined && (walk.names.get(nameOf(part) ?? "")?.length ?? 0) > 1)

const nameOf = (part: WordPart): string | undefined => {
  if (part.type === "SimpleExpansion") return part.text.slice(1)
  if (part.type === "ParameterExpansion") return part.parameter
  if (part.type === "DoubleQuoted" && part.parts.length === 1 && part.parts[0] !== undefined)
    return nameOf(part.parts[0])
  return undefined
}

function argumentValues(walk: Walk, word: Word | Assignment, declares: boolean): readonly string[] {
  if (word.type === "Word") return valuesOf(walk, word)
  const values = assignedValues(walk, word)
  if (declares) assign(walk, word.name, values, word.append === true)
  return values.map((value) => `${word.name}=${value}`)
}

function assignedValues(walk: Walk, { value }: Assignment): readonly string[] {
  if (value.type === "ArrayValue") return value.elements.flatMap((element) => valuesOf(walk, element))
  return limited(textsOf(walk, value.parts, value, true))
}

function assign(walk: Walk, name: string, values: readonly string[], append = false): void {
  const before = walk.names.get(name) ?? []
  if (append && before.length > 0) {
    const joined = before.flatMap((one) => values.map((value) => `${one}${value}`))
    walk.names.set(name, limited([...joined, ...before.flatMap((one) => values.map((value) => `${one} ${value}`))]))
  } else walk.names.set(name, limited(walk.conditional > 0 ? [...before, ...values] : values))
}

const limited = (values: readonly string[]): readonly string[] =>
  values.length > maxValues ? [unknownPart] : [...new Set(values)]

/** Commands that give variables a value that nobody knows, and `set --`, whose values are known. */
function setByCommand(walk: Walk, words: readonly string[], fed: readonly string[] | undefined): void {
  const [name = ""] = words
  if (name === "read" || name === "mapfile" || name === "readarray" || name === "getopts")
    for (const word of words.slice(1)) if (/^\w+$/.test(word)) walk.names.set(word, fed ?? [unknownPart])
  if (name === "set" && words.includes("--")) walk.arguments = words.slice(words.indexOf("--") + 1)
}

function callFunction(walk: Walk, words: readonly string[], input: Input): void {
  const [name = ""] = words
  const body = walk.functions.get(name)
  if (body === undefined) return
  const outer = walk.arguments
  walk.arguments = words.slice(1)
  // A function that calls itself is read once.
  walk.functions.delete(name)
  readNode(walk, body, input)
  walk.functions.set(name, body)
  walk.arguments = outer
}

type Targets = {
  readonly writesTo: readonly string[]
  readonly readsFrom: readonly string[]
  readonly given: readonly string[]
  readonly piped: boolean
}

function redirectsOf(walk: Walk, redirects: readonly Redirection[]): Targets {
  const writesTo: string[] = []
  const readsFrom: string[] = []
  const given: string[] = []
  let piped = false
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") given.push(hereText(walk, redirect.body))
    else if (redirect.type === "HereString") given.push(...valuesIn(walk, redirect.target))
    else {
      const values = valuesIn(walk, redirect.target)
      const isStream = /^[<>]&$/.test(redirect.operator) && values.every((value) => /^(?:\d+|-)$/.test(value))
      if (isStream) continue
      const streams = processesIn(redirect.target)
      if (streams && redirect.operator.startsWith("<")) piped = true
      else if (!streams)
        (redirect.operator.startsWith("<") && redirect.operator !== "<>" ? readsFrom : writesTo).push(...values)
    }
  }
  return { writesTo, readsFrom, given, piped }
}

const processesIn = (word: Word | undefined): boolean =>
  word?.parts?.some((part) => part.type === "ProcessSubstitution") === true

const valuesIn = (walk: Walk, word: Word | undefined): readonly string[] =>
  word === undefined ? [] : textsOf(walk, word.parts, word, true)

const hereText = (walk: Walk, { text, parts }: HereDocBody): string =>
  parts === undefined ? text : (combine(walk, parts, true)[0] ?? "")

/** The words that one word of a script becomes: its values, split at blanks that came out of variables. */
function valuesOf(walk: Walk, word: Word): readonly string[] {
  return limited(
    textsOf(walk, word.parts, word, false).flatMap((text) => (text.includes(split) ? splitWords(text) : [text])),
  )
}

const splitWords = (text: string): readonly string[] => text.split(split).filter((word) => word !== "")

function textsOf(walk: Walk, parts: Word["parts"], { value }: Word, whole: boolean): readonly string[] {
  if (parts === undefined) return [value]
  return combine(walk, parts, whole)
}

/** All texts that parts make together. `whole`: what stands there is one word, whatever is in it. */
function combine(walk: Walk, parts: readonly WordPart[], whole: boolean): readonly string[] {
  let texts: readonly string[] = [""]
  for (const part of parts) {
    const values = partValues(walk, part, whole)
    if (values.length === 1) texts = texts.map((text) => text + (values[0] ?? ""))
    else texts = limited(texts.flatMap((text) => values.map((value) => text + value)))
  }
  return texts
}

function partValues(walk: Walk, part: WordPart, whole: boolean): readonly string[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value]
    case "DoubleQuoted":
    case "LocaleString":
      return combine(walk, part.parts, true)
    case "SimpleExpansion":
      return unquoted(variable(walk, part.text.slice(1)), whole)
    case "ParameterExpansion":
      return unquoted(expansion(walk, part), whole)
    case "CommandExpansion":
      return unquoted([substitution(walk, part.script)], whole)
    case "ProcessSubstitution":
      substitution(walk, part.script)
      return ["/dev/fd/63"]
    case "ArithmeticExpansion":
      readArithmetic(walk, part.expression)
      return [shortPart]
    case "BraceExpansion":
      return expandBraces(part.text)
    case "ExtendedGlob":
      return ["*"]
    case "Glob":
      return [part.text]
  }
}

/** A value without quotes is split at its blanks. */
const unquoted = (values: readonly string[], whole: boolean): readonly string[] =>
  whole ? values : values.map((value) => value.replace(/\s+/g, split))

/** Names whose values are no secret and lead nowhere else: they stay in the word for whoever reads paths, or stand for anything short. */
const kept = /^(?:HOME|PWD|OLDPWD|TMPDIR|USERPROFILE)$/
const shortValues = /^(?:RANDOM|SECONDS|LINENO|UID|EUID|PPID|HOSTNAME|USER|LOGNAME|[?$!#-])$/

function variable(walk: Walk, name: string): readonly string[] {
  const known = walk.names.get(name)
  if (known !== undefined) return known
  if (name === "IFS") return [" "]
  if (kept.test(name)) return [`$${name}`]
  if (shortValues.test(name)) return [shortPart]
  if (/^[@*]$/.test(name) && walk.arguments !== undefined) return [walk.arguments.join(" ")]
  if (/^\d$/.test(name) && walk.arguments !== undefined) return [walk.arguments[Number(name) - 1] ?? ""]
  return [unknownPart]
}

function expansion(walk: Walk, { parameter, prefix, operation, index }: ParameterExpansionPart): readonly string[] {
  const values = variable(walk, parameter)
  if (prefix === "#") return [shortPart]
  if (prefix === "!") return values.flatMap((value) => (/^\w+$/.test(value) ? variable(walk, value) : [unknownPart]))
  if (operation === undefined || index !== undefined) return values
  const known = values.every((value) => !value.includes(unknownPart))
  if (operation.type === "Default") {
    const other = valuesIn(walk, operation.operand)
    if (operation.operator.includes("=") && !walk.names.has(parameter)) walk.names.set(parameter, other)
    if (operation.operator.includes("?")) return values
    return walk.names.has(parameter) && known
      ? [...values, ...other]
      : operation.operator.includes("+")
        ? [...other, ""]
        : [...other]
  }
  if (!known) return [unknownPart]
  if (operation.type === "Slice") {
    const offset = Number(operation.offset.value)
    const length = operation.length === undefined ? undefined : Number(operation.length.value)
    const sound = Number.isInteger(offset) && (length === undefined || (Number.isInteger(length) && length >= 0))
    return values.map((value) => (sound && !value.startsWith("$") ? value.slice(offset).slice(0, length) : unknownPart))
  }
  if (operation.type === "Replace") {
    const [from = ""] = valuesIn(walk, operation.pattern)
    const [to = ""] = valuesIn(walk, operation.replacement)
    if (/[*?[\\]/.test(from) || from.includes(unknownPart)) return [unknownPart]
    return values.map((value) =>
      operation.operator === "//" ? value.replaceAll(from, to) : value.replace(from, () => to),
    )
  }
  if (operation.type === "CaseModification")
    return values.map((value) => (operation.operator.includes("^") ? value.toUpperCase() : value.toLowerCase()))
  // A beginning or an end is taken away: what is left is a part of it.
  return operation.type === "Remove"
    ? values.map((value) => removed(value, operation.operator, operation.operand.value))
    : [unknownPart]
}

/** What is left of a value when a plain text, or all up to a sign, is taken off one end. */
function removed(value: string, operator: string, pattern: string): string {
  const fromStart = operator.startsWith("#")
  const long = operator.length > 1
  if (!/[*?[]/.test(pattern)) {
    if (fromStart) return value.startsWith(pattern) ? value.slice(pattern.length) : value
    return value.endsWith(pattern) && pattern !== "" ? value.slice(0, -pattern.length) : value
  }
  const sign = pattern.replace("*", "")
  if (sign.length === 0 || /[*?[]/.test(sign)) return unknownPart
  const first = value.indexOf(sign)
  const last = value.lastIndexOf(sign)
  if (first < 0) return value
  if (fromStart && pattern.startsWith("*")) return value.slice((long ? last : first) + sign.length)
  if (!fromStart && pattern.endsWith("*")) return value.slice(0, long ? first : last)
  return unknownPart
}

/** Read the commands of a substitution; what it prints, or that nobody knows. */
function substitution(walk: Walk, script: ParsedScript | undefined): string {
  if (script === undefined || walk.depth > maxScriptDepth * 2) {
    walk.tooMany = true
    return unknownPart
  }
  walk.depth++
  const from = walk.commands.length
  readParsed(walk, script)
  walk.depth--
  // A pipe's last command prints what the whole prints.
  const last = walk.commands.at(-1)
  const printed = script.commands.length === 1 && walk.commands.length > from ? last : undefined
  return (printed?.prints ?? printed?.lists?.join(" ") ?? unknownPart).replace(/\n+$/, "")
}

function readArithmetic(walk: Walk, expression: ArithmeticExpression | undefined): void {
  if (expression === undefined) return
  switch (expression.type) {
    case "ArithmeticBinary":
      readArithmetic(walk, expression.left)
      readArithmetic(walk, expression.right)
      return
    case "ArithmeticUnary":
      readArithmetic(walk, expression.operand)
      return
    case "ArithmeticTernary":
      for (const one of [expression.test, expression.consequent, expression.alternate]) readArithmetic(walk, one)
      return
    case "ArithmeticGroup":
      readArithmetic(walk, expression.expression)
      return
    case "ArithmeticWord":
      if (expression.parts !== undefined) combine(walk, expression.parts, true)
      return
    case "ArithmeticCommandExpansion":
      substitution(walk, expression.script)
  }
}

function readTest(walk: Walk, expression: TestExpression): void {
  switch (expression.type) {
    case "TestUnary":
      valuesOf(walk, expression.operand)
      return
    case "TestBinary":
      valuesOf(walk, expression.left)
      valuesOf(walk, expression.right)
      return
    case "TestLogical":
      for (const one of expression.operands) readTest(walk, one)
      return
    case "TestNot":
      readTest(walk, expression.operand)
      return
    case "TestGroup":
      readTest(walk, expression.expression)
  }
}
