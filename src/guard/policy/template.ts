import { refuseOption } from "../../message/errors.ts"
import type { OpenKind } from "../facts/leaf.ts"
import { searchable } from "../facts/words.ts"
import type { Matcher } from "./matcher.ts"

/** What a template makes of its parameters. */
export type PolicyDraft = {
  /** The rule in the words that a refused call is answered with. */
  readonly rule: string
  readonly instead: string
  /** Conditions in Cedar; each forbids the call on its own. */
  readonly when: readonly string[]
  readonly matchers?: Readonly<Record<string, Matcher>>
  /** What becomes of a call that breaks the rule, unless the use says otherwise. Refused unless given. */
  readonly decision?: "deny" | "ask"
  /** Unresolved facts that the operator has said not to mind. */
  readonly assume?: readonly OpenKind[]
}

/** What all uses of templates may say beside their parameters. */
export type UseOptions = {
  /** Names the policy in answers and traces; the template's name unless given. */
  readonly name?: string
  /** The rule in the operator's own words. */
  readonly rule?: string
  /** `ask` hands the decision to a person instead of refusing. */
  readonly decision?: "deny" | "ask"
  /** What becomes of a call that leaves open whether it breaks the rule: asked about, unless `deny` is given. */
  readonly unresolved?: "deny" | "ask"
  /** `observe` only reports what the policy would have done. */
  readonly mode?: "enforce" | "observe"
  /** Only calls whose texts say one of these words; all unless given. */
  readonly about?: readonly string[]
  /** Where a suggested policy came from, and how sure it is; for whoever reads it. */
  readonly from?: string
  readonly confidence?: number
}

/** A list of texts that a template cannot do without. */
export function requireTexts(option: string, value: readonly string[]): readonly string[] {
  const sound =
    Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === "string" && text.trim() !== "")
  if (sound) return value.map((text) => text.trim())
  refuseGiven(option, "a list of one or more texts", value)
}

export function requireAmount(option: string, value: number): number {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= 1e12) return value
  refuseGiven(option, "a number from 0 to 1e12", value)
}

/** Refuse an option for the value that was given. */
export function refuseGiven(option: string, expected: string, value: unknown): never {
  refuseOption(option, expected, shown(value))
}

export const shown = (value: unknown): string =>
  Array.isArray(value)
    ? `a list of ${value.length}`
    : typeof value === "string"
      ? JSON.stringify(value.slice(0, 40))
      : String(value).slice(0, 40)

/** Words with each name in braces filled in; of a list its members, with commas or `{name|or}` between them. */
export const fillWords = (words: string, named: Readonly<Record<string, string | readonly string[]>>): string =>
  words.replace(/\{(\w+)(\|or)?\}/g, (_, name: string, or?: string) =>
    [named[name] ?? ""].flat().join(or === undefined ? ", " : " or "),
  )

export const cedarString = (text: string): string =>
  `"${text
    .toWellFormed()
    .replace(/[\\"]/g, "\\$&")
    .replace(/\p{Cc}/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)}"`

/** A text inside a pattern of `like`, where a star would mean anything. */
const cedarPattern = (text: string): string => cedarString(text).slice(1, -1).replaceAll("*", "\\*")

/** Does the text of a call say one of these? */
export const saysOneOf = (phrases: readonly string[]): string =>
  phrases.map((phrase) => `context.text like "*${cedarPattern(searchable(phrase).trimEnd())}*"`).join(" || ")

export const cedarSet = (texts: readonly string[]): string => `[${texts.map(cedarString).join(", ")}]`

/** The line in which a byte of a text stands. */
export function lineAt(text: string, byte: number): number {
  let bytes = 0
  let line = 1
  for (const sign of text) {
    if (bytes >= byte) break
    const code = sign.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (sign === "\n") line++
  }
  return line
}
