import { maxCommands, maxScriptDepth, maxWords } from "./leaf.ts"
import { expandBraces } from "./words.ts"

/** One command of a script with what it reads and writes. A part that is known only when it runs is a `*` in its words. */
export type ShellCommand = {
  readonly words: readonly string[]
  readonly writesTo: readonly string[]
  readonly readsFrom: readonly string[]
  /** Text handed to it: a here-document, or what a command before it in the pipe prints. */
  readonly given: readonly string[]
  /** It reads what another command prints. */
  readonly piped: boolean
}

type Script = { readonly commands: readonly ShellCommand[]; readonly tooMany: boolean }

type Draft = {
  words: string[]
  writesTo: string[]
  readsFrom: string[]
  given: string[]
  piped: boolean
}

type Here = { readonly end: string; readonly draft: Draft }

type Parser = {
  readonly text: string
  at: number
  readonly commands: Draft[]
  readonly names: Map<string, string>
  readonly depth: number
  /** What stands for a part that is known only when the script runs. */
  readonly unknown: string
  tooMany: boolean
  heres: Here[]
}

const draft = (piped = false): Draft => ({ words: [], writesTo: [], readsFrom: [], given: [], piped })

const keywords = new Set(
  "if then else elif fi for while until do done case esac in select function { } ! [[ ]] time coproc".split(" "),
)

/** A part that nobody knows may be anything: a pattern that says so, unless the caller tells the two apart. */
const usualUnknown = "*"

/** Split a script into its commands, those within `$(…)`, backticks, subshells and here-documents included. Linear; never throws. */
export function readScript(
  text: string,
  depth = 0,
  names: Map<string, string> = new Map(),
  unknown: string = usualUnknown,
): Script {
  const parser: Parser = { text, at: 0, commands: [], names, depth, unknown, tooMany: false, heres: [] }
  readCommands(parser)
  return { commands: parser.commands.filter(isCommand), tooMany: parser.tooMany }
}

const isCommand = ({ words, writesTo, readsFrom }: Draft): boolean =>
  words.length + writesTo.length + readsFrom.length > 0

function readCommands(parser: Parser): void {
  let now = draft()
  let redirect: "in" | "out" | "here" | "text" | undefined
  const close = (piped = false): void => {
    finish(parser, now)
    now = draft(piped)
  }
  while (parser.at < parser.text.length) {
    if (parser.commands.length > maxCommands) {
      parser.tooMany = true
      return
    }
    const sign = parser.text[parser.at] ?? ""
    const two = parser.text.slice(parser.at, parser.at + 2)
    if (sign === "\n") {
      parser.at++
      close()
      readHeres(parser)
    } else if (/\s/.test(sign)) parser.at++
    else if (two === "\\\n") parser.at += 2
    else if (sign === "#") skipLine(parser)
    else if (two === "&&" || two === "||" || two === ";;") {
      parser.at += 2
      close()
    } else if (two === "<(" || two === ">(") {
      parser.at++
    } else if (sign === "<" || sign === ">" || two === "&>") redirect = readRedirect(parser)
    else if (sign === "|") {
      parser.at += two === "|&" ? 2 : 1
      close(true)
    } else if (/[;&()]/.test(sign)) {
      parser.at++
      close()
    } else {
      const word = readWord(parser)
      redirect = place(parser, now, word, redirect)
    }
  }
  close()
  readHeres(parser)
}

function skipLine(parser: Parser): void {
  const end = parser.text.indexOf("\n", parser.at)
  parser.at = end < 0 ? parser.text.length : end
}

/** The redirection that stands here, or nothing if it only joins two streams. */
function readRedirect(parser: Parser): "in" | "out" | "here" | "text" | undefined {
  const sign = /^(?:&>>?|>>?\||>>?&?|<<<|<<-?|<>|<&?)/.exec(parser.text.slice(parser.at, parser.at + 4))?.[0] ?? ">"
  parser.at += sign.length
  if (sign.endsWith("&") && /[\d-]/.test(parser.text[parser.at] ?? "")) {
    parser.at++
    return undefined
  }
  return sign === "<<<" ? "text" : sign.startsWith("<<") ? "here" : sign.startsWith("<") ? "in" : "out"
}

type Word = { readonly text: string; readonly quoted: boolean }

function place(parser: Parser, now: Draft, { text, quoted }: Word, redirect: string | undefined): undefined {
  if (redirect === "out") now.writesTo.push(text)
  else if (redirect === "in") now.readsFrom.push(text)
  else if (redirect === "text") now.given.push(text)
  else if (redirect === "here") parser.heres.push({ end: text, draft: now })
  else if (/^\d$/.test(text) && /[<>]/.test(parser.text[parser.at] ?? "")) return undefined
  else if (now.words.length === 0 && !quoted && keywords.has(text)) return undefined
  else if (now.words.length >= maxWords) parser.tooMany = true
  else now.words.push(...(quoted || !text.includes("{") ? [text] : expandBraces(text)))
  return undefined
}

function readHeres(parser: Parser): void {
  for (const { end, draft: to } of parser.heres) {
    const lines: string[] = []
    while (parser.at < parser.text.length) {
      const stop = parser.text.indexOf("\n", parser.at)
      const line = parser.text.slice(parser.at, stop < 0 ? undefined : stop)
      parser.at = stop < 0 ? parser.text.length : stop + 1
      if (line.trim() === end.trim()) break
      lines.push(line)
    }
    to.given.push(lines.join("\n"))
  }
  parser.heres = []
}

/** Take assignments off the front of a command, remember them, and keep the rest. */
function finish(parser: Parser, now: Draft): void {
  const first = now.words[0]
  const declares =
    first === "export" || first === "local" || first === "declare" || first === "readonly" || first === "set"
  let at = declares ? 1 : 0
  for (; at < now.words.length; at++) {
    const assigned = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(now.words[at] ?? "")
    if (assigned === null) break
    parser.names.set(assigned[1] ?? "", assigned[2] ?? "")
  }
  if (at > 0 && !declares) now.words = now.words.slice(at)
  const before = parser.commands.at(-1)
  if (now.piped && before !== undefined && /^(?:echo|printf|cat)$/.test(before.words[0] ?? "")) {
    now.given.push(...before.given, before.words.slice(1).join(" "))
  } else if (now.piped && before !== undefined) now.given.push(...before.given)
  if (isCommand(now)) parser.commands.push(now)
}

/** The variable that holds a blank, written where a blank would stand. */
const fieldSeparator = /^(?:\$\{IFS\}|\$IFS)(?:\$\d)?/

/** One word: quotes taken off, known names filled in, and what is known only at run time as `*`. */
function readWord(parser: Parser): Word {
  let text = ""
  let quoted = false
  while (parser.at < parser.text.length) {
    const sign = parser.text[parser.at] ?? ""
    if (/[\s;&|<>()]/.test(sign)) break
    if (sign === "\\") {
      const next = parser.text[parser.at + 1] ?? ""
      // A path of Windows keeps its signs.
      text += next === "\n" ? "" : /[\w]/.test(next) && /^[A-Za-z]:|^\\|\\/.test(text) ? `\\${next}` : next
      parser.at += 2
    } else if (sign === "'") {
      quoted = true
      text += readUntil(parser, "'")
    } else if (sign === '"') {
      quoted = true
      parser.at++
      text += readDouble(parser)
    } else if (sign === "`") text += runInside(parser, readUntil(parser, "`"))
    else if (sign === "$") {
      const blank = fieldSeparator.exec(parser.text.slice(parser.at, parser.at + 8))
      if (blank !== null) {
        parser.at += blank[0].length
        break
      }
      text += readDollar(parser)
    } else {
      text += sign
      parser.at++
    }
  }
  return { text, quoted }
}

function readUntil(parser: Parser, quote: string): string {
  const end = parser.text.indexOf(quote, parser.at + 1)
  const inside = parser.text.slice(parser.at + 1, end < 0 ? undefined : end)
  parser.at = end < 0 ? parser.text.length : end + 1
  return inside
}

function readDouble(parser: Parser): string {
  let text = ""
  while (parser.at < parser.text.length) {
    const sign = parser.text[parser.at] ?? ""
    if (sign === '"') {
      parser.at++
      return text
    }
    if (sign === "\\") {
      const next = parser.text[parser.at + 1] ?? ""
      text += /["\\$`]/.test(next) ? next : next === "\n" ? "" : `\\${next}`
      parser.at += 2
    } else if (sign === "$") text += readDollar(parser)
    else if (sign === "`") text += runInside(parser, readUntil(parser, "`"))
    else {
      text += sign
      parser.at++
    }
  }
  return text
}

const keptNames = /^(?:HOME|USER|PWD|OLDPWD|TMPDIR|USERPROFILE)$/

/** What stands behind a dollar sign: a name, a calculation, a quoted text, a command whose output goes here. */
function readDollar(parser: Parser): string {
  const next = parser.text[parser.at + 1] ?? ""
  if (next === "(") {
    parser.at += 2
    return runInside(parser, readParenthesis(parser))
  }
  if (next === "'") {
    parser.at++
    return readUntil(parser, "'")
  }
  if (next === "{") {
    const end = parser.text.indexOf("}", parser.at)
    const inside = parser.text.slice(parser.at + 2, end < 0 ? undefined : end)
    parser.at = end < 0 ? parser.text.length : end + 1
    const name = /^\w+/.exec(inside)?.[0] ?? ""
    const fallback = /^\w+:?[-=](.*)$/s.exec(inside)?.[1]
    return parser.names.get(name) ?? (keptNames.test(name) ? `$${name}` : (fallback ?? parser.unknown))
  }
  const name = /^[A-Za-z_]\w*|^[\d@*#?$!-]/.exec(parser.text.slice(parser.at + 1, parser.at + 65))?.[0]
  parser.at += 1 + (name?.length ?? 0)
  if (name === undefined) return "$"
  return parser.names.get(name) ?? (keptNames.test(name) ? `$${name}` : parser.unknown)
}

function readParenthesis(parser: Parser): string {
  const start = parser.at
  let open = 1
  for (; parser.at < parser.text.length && open > 0; parser.at++) {
    const sign = parser.text[parser.at]
    if (sign === "(") open++
    else if (sign === ")") open--
    else if (sign === "\\") parser.at++
  }
  return parser.text.slice(start, open === 0 ? parser.at - 1 : undefined)
}

/** Run what stands inside for its commands; what it prints is known only for an echo of plain words, and for the working folder. */
function runInside(parser: Parser, inside: string): string {
  if (parser.depth >= maxScriptDepth) {
    parser.tooMany = true
    return parser.unknown
  }
  const { commands, tooMany } = readScript(inside, parser.depth + 1, parser.names, parser.unknown)
  parser.tooMany ||= tooMany
  const [only] = commands
  for (const { words, writesTo, readsFrom, given, piped } of commands)
    parser.commands.push({
      words: [...words],
      writesTo: [...writesTo],
      readsFrom: [...readsFrom],
      given: [...given],
      piped,
    })
  if (commands.length === 1 && only?.words[0] === "pwd") return "$PWD"
  const echoed = commands.length === 1 && only !== undefined && /^(?:echo|printf)$/.test(only.words[0] ?? "")
  return echoed
    ? only.words
        .slice(1)
        .filter((word) => !word.startsWith("-"))
        .join(" ")
    : parser.unknown
}
