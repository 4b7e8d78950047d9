import { type Draft, requireTexts, type UseOptions } from "../template.ts"

/** E-mail goes to these domains only; `*.example.com` stands for all below it. */
export type EmailDomains = UseOptions & {
  readonly template: "email-domains"
  readonly domains: readonly string[]
  /** What of recipients named without an address? Refused unless told otherwise. */
  readonly unresolved?: "deny" | "allow"
}

export function emailDomains({ domains, unresolved = "deny" }: EmailDomains, name: string): Draft {
  const patterns = requireTexts("domains", domains)
  return {
    rule: `E-mail may only be sent to addresses at ${patterns.join(", ")}.`,
    instead: `Send it to an address at ${patterns.join(", ")}, or ask the user what to do.`,
    when: [
      `context.matches.contains("outside:${name}") && context.actions.containsAny(["send", "disclose", "write", "execute", "other"])`,
      ...(unresolved === "deny" ? [`context.unresolvedRecipients && context.media.contains("email")`] : []),
    ],
    matchers: { [name]: { of: "recipientDomains", patterns } },
  }
}
