import type { Draft, UseOptions } from "../template.ts"

/** Production is looked at and not changed. */
export type NoProductionWrites = UseOptions & { readonly template: "no-production-writes" }

export function noProductionWrites(): Draft {
  return {
    rule: "Nothing in production is changed.",
    instead: "Read from production, make the change on staging, or ask the user.",
    when: [
      `context.environments.contains("production") && (context.changes || !context.destructive.isEmpty())`,
      `context.marks.contains("obscured")`,
    ],
  }
}
