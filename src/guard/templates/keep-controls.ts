import type { Draft, UseOptions } from "../template.ts"

/** Audit logs, logging, firewalls and other security controls stay on. */
export type KeepControls = UseOptions & { readonly template: "keep-security-controls" }

export function keepControls(): Draft {
  return {
    rule: "Security controls such as audit logging, authentication and firewalls are not disabled or tampered with.",
    instead: "Leave the control on, or ask the user to change it.",
    when: ["!context.controlsOff.isEmpty()", `context.marks.contains("obscured")`],
  }
}
