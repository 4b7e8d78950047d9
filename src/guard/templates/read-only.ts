import type { Draft, UseOptions } from "../template.ts"

/** The agent looks and changes nothing. */
export type ReadOnly = UseOptions & { readonly template: "read-only" }

export function readOnly(): Draft {
  return {
    rule: "The agent may look and search, and change or send nothing.",
    instead: "Describe the change to the user instead of making it.",
    when: [
      `context.changes || context.actions.containsAny(["send", "write", "delete", "purchase", "disclose", "deploy", "other"])`,
      `context.marks.contains("obscured")`,
    ],
  }
}
