import type { Draft, UseOptions } from "../template.ts"

/** Nothing of production is dropped, truncated, deleted or torn down. */
export type NoDestruction = UseOptions & {
  readonly template: "no-production-destruction"
  /** What of data and infrastructure whose environment nobody names? Refused unless told otherwise. */
  readonly unmarked?: "deny" | "allow"
}

export function noDestruction({ unmarked = "deny" }: NoDestruction): Draft {
  return {
    rule: "No destructive operations on production.",
    instead: "Read instead, act on staging, or ask the user to do it.",
    when: [
      `!context.destructive.isEmpty() && context.environments.contains("production")`,
      `context.marks.contains("obscured")`,
      ...(unmarked === "deny"
        ? [`context.destructive.containsAny(["data", "infrastructure"]) && context.environments.isEmpty()`]
        : []),
    ],
  }
}
