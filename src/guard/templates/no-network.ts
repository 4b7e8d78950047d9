import type { Draft, UseOptions } from "../template.ts"

/** The agent works on what is here. */
export type NoNetwork = UseOptions & { readonly template: "no-network" }

export function noNetwork(): Draft {
  return {
    rule: "The network is not used.",
    instead: "Work with what is on this machine, or ask the user to fetch it.",
    when: [
      `context.network || !context.hosts.isEmpty() || context.effects.containsAny(["network", "install", "remote-code"])`,
      `!context.media.isEmpty() && context.actions.containsAny(["send", "disclose"])`,
      `context.marks.contains("obscured")`,
    ],
  }
}
