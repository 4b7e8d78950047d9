import type { PersonalKind } from "../personal.ts"
import { cedarSet } from "../policy-text.ts"
import { type Draft, requireTexts, type UseOptions } from "../template.ts"

/** Personal data is not sent or disclosed. */
export type NoPersonalData = UseOptions & {
  readonly template: "no-personal-data"
  /** Those that the rule is about; numbers that identify a person or an account unless given. */
  readonly kinds?: readonly PersonalKind[]
}

const identifying: readonly PersonalKind[] = ["ssn", "card", "iban", "passport", "national-id", "account", "birth-date"]

export function noPersonalData({ kinds = identifying }: NoPersonalData): Draft {
  const set = cedarSet(requireTexts("kinds", kinds))
  return {
    rule: `Personal data (${kinds.join(", ")}) is not disclosed.`,
    instead: "Leave the personal data out or mask it, or ask the user.",
    when: [
      `context.actions.containsAny(["send", "disclose"]) && context.personal.containsAny(${set})`,
      `context.network && context.changes && context.personal.containsAny(${set})`,
    ],
  }
}
