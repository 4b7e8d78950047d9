import { type Draft, requireTexts, type UseOptions } from "../template.ts"

/** The network is used to reach these hosts only; `*.example.com` stands for all below it. */
export type AllowedHosts = UseOptions & { readonly template: "allowed-hosts"; readonly hosts: readonly string[] }

export function allowedHosts({ hosts }: AllowedHosts, name: string): Draft {
  const patterns = requireTexts("hosts", hosts)
  return {
    rule: `The network may only be used to reach ${patterns.join(", ")}.`,
    instead: `Use ${patterns.join(" or ")}, or ask the user.`,
    when: [`context.matches.contains("outside:${name}")`, `context.marks.contains("obscured")`],
    matchers: { [name]: { of: "hosts", patterns } },
  }
}
