import { cedarSet } from "../policy-text.ts"
import { type Draft, requireTexts, type UseOptions } from "../template.ts"

/** What is sent is written in these languages only. */
export type LanguagePolicy = UseOptions & {
  readonly template: "language-policy"
  /** In two letters, such as en. */
  readonly languages: readonly string[]
  /** What of a longer text in a language that is not known? Refused unless told otherwise. */
  readonly unknown?: "deny" | "allow"
}

export function languagePolicy({ languages, unknown = "deny" }: LanguagePolicy): Draft {
  const codes = requireTexts("languages", languages).map((language) => language.toLowerCase().slice(0, 2))
  const allowed = unknown === "allow" ? [...codes, "und"] : codes
  return {
    rule: `Messages are written in ${codes.join(", ")} only.`,
    instead: `Write the message in ${codes.join(" or ")}.`,
    when: [
      `context.actions.containsAny(["send", "disclose"]) && !(${cedarSet(allowed)}.containsAll(context.languages))`,
    ],
  }
}
