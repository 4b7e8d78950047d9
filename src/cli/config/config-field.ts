import { z } from "zod"
import { isHttpUrl } from "./flags.ts"

/** Limit on the length of a pattern. */
const maxLength = 1000
/** Limit on the ways to match at one offset of a text: enough for one bounded repetition of each part of an address, and little more. */
const maxWays = 500_000
/** The same for two adjacent repetitions, between which every split may have to be tried. */
const maxWaysBeside = 10_000

/** The quantifier of a piece; `most` is infinite without a limit. */
type Size = { readonly least: number; readonly most: number }

/** A piece of a pattern: the offset of its end, and the number of ways in which it can match. */
type Piece = { readonly end: number; readonly ways: number }

type Reading = { readonly source: string; fault: string | undefined }

/**
 * The reason why a pattern could take long on some text, or undefined. The pattern runs on every stored text, and an attacker may write a
 * text for which it takes long. So a repeated piece may match in only one way, and only the last piece may repeat without a limit.
 */
export function slowPattern(source: string): string | undefined {
  if (source.length > maxLength) return `it is longer than ${maxLength} characters`
  if (/\\[1-9]|\\k</.test(source.replace(/\\\\/g, ""))) return "it refers back to what it matched before"
  if (/\(\?<?[=!]/.test(source.replace(/\\./g, ""))) return "it looks ahead or behind"
  const reading: Reading = { source, fault: undefined }
  const { ways } = readGroup(reading, 0, true)
  if (ways > maxWays) reading.fault ??= "its repetitions taken together can match in too many ways"
  return reading.fault
}

/** Reads from `start` to after the closing bracket or the end. The ways of a sequence multiply, those of alternatives add up. */
function readGroup(reading: Reading, start: number, isTop: boolean): Piece {
  const { source } = reading
  let [at, ways, sum, before] = [start, 1, 0, 1]
  while (at < source.length && source[at] !== ")") {
    if (source[at] === "|") {
      ;[at, ways, sum, before] = [at + 1, 1, sum + ways, 1]
      continue
    }
    const piece = source[at] === "(" ? readGroup(reading, contentOf(source, at), false) : readAtom(source, at)
    const { size, end } = readSize(source, piece.end)
    const isEndless = size.most === Number.POSITIVE_INFINITY
    const isLast = isTop && (end >= source.length || source[end] === "|")
    if (isEndless && piece.ways > 1) reading.fault ??= "it repeats without a limit what can match in several ways"
    if (isEndless && !isLast)
      reading.fault ??= `it repeats without a limit in front of something else; {${size.least},100} has one`
    const here = isEndless ? 1 : (size.most - size.least + 1) * piece.ways ** size.most
    if (before > 1 && here > 1 && before * here > maxWaysBeside)
      reading.fault ??= "it has two long repetitions side by side"
    ;[at, ways, before] = [end, ways * here, here]
  }
  return { end: at + 1, ways: sum + ways }
}

/** The offset after `(`, `(?:` or `(?<name>`. */
function contentOf(source: string, at: number): number {
  const head = /\((?:\?(?::|<[^>]*>))?/y
  head.lastIndex = at
  return at + (head.exec(source)?.[0].length ?? 1)
}

/** Reads a character, an escape or a class. */
function readAtom(source: string, at: number): Piece {
  const one = /\\(?:[pPu]\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|.)|\[(?:\\.|[^\]\\])*\]|./suy
  one.lastIndex = at
  return { end: at + (one.exec(source)?.[0].length ?? 1), ways: 1 }
}

function readSize(source: string, at: number): { readonly size: Size; readonly end: number } {
  const sign = /(?:([*+?])|\{(\d{1,9})(,?)(\d{0,9})\})\??/y
  sign.lastIndex = at
  const found = sign.exec(source)
  if (found === null) return { size: once, end: at }
  const [whole, short, from, comma, to = ""] = found
  const least = Number(from)
  const long = { least, most: comma === "" ? least : to === "" ? Number.POSITIVE_INFINITY : Number(to) }
  return { size: (short === undefined ? undefined : shortSizes[short]) ?? long, end: at + whole.length }
}

const once: Size = { least: 1, most: 1 }

const shortSizes: Readonly<Record<string, Size>> = {
  "*": { least: 0, most: Number.POSITIVE_INFINITY },
  "+": { least: 1, most: Number.POSITIVE_INFINITY },
  "?": { least: 0, most: 1 },
}

// Kinds of values. The error text of a schema is what was expected; `faultAt` makes the sentence, where the place of the value is known.

/** A count: tokens, milliseconds, bytes. */
export const whole = (least: number, most: number) => {
  const error = `a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** A part of something. */
export const share = () => {
  const error = "a number from 0 to 1"
  return z.number({ error }).min(0, { error }).max(1, { error })
}

/** Limit on the length of a text: longer than any path, pattern or model name. */
const maxText = 4096

export const text = (error: string) =>
  z
    .string({ error })
    .min(1, { error })
    .max(maxText, { error })
    .refine((value) => !value.includes("\0"), { error })

/** One line of printable characters, as allowed in a header. */
export const headerValue = () =>
  text("one line of text").regex(/^[\x20-\x7e\u00a0-\u00ff]+$/, { error: "one line of text" })

export const oneOf = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, { error: `one of ${names.join(", ")}` })

export const yesOrNo = () => z.boolean({ error: "true or false" })

const maxItems = 1000

export const list = <Item extends z.ZodType>(item: Item, what: string) =>
  z.array(item, { error: `a list of ${what}` }).max(maxItems, { error: `at most ${maxItems} ${what}` })

export const members = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, { error: "an object" })

/** A base URL, without parts that could be a secret, or that would be lost when a path is appended. */
export const httpUrl = () => {
  const error = "an http or https URL without user, password and query"
  return text(error).refine(isHttpUrl, { error })
}

/** A web page's origin as a browser sends it: `https://app.example`. */
export const origin = () => {
  const error = "the origin of a web page, such as https://app.example"
  return text(error).refine((value) => isHttpUrl(value) && new URL(value).origin === value, { error })
}

/** A regular expression without slashes. Patterns that could take long on some text are refused. */
export const pattern = () =>
  text("a regular expression without slashes").superRefine((value, context) => {
    const why = isPattern(value) ? slowPattern(value) : "it is no regular expression in JavaScript's Unicode mode"
    // Report what is wrong, which is more precise than what was expected.
    if (why !== undefined) context.addIssue({ code: "custom", params: { says: `cannot be used: ${why}` } })
  })

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u").source !== ""
  } catch {
    return false
  }
}

const env = members({
  env: text("the name of an environment variable").regex(/^[A-Za-z_]\w{0,199}$/, {
    error: "the name of an environment variable",
  }),
})
const file = members({ file: text("the path of a file that holds the secret") })

export const secretExpected = "{ env: NAME } or { file: PATH }"

/** A reference to a secret. The secret itself is never in a configuration. */
export const secretRef = () => z.union([env, file], { error: secretExpected })

/** A reference to a secret. `from` is the flag that gave it, if it is not from the file. */
export type SecretRef = { readonly env: string; readonly from?: string } | { readonly file: string }
