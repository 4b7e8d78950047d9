import { refuseOption } from "../../message/errors.ts"
import type { Channel } from "../../message/message.ts"
import { namesIn } from "../../message/present.ts"
import type { OpenKind } from "../facts/leaf.ts"
import { searchable } from "../facts/words.ts"
import type { Matcher } from "./matcher.ts"

/** What a template produces from its parameters. */
export type PolicyDraft = {
  /** The rule in the words shown for a denied call. */
  readonly rule: string
  readonly instead: string
  /** Conditions in Cedar; each of them alone denies the call. */
  readonly when: readonly string[]
  readonly matchers?: Readonly<Record<string, Matcher>>
  /** The decision on a call that breaks the rule, unless the use states one; `deny` by default. */
  readonly decision?: "deny" | "ask"
  /** Unresolved facts that the operator chose to ignore. */
  readonly assume?: readonly OpenKind[]
}

/** What every use of a template may state beside its parameters. */
export type UseOptions = {
  /** The policy's name in answers and traces; by default the template's name. */
  readonly name?: string
  /** The rule in the operator's own words. */
  readonly rule?: string
  /** `ask` asks a person instead of denying. */
  readonly decision?: "deny" | "ask"
  /** The decision on a call for which it is unresolved whether it breaks the rule; `ask` by default. */
  readonly unresolved?: "deny" | "ask"
  /** `observe` only reports what the policy would have decided. */
  readonly mode?: "enforce" | "observe"
  /** Only calls whose texts contain one of these words; all by default. */
  readonly about?: readonly string[]
  /** Who stated `rule`, in a policy from a rule in words; the operator unless given. */
  readonly speaker?: Channel
  /** For readers: where a suggested policy came from, and its confidence. */
  readonly from?: string
  readonly confidence?: number
}

const speakers: readonly Channel[] = namesIn("operator system user assistant memory document tool")

/** True for a channel that a rule can have been stated in. */
export const isSpeaker = (name: unknown): name is Channel => speakers.some((one) => one === name)

/** Requires a list of one or more texts, and trims them. */
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

/** Throws an `option-invalid` Problem that shows the value. */
export function refuseGiven(option: string, expected: string, value: unknown): never {
  refuseOption(option, expected, shown(value))
}

export const shown = (value: unknown): string =>
  Array.isArray(value)
    ? `a list of ${value.length}`
    : typeof value === "string"
      ? JSON.stringify(value.slice(0, 40))
      : String(value).slice(0, 40)

/** Replaces each name in braces by its value; the members of a list are joined by commas, or by "or" for `{name|or}`. */
export const fillWords = (words: string, named: Readonly<Record<string, string | readonly string[]>>): string =>
  words.replace(/\{(\w+)(\|or)?\}/g, (_, name: string, or?: string) =>
    [named[name] ?? ""].flat().join(or === undefined ? ", " : " or "),
  )

export const cedarString = (text: string): string =>
  `"${text
    .toWellFormed()
    .replace(/[\\"]/g, "\\$&")
    .replace(/\p{Cc}/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)}"`

/** Escapes a text for a `like` pattern, in which a star would match anything. */
const cedarPattern = (text: string): string => cedarString(text).slice(1, -1).replaceAll("*", "\\*")

/** Builds the condition that the text of a call contains one of these phrases. */
export const saysOneOf = (phrases: readonly string[]): string =>
  phrases.map((phrase) => `context.text like "*${cedarPattern(searchable(phrase).trimEnd())}*"`).join(" || ")

export const cedarSet = (texts: readonly string[]): string => `[${texts.map(cedarString).join(", ")}]`

/** Returns the line of a byte offset in a text. */
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
