import type { PolicyInput } from "../policy/policy-input.ts"
import type { TemplateUse } from "../policy/templates.ts"

/** What an operator can say in a signed command. */
export type Command =
  | {
      readonly type: "pin"
      readonly text: string
      readonly agent?: string
      readonly session?: string
      readonly expiresAtMs?: number
    }
  | { readonly type: "unpin"; readonly rule: string }
  /** One of the same name that came by command is replaced. */
  | { readonly type: "add-policy"; readonly name: string; readonly policy: string | TemplateUse }
  | { readonly type: "remove-policy"; readonly name: string }
  | { readonly type: "approve"; readonly call: string }
  | { readonly type: "refuse"; readonly call: string }

/** What is signed: a command, for whom, in which order, and from when until when it is good. */
export type Payload = {
  readonly audience: string
  readonly sequence: number
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  readonly nonce: string
  readonly command: Command
}

/** The policy of a command as a guard takes it, under the command's name. */
export const inputOf = (name: string, policy: string | TemplateUse): PolicyInput =>
  typeof policy === "string" ? { name, text: policy } : { ...policy, name }
