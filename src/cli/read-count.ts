import { HoldfastError } from "../message/errors.ts"

/** A whole number that was given to an option, or a Problem that names the option. */
export function readCount(
  option: string,
  text: string | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (count >= least && count <= most) return count
  const expected = `a whole number from ${least} to ${most}`
  throw new HoldfastError({ code: "option-invalid", option, expected, found: JSON.stringify(text.slice(0, 40)) })
}
