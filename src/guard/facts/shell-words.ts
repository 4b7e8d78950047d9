import type { ArithmeticExpression, ParameterExpansionPart, ParsedScript, TestExpression, Word, WordPart } from "unbash"
import { shortPart } from "./shell-output.ts"
import { expandBraces } from "./words.ts"

/** Placeholder in a word for a part that is known only when the call runs: a variable, what another command prints. */
export const unknownPart = "\u0001"

/** Converts a word to a pattern with `*` for each part that is not known. */
export const asPattern = (word: string): string => word.replaceAll(unknownPart, "*").replaceAll(shortPart, "*")

/** What the words of a script depend on. */
export type Scope = {
  readonly names: Map<string, readonly string[]>
  /** Values of `$1` and so on, if they are known. */
  readonly arguments: readonly string[] | undefined
  /** Reads the commands of a substitution; returns what it prints, or `unknownPart`. */
  readonly substitute: (script: ParsedScript | undefined) => string
}

/** Maximum number of values of one variable or word; with more, it counts as unknown. */
const maxValues = 64

export const limited = (values: readonly string[]): readonly string[] =>
  values.length > maxValues ? [unknownPart] : [...new Set(values)]

/** Marks a blank that splits a word in two, because it came from a variable without quotes. */
const split = "\u0002"

/** The words that one word of a script expands to: its values, split at blanks that came from variables. */
export function wordValues(scope: Scope, word: Word): readonly string[] {
  return limited(
    wordTexts(scope, word.parts, word, false).flatMap((text) => (text.includes(split) ? splitWords(text) : [text])),
  )
}

const splitWords = (text: string): readonly string[] => text.split(split).filter((word) => word !== "")

export function wordTexts(scope: Scope, parts: Word["parts"], { value }: Word, whole: boolean): readonly string[] {
  if (parts === undefined) return [value]
  return combine(scope, parts, whole)
}

/** All texts that the parts can make together. `whole`: they are inside quotes, so that blanks do not split them. */
export function combine(scope: Scope, parts: readonly WordPart[], whole: boolean): readonly string[] {
  let texts: readonly string[] = [""]
  for (const part of parts) {
    const values = partValues(scope, part, whole)
    if (values.length === 1) texts = texts.map((text) => text + (values[0] ?? ""))
    else texts = limited(texts.flatMap((text) => values.map((value) => text + value)))
  }
  return texts
}

function partValues(scope: Scope, part: WordPart, whole: boolean): readonly string[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value]
    case "DoubleQuoted":
    case "LocaleString":
      return combine(scope, part.parts, true)
    case "SimpleExpansion":
      return unquoted(variable(scope, part.text.slice(1)), whole)
    case "ParameterExpansion":
      return unquoted(expansion(scope, part), whole)
    case "CommandExpansion":
      return unquoted([scope.substitute(part.script)], whole)
    case "ProcessSubstitution":
      scope.substitute(part.script)
      return ["/dev/fd/63"]
    case "ArithmeticExpansion":
      readArithmetic(scope, part.expression)
      return [shortPart]
    case "BraceExpansion":
      return expandBraces(part.text)
    case "ExtendedGlob":
      return ["*"]
    case "Glob":
      return [part.text]
  }
}

/** Marks the blanks of a value without quotes as word breaks. */
const unquoted = (values: readonly string[], whole: boolean): readonly string[] =>
  whole ? values : values.map((value) => value.replace(/\s+/g, split))

/** Variables with harmless values: the first kind stays in the word for those who read paths, the second stands for a short value. */
const kept = /^(?:HOME|PWD|OLDPWD|TMPDIR|USERPROFILE)$/
const shortValues = /^(?:RANDOM|SECONDS|LINENO|UID|EUID|PPID|HOSTNAME|USER|LOGNAME|[?$!#-])$/

function variable(scope: Scope, name: string): readonly string[] {
  const known = scope.names.get(name)
  if (known !== undefined) return known
  if (name === "IFS") return [" "]
  if (kept.test(name)) return [`$${name}`]
  if (shortValues.test(name)) return [shortPart]
  if (/^[@*]$/.test(name) && scope.arguments !== undefined) return [scope.arguments.join(" ")]
  if (/^\d$/.test(name) && scope.arguments !== undefined) return [scope.arguments[Number(name) - 1] ?? ""]
  return [unknownPart]
}

function expansion(scope: Scope, { parameter, prefix, operation, index }: ParameterExpansionPart): readonly string[] {
  const values = variable(scope, parameter)
  if (prefix === "#") return [shortPart]
  if (prefix === "!") return values.flatMap((value) => (/^\w+$/.test(value) ? variable(scope, value) : [unknownPart]))
  if (operation === undefined || index !== undefined) return values
  const known = values.every((value) => !value.includes(unknownPart))
  if (operation.type === "Default") {
    const other = operandValues(scope, operation.operand)
    if (operation.operator.includes("=") && !scope.names.has(parameter)) scope.names.set(parameter, other)
    if (operation.operator.includes("?")) return values
    return scope.names.has(parameter) && known
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
    const [from = ""] = operandValues(scope, operation.pattern)
    const [to = ""] = operandValues(scope, operation.replacement)
    if (/[*?[\\]/.test(from) || from.includes(unknownPart)) return [unknownPart]
    return values.map((value) =>
      operation.operator === "//" ? value.replaceAll(from, to) : value.replace(from, () => to),
    )
  }
  if (operation.type === "CaseModification")
    return values.map((value) => (operation.operator.includes("^") ? value.toUpperCase() : value.toLowerCase()))
  // `${name#…}` and `${name%…}` remove a part of the value.
  return operation.type === "Remove"
    ? values.map((value) => removed(value, operation.operator, operation.operand.value))
    : [unknownPart]
}

/** Removes a prefix or suffix: a plain text, or everything up to a character. */
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

export function readArithmetic(scope: Scope, expression: ArithmeticExpression | undefined): void {
  if (expression === undefined) return
  switch (expression.type) {
    case "ArithmeticBinary":
      readArithmetic(scope, expression.left)
      readArithmetic(scope, expression.right)
      return
    case "ArithmeticUnary":
      readArithmetic(scope, expression.operand)
      return
    case "ArithmeticTernary":
      for (const one of [expression.test, expression.consequent, expression.alternate]) readArithmetic(scope, one)
      return
    case "ArithmeticGroup":
      readArithmetic(scope, expression.expression)
      return
    case "ArithmeticWord":
      if (expression.parts !== undefined) combine(scope, expression.parts, true)
      return
    case "ArithmeticCommandExpansion":
      scope.substitute(expression.script)
  }
}

export function readTest(scope: Scope, expression: TestExpression): void {
  switch (expression.type) {
    case "TestUnary":
      wordValues(scope, expression.operand)
      return
    case "TestBinary":
      wordValues(scope, expression.left)
      wordValues(scope, expression.right)
      return
    case "TestLogical":
      for (const one of expression.operands) readTest(scope, one)
      return
    case "TestNot":
      readTest(scope, expression.operand)
      return
    case "TestGroup":
      readTest(scope, expression.expression)
  }
}

export const operandValues = (scope: Scope, word: Word | undefined): readonly string[] =>
  word === undefined ? [] : wordTexts(scope, word.parts, word, true)
