import type { Context } from "hono"
import { startOfText } from "../../language/cut-text.ts"
import { HoldfastError } from "../../message/errors.ts"

type NumberBounds = { readonly least: number; readonly most: number }

const wrong = (name: string, expected: string, found: string): HoldfastError =>
  new HoldfastError({
    code: "request-invalid",
    path: `?${name}=`,
    expected,
    found: JSON.stringify(startOfText(found, 40)),
  })

/** A query parameter; refused if it is repeated. */
export function readTextParameter(c: Context, name: string, maxLength = 200): string | undefined {
  const [first, ...others] = c.req.queries(name) ?? []
  if (first === undefined) return undefined
  if (others.length > 0) throw wrong(name, "one value", `${others.length + 1} values`)
  if (first === "" || first.length > maxLength || /[\p{Cc}\p{Cs}]/u.test(first))
    throw wrong(name, `a text of 1 to ${maxLength} characters`, first)
  return first
}

/** An integer parameter within its limits, or the default. */
export function readNumber(c: Context, name: string, usual: number, { least, most }: NumberBounds): number {
  const text = readTextParameter(c, name)
  if (text === undefined) return usual
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most)) throw wrong(name, `a whole number from ${least} to ${most}`, text)
  return value
}

export function readFlag(c: Context, name: string): boolean {
  const text = readTextParameter(c, name)
  if (text !== undefined && text !== "0" && text !== "1") throw wrong(name, "1 or 0", text)
  return text === "1"
}

/** Throws: invalid query parameter. */
export const refuseText = (name: string, expected: string, found: string): never => {
  throw wrong(name, expected, found)
}
