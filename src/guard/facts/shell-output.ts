import { decodeBase64, decodeHex } from "../../language/encoding.ts"
import { anyOf } from "../../language/word-lists.ts"
import words from "./command-words.json" with { type: "json" }
import { anyWord } from "./words.ts"

/** Placeholder in a word for a short value that names no file, host or command: a number, a date, the name of this machine. */
export const shortPart = "\u0003"

/** Matches programs that print settings for the shell that runs them. */
const printsSettings = new RegExp(`^${anyOf(words.printsSettings)}`)

/** Maximum length of output in characters; longer output counts as unknown. */
const maxPrinted = 200_000

/** Computes what a command prints where that follows from its words and its input alone: `echo`, `printf`, filters that decode. */
export function outputOf(words: readonly string[], given: readonly string[], piped: boolean): string | undefined {
  const [name = "", ...rest] = words
  if (printsSettings.test(words.join(" "))) return ""
  const printed = builtin(name.replace(/^.*\//, ""), rest, piped ? undefined : given.join("\n"))
  return printed === undefined || printed.length > maxPrinted ? undefined : printed
}

function builtin(name: string, words: readonly string[], input: string | undefined): string | undefined {
  const operands = words.filter((word) => !/^-./.test(word))
  switch (name) {
    case "echo": {
      const options = words.findIndex((word) => !/^-[neE]+$/.test(word))
      const text = (options < 0 ? [] : words.slice(options)).join(" ")
      return `${words.slice(0, Math.max(0, options)).some((word) => word.includes("e")) ? unescaped(text) : text}\n`
    }
    case "printf":
      return words[0] === "-v" ? "" : formatted(words[0] ?? "", words.slice(1))
    case "pwd":
      return "$PWD"
    case "cat":
    case "tee":
      return operands.length === 0 || (name === "tee" && input !== undefined) || operands.every((word) => word === "-")
        ? input
        : undefined
    case "basename":
      return operands[0]?.replace(/^.*\//, "").replace(operands[1] ?? "", "")
    case "dirname":
      return operands[0]?.replace(/\/?[^/]*$/, "") || "."
    // Short values that name no file, host or command.
    case "date":
    case "nproc":
    case "whoami":
    case "hostname":
    case "uname":
    case "id":
    case "wc":
    case "seq":
    case "arch":
    case "uuidgen":
    case "tty":
      return shortPart
    case "mktemp":
      return `/tmp/${shortPart}`
    case "git":
      return words[0] === "rev-parse" ? (words.includes("--show-toplevel") ? "$PWD" : shortPart) : undefined
    case "which":
    case "command":
      return operands.length === 1 ? operands[0] : undefined
    default:
      return input === undefined ? undefined : filtered(name, words, input)
  }
}

function filtered(name: string, words: readonly string[], input: string): string | undefined {
  const has = (option: RegExp): boolean => anyWord(words, option)
  const operands = words.filter((word) => !word.startsWith("-"))
  if (name === "base64" && has(/^-\w*[dD]|^--decode$/)) return decodeBase64(input)
  if (name === "openssl" && (words[0] === "base64" || words[0] === "enc") && has(/^-d$/) && has(/^-?(?:a|base64)$/))
    return decodeBase64(input)
  if (name === "xxd" && has(/^-\w*r/)) return decodeHex(input.replace(/\s+/g, ""))
  if (name === "rev")
    return input
      .split("\n")
      .map((line) => [...line].reverse().join(""))
      .join("\n")
  if (name === "tr" && operands.length === 2 && !has(/^-/))
    return translated(input, operands[0] ?? "", operands[1] ?? "")
  if (name === "tr" && has(/^-\w*d/) && operands.length === 1) {
    const gone = new Set(charactersOf(operands[0] ?? ""))
    return [...input].filter((sign) => !gone.has(sign)).join("")
  }
  return undefined
}

/** Characters of a set in the notation of `tr`. */
function charactersOf(set: string): readonly string[] {
  const plain = [...unescaped(set.replace(/^\[(.*)\]$/, "$1"))]
  const found: string[] = []
  for (let at = 0; at < plain.length; at++) {
    const from = plain[at] ?? ""
    const to = plain[at + 2]
    if (plain[at + 1] !== "-" || to === undefined) {
      found.push(from)
      continue
    }
    const last = to.codePointAt(0) ?? 0
    for (let code = from.codePointAt(0) ?? 0; code <= last && found.length < 512; code++)
      found.push(String.fromCodePoint(code))
    at += 2
  }
  return found
}

function translated(text: string, from: string, to: string): string | undefined {
  if (from.includes("[:") || to.includes("[:")) return undefined
  const [sources, targets] = [charactersOf(from), charactersOf(to)]
  const table = new Map(sources.map((sign, at) => [sign, targets[Math.min(at, targets.length - 1)] ?? ""]))
  return [...text].map((sign) => table.get(sign) ?? sign).join("")
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\", e: "\u001b", "0": "" }

/** Replaces the escapes of `printf` and `echo -e`. */
const unescaped = (text: string): string =>
  text.replace(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|0?([0-7]{1,3})|(.))/gs,
    (whole, hex, short, long, octal, sign) => {
      const code = hex ?? short ?? long
      if (code !== undefined) return codePoint(Number.parseInt(code, 16))
      if (octal !== undefined) return codePoint(Number.parseInt(octal, 8))
      return escapes[String(sign)] ?? whole
    },
  )

const codePoint = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "")

/** Applies a format to its values, again and again while values remain, as `printf` does. */
function formatted(format: string, values: readonly string[]): string {
  const rest = [...values]
  let printed = ""
  for (let round = 0; round < 100; round++) {
    const before = rest.length
    printed += unescaped(format).replace(/%(?:%|-?\d*(?:\.\d+)?([sbqdiuxc]))/g, (whole, kind) => {
      if (whole === "%%") return "%"
      const value = rest.shift() ?? ""
      return kind === "b" ? unescaped(value) : value
    })
    if (rest.length === 0 || rest.length === before) return printed
  }
  return printed
}

/** Matches programs that print some of the lines of their input. */
const linePrograms = /^(?:head|tail|sort|uniq|grep|egrep|fgrep|rg|cat|tee|shuf|tac)$/

/**
 * Patterns for the file names that a command prints, or passes on from its input: `find src -name "*.ts"` prints `src/**\/*.ts`. Undefined
 * if it may print anything else.
 */
export function listedBy(words: readonly string[], fed: readonly string[] | undefined): readonly string[] | undefined {
  const [name = "", ...rest] = words
  const operands = rest.filter((word) => !word.startsWith("-"))
  const below = (folders: readonly string[]): readonly string[] =>
    folders.length === 0 ? ["**"] : folders.map((one) => `${one}/**`)
  switch (name.replace(/^.*\//, "")) {
    case "find": {
      if (anyWord(rest, /^-(?:printf|exec|execdir|ok|okdir|fprint\w*|ls)$/)) return undefined
      const { roots, names } = foundBy(rest)
      return roots.flatMap((root) => names.map((one) => `${root}/**/${one}`))
    }
    case "ls":
      return operands.length === 0 ? ["*"] : operands.flatMap((one) => [one, `${one}/*`])
    case "git":
      return rest[0] === "ls-files" || rest.includes("--name-only")
        ? below(operands.slice(1).filter((one) => one.includes("/")))
        : undefined
    case "fd":
    case "fdfind":
      return ["**"]
    default:
      if (/^(?:e|f|z)?grep$|^(?:rg|ag)$/.test(name) && anyWord(rest, /^-\w*[lL]\w*$|^--files/))
        return below(operands.slice(1))
      return fed !== undefined && linePrograms.test(name) ? fed : undefined
  }
}

/** Folders that `find` searches, and the patterns of names that it searches for. */
export function foundBy(words: readonly string[]): {
  readonly roots: readonly string[]
  readonly names: readonly string[]
} {
  const first = words.findIndex((word) => /^[-(!]/.test(word) && !/^-[HLPDO]/.test(word))
  const roots = words.slice(0, first < 0 ? words.length : first).filter((word) => !word.startsWith("-"))
  const names = words.flatMap((word, at) =>
    /^-i?(?:name|path|wholename)$/.test(word) && !/^(?:!|-not)$/.test(words[at - 1] ?? "")
      ? [(words[at + 1] ?? "*").replace(/^.*\//, "")]
      : [],
  )
  return { roots: roots.length === 0 ? ["."] : roots, names: names.length === 0 ? ["*"] : names }
}
