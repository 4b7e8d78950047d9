import type { Arbitrary } from "fast-check"
import { codePoints, fc } from "./property.ts"

/** A number exactly as written, such as `1.0` and `12345678901234567890`, which JSON.parse would change. */
export class Literal {
  readonly digits: string
  constructor(digits: string) {
    this.digits = digits
  }
}

export const literal: Arbitrary<Literal> = fc
  .constantFrom(
    "0",
    "-0",
    "1",
    "1.0",
    "0.10",
    "1e5",
    "1E-7",
    "-12.50",
    "9007199254740993",
    "12345678901234567890",
    "1e400",
  )
  .map((digits) => new Literal(digits))

/** Choices of a JSON writer: white space and escapes, drawn from a list of numbers. */
export type WritingStyle = readonly number[]
export const manner: Arbitrary<WritingStyle> = fc.array(fc.nat(15), { minLength: 1, maxLength: 40 })

const gaps = ["", "", "", "", "", "", "", "", "", " ", "  ", "\n", "\t", " \r\n", "", ""]

/** Writes a value as JSON with the given choices: any white space, any escapes, number literals unchanged. */
export function writeIn(style: WritingStyle, value: unknown): string {
  let at = 0
  const next = (): number => style[at++ % style.length] ?? 0
  const gap = (): string => gaps[next()] ?? ""
  const quoted = (text: string): string => {
    const plain = JSON.stringify(text)
    if (next() < 10) return plain
    return `"${Array.from(text, (sign) => (next() < 8 ? JSON.stringify(sign).slice(1, -1) : escaped(sign))).join("")}"`
  }
  const write = (inner: unknown): string => {
    if (inner instanceof Literal) return inner.digits
    if (typeof inner === "string") return quoted(inner)
    if (Array.isArray(inner)) return `[${gap()}${inner.map((item) => `${gap()}${write(item)}${gap()}`).join(",")}]`
    if (typeof inner !== "object" || inner === null) return JSON.stringify(inner)
    const members = Object.entries(inner).filter(([, held]) => held !== undefined)
    return `{${gap()}${members.map(([key, held]) => `${quoted(key)}${gap()}:${gap()}${write(held)}${gap()}`).join(",")}}`
  }
  return `${gap()}${write(value)}${gap()}`
}

/** Escapes every code unit; the hexadecimal digits are in upper case for every other code unit. */
const escaped = (sign: string): string =>
  Array.from({ length: sign.length }, (_, n) => {
    const code = sign.charCodeAt(n)
    const digits = code.toString(16).padStart(4, "0")
    return `\\u${code % 2 === 0 ? digits : digits.toUpperCase()}`
  }).join("")

/** Generates any JSON value with numbers as literals. */
export const anyJson: Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.string(),
    fc.string({ unit: codePoints }),
    literal,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom("type", "text", "__proto__", "cache_control", "constructor")),
      tie("value"),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
})).value
