import { present } from "../message/present.ts"
import type { FoundRule } from "../rules/rule.ts"
import type { RuleBody } from "./log/entry.ts"

/** Where in a message something was said. */
export type SaidAt = Omit<NonNullable<RuleBody["place"]>, "entry">

/** A rule that a message says, and where in the message. */
export type SaidRule = Omit<RuleBody, "place"> & { readonly at: SaidAt }

/** A rule that was found, as it is written down. */
export const bodyOf = (rule: FoundRule, at: SaidAt, source: string | undefined): SaidRule => ({
  type: "rule-pinned",
  text: rule.text,
  channel: rule.channel,
  by: "found",
  kind: rule.kind,
  explicitness: rule.explicitness,
  at,
  ...present({ source, context: rule.needsContext ? rule.context : undefined }),
})
