import type { Guard } from "../guard.ts"
import type { PolicyInput } from "../policy/policy-input.ts"

/** A rule that only the operator can give and take back. */
export type OperatorRule = {
  /** The same after every restart: `rules.md#3:ab12cd34` of a file, `c12` of the command in line 12 of the audit log. */
  readonly id: string
  /** To the letter. */
  readonly text: string
  /** The file, or the fingerprint of the key that signed it. */
  readonly source: string
  /** For this agent or session alone; for all where neither is said. */
  readonly agent?: string
  readonly session?: string
  readonly expiresAtMs?: number
}

/** All that the operator wants, at one moment. */
export type Standing = {
  /** Another one whenever anything below is another. */
  readonly version: string
  readonly rules: readonly OperatorRule[]
  readonly policies: readonly PolicyInput[]
  /** Made of `policies`; absent where there are none. */
  readonly guard?: Guard
}
