import type { Draft, UseOptions } from "../template.ts"

/** No key, credential or password store is opened, and none of their values leaves. */
export type NoSecrets = UseOptions & { readonly template: "no-secrets" }

export function noSecrets(): Draft {
  return {
    rule: "Keys, credentials and other secrets are not read, copied or sent.",
    instead: "Go on without the secret, or ask the user to do the step that needs it.",
    when: [
      "!context.secretPaths.isEmpty()",
      `context.actions.containsAny(["send", "disclose"]) && !context.secrets.isEmpty()`,
      "context.network && !context.secrets.isEmpty() && context.changes",
      `context.marks.contains("obscured")`,
    ],
  }
}
