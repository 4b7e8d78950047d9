import type { Fact } from "../facts/fact.ts"
import type { Summary } from "./summary.ts"

/** The first thing that the user asked for, to the letter as far as it is shown. */
export type Goal = { readonly text: string; readonly source: string; readonly whole: boolean }

/** What stands in place of messages that are no longer shown: one text, fenced, of the user's role and no one's authority. */
export type Digest = {
  /** How many messages it stands for, those of the digests that it took over included. */
  readonly covered: number
  readonly goal?: Goal
  readonly summary: Summary
  /** The fact ledger's text and the facts that stand in it. */
  readonly ledger: { readonly text: string; readonly facts: readonly Fact[] }
  /** Printed in as few words as it can be read back from. */
  readonly brief?: true
}
