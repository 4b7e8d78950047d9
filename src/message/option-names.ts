import { refuseOption, refuseValue } from "./errors.ts"
import { nearest } from "./nearest.ts"
import type { Words } from "./present.ts"

/** The members that only one of the two has. */
type Difference<One, Other> = Exclude<One, Other> | Exclude<Other, One>

/** Returns the names of an options object as a list; the compiler reports missing and unknown names. */
export const optionNames =
  <Options>() =>
  <Names extends string>(
    names: [Difference<keyof Options, Words<Names>>] extends [never]
      ? Names
      : `not in both: ${string & Difference<keyof Options, Words<Names>>}`,
  ): readonly string[] =>
    names.split(" ")

/**
 * Rejects an option that does not exist, and suggests the one that was probably meant: in plain JavaScript nobody else would notice, and
 * the default would be used. `within` is the option that contains this object, if any.
 */
export function checkOptionNames(given: object, names: readonly string[], owner: string, within?: string): void {
  const path = (name: string): string => (within === undefined ? name : `${within}.${name}`)
  if (typeof given !== "object" || given === null || Array.isArray(given))
    refuseOption(
      within ?? `object of ${owner}`,
      "an object with options",
      given === null ? "null" : Array.isArray(given) ? "a list" : typeof given,
    )
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || names.includes(name)) continue
    const meant = nearest(name, names)
    const expected = meant === undefined ? `one of ${names.map(path).join(", ")}` : path(meant)
    const option = path(name.slice(0, 80))
    refuseOption(option, expected, `no option of ${owner}`)
  }
}

/** Limit on names of agents, sessions and kinds. */
const maxNameLength = 500

/** Rejects an invalid name; the error states the option. */
export function checkName(option: string, name: unknown): void {
  if (typeof name !== "string" || name === "" || name.length > maxNameLength)
    refuseValue(option, `text of 1 to ${maxNameLength} characters`, name)
}
