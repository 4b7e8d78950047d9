import type { Channel } from "../../message/channel.ts"

/** How far the thing is that a line speaks of. Printed as [Done], [Failed attempt], [Pending confirmation], [Next]. */
export type LineState = "done" | "failed" | "pending" | "next"

/** One line of a summary: what it says, what it rests on, and with whose authority. */
export type SummaryLine = {
  /** On one line. A quotation of a person is to the letter. */
  readonly text: string
  /** Ids of the messages that it rests on. */
  readonly sources: readonly string[]
  readonly state?: LineState
  /** The channel whose words or deeds these are. A line is never worth more than its sources. */
  readonly channel: Channel
  /** How much is lost without it; comparable within one summary. */
  readonly worth: number
}

export type SchemaName = "handoff" | "snapshot"

export type SummarySection = { readonly name: string; readonly lines: readonly SummaryLine[] }

/** What is worth knowing of messages that are no longer shown, by section of its schema, in the schema's order; empty sections are left out. */
export type Summary = { readonly schema: SchemaName; readonly sections: readonly SummarySection[] }
