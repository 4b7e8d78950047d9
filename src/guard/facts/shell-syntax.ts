import {
  type Assignment,
  type Command,
  type CommandNode,
  type HereDocBody,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
  type Word,
  type WordPart,
} from "unbash"
import { present } from "../../message/present.ts"
import { maxCommands, maxScriptDepth, maxWords } from "./leaf.ts"
import { listedBy, outputOf } from "./shell-output.ts"
import {
  combine,
  limited,
  operandValues,
  readArithmetic,
  readTest,
  type Scope,
  unknownPart,
  wordTexts,
  wordValues,
} from "./shell-words.ts"

/** One command of a script with what it reads and writes. In its words, `unknownPart` stands for a part that is known only when it runs. */
export type ShellCommand = {
  readonly words: readonly string[]
  readonly writesTo: readonly string[]
  readonly readsFrom: readonly string[]
  /** Text on its standard input: a here-document, or what a command before it in the pipe prints. */
  readonly given: readonly string[]
  /** True if it reads the output of another command, and that is not known. */
  readonly piped: boolean
  readonly prints?: string
  /** Patterns of the file names that it prints (`lists`), and of those on its standard input (`fed`). */
  readonly lists?: readonly string[]
  readonly fed?: readonly string[]
  /** Variables set for this command alone. */
  readonly sets: ReadonlyMap<string, readonly string[]>
}

type ShellScript = {
  readonly commands: readonly ShellCommand[]
  /** True if the parser for POSIX shell and bash rejects the text, so that a shell may read it in another way. */
  readonly unparsed: boolean
  readonly tooMany: boolean
}

type Walk = Scope & {
  readonly commands: ShellCommand[]
  readonly functions: Map<string, CommandNode | undefined>
  /** Values of `$1` and so on, if they are known. */
  arguments: readonly string[] | undefined
  /** Above 0 inside a branch or loop: what is assigned there may not be assigned when it runs. */
  conditional: number
  depth: number
  unparsed: boolean
  tooMany: boolean
}

/** Matches Windows paths, in which a backslash is no escape. */
const windowsPath = /(?<![\w\\])(?:[A-Za-z]:|%\w+%|\$env:\w+|\$HOME|~|\.{1,2})\\[^\s"';|&<>()]*/gi

/** Reads the commands of a script, including those in substitutions, functions and loops. Never throws. */
export function readScript(text: string, names: ReadonlyMap<string, readonly string[]>): ShellScript {
  const walk: Walk = {
    commands: [],
    names: new Map(names),
    substitute: (script) => substitution(walk, script),
    functions: new Map(),
    arguments: undefined,
    conditional: 0,
    depth: 0,
    unparsed: false,
    tooMany: false,
  }
  const readable = text.includes("\\") ? text.replace(windowsPath, (path) => path.replaceAll("\\", "/")) : text
  // A PowerShell assignment of an environment variable.
  readParsed(
    walk,
    parsed(readable.includes("$env:") ? readable.replace(/(^|[;\n]\s*)\$env:(\w+)\s*=\s*/gi, "$1$2=") : readable),
  )
  return { commands: walk.commands, unparsed: walk.unparsed, tooMany: walk.tooMany }
}

/** Maximum number of open braces in a script that is parsed: the parser searches for the end of each one from the start. */
const maxOpenBraces = 300

function hasManyOpenBraces(text: string): boolean {
  let braces = 0
  for (let at = text.indexOf("{"); at >= 0 && braces <= maxOpenBraces; at = text.indexOf("{", at + 1)) braces++
  if (braces <= maxOpenBraces) return false
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

/** What a command prints: its text, if that is known, and the file names in it, if it prints some. */
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

/** Reads one command, simple or compound; returns what it prints, if that is known. */
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
      // Redirections of a compound command are recorded as a command without a name.
      if (targets.writesTo.length + targets.readsFrom.length > 0)
        walk.commands.push({ words: [], ...targets, piped: false, sets: new Map(), ...printed })
      return printed
    }
    case "Function":
      walk.functions.set(
        wordValues(walk, node.name)[0] ?? "",
        node.body.type === "CompoundList" ? undefined : node.body,
      )
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
      const values = (node.wordlist ?? []).flatMap((word) => wordValues(walk, word))
      assign(walk, node.name.value, node.wordlist === undefined ? (walk.arguments ?? [unknownPart]) : values)
      readConditional(walk, [node.body], input)
      return undefined
    }
    case "ArithmeticFor":
      for (const one of [node.initialize, node.test, node.update]) readArithmetic(walk, one)
      readConditional(walk, [node.body], input)
      return undefined
    case "Case":
      wordValues(walk, node.word)
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
      // Two words side by side are no arithmetic: simpler shells read `((` as two nested subshells.
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

/** Reads commands one after another; returns what a single one prints. */
function readList(walk: Walk, statements: readonly Statement[], input: Input): Output | undefined {
  const [only] = statements
  if (
    statements.length === 1 &&
    only !== undefined &&
    only.command.type !== "AndOr" &&
    only.command.type !== "Pipeline"
  )
    return readNode(walk, only.command, input)
  // Any of the commands may read the input, so all of them get it.
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
  const heads = command.name === undefined ? [] : wordValues(walk, command.name)
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

/**
 * True if a variable as the program name has several values, each of them another command, rather than one value that is split into words.
 */
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
  if (word.type === "Word") return wordValues(walk, word)
  const values = assignedValues(walk, word)
  if (declares) assign(walk, word.name, values, word.append === true)
  return values.map((value) => `${word.name}=${value}`)
}

function assignedValues(walk: Walk, { value }: Assignment): readonly string[] {
  if (value.type === "ArrayValue") return value.elements.flatMap((element) => wordValues(walk, element))
  return limited(wordTexts(walk, value.parts, value, true))
}

function assign(walk: Walk, name: string, values: readonly string[], append = false): void {
  const before = walk.names.get(name) ?? []
  if (append && before.length > 0) {
    const joined = before.flatMap((one) => values.map((value) => `${one}${value}`))
    walk.names.set(name, limited([...joined, ...before.flatMap((one) => values.map((value) => `${one} ${value}`))]))
  } else walk.names.set(name, limited(walk.conditional > 0 ? [...before, ...values] : values))
}

/** Applies commands that set variables to unknown values, and `set --`, whose values are known. */
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
  // Removed meanwhile, so that a recursive function is read once.
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
    else if (redirect.type === "HereString") given.push(...operandValues(walk, redirect.target))
    else {
      const values = operandValues(walk, redirect.target)
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

const hereText = (walk: Walk, { text, parts }: HereDocBody): string =>
  parts === undefined ? text : (combine(walk, parts, true)[0] ?? "")

/** Reads the commands of a substitution; returns what it prints, or `unknownPart`. */
function substitution(walk: Walk, script: ParsedScript | undefined): string {
  if (script === undefined || walk.depth > maxScriptDepth * 2) {
    walk.tooMany = true
    return unknownPart
  }
  walk.depth++
  const from = walk.commands.length
  readParsed(walk, script)
  walk.depth--
  // A pipe prints what its last command prints.
  const last = walk.commands.at(-1)
  const printed = script.commands.length === 1 && walk.commands.length > from ? last : undefined
  return (printed?.prints ?? printed?.lists?.join(" ") ?? unknownPart).replace(/\n+$/, "")
}
