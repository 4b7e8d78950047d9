import type { Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { type Focus, focusOf, raised } from "./focus.ts"
import { mergeCarried, type Placed } from "./merge-carried.ts"
import type { Note } from "./note.ts"
import { notesOf } from "./notes.ts"
import { schemas } from "./schema.ts"
import { sectionOf } from "./section-of.ts"
import type { SchemaName, Summary } from "./summary.ts"

export type ExtractiveOptions = {
  readonly schema: SchemaName
  /** What whoever asked for the summary cares about most, in any words. */
  readonly focus?: string
  /** What an earlier digest of the same conversation says: its lines go on unless something newer takes their place. */
  readonly carried?: Summary
  /** The notes of these messages, where somebody has them already. */
  readonly notes?: readonly Note[]
}

/**
 * Every line that a summary of these messages might have, each with its worth; no model, no budget. The first request is not among them
 * unless there is an earlier summary, because it stands in the digest as the goal.
 */
export function writeExtractive(
  messages: Transcript,
  { schema, focus = "", carried, notes = notesOf(messages) }: ExtractiveOptions,
): Summary {
  const goal =
    carried === undefined ? notes.find(({ kind, channel }) => kind === "request" && channel === "user") : undefined
  const cares = focusOf(focus)
  const fresh = latestOfEach(notes.filter((note) => note !== goal).map((note) => place(note, schema, cares)))
  return inOrder(schema, carried === undefined ? fresh : mergeCarried(fresh, carried, cares))
}

function place({ kind, text, sources, state, channel, worth }: Note, schema: SchemaName, focus: Focus): Placed {
  const line = { text, sources, ...present({ state }), channel, worth: raised(worth, text, focus) }
  return { section: sectionOf(schema, kind), kind, line }
}

/** What is said twice in a section stands there once, where it was said last. */
function latestOfEach(placed: readonly Placed[]): readonly Placed[] {
  const latest = new Map(placed.map((one) => [`${one.section}\n${one.line.text}`, one]))
  return placed.filter((one) => latest.get(`${one.section}\n${one.line.text}`) === one)
}

/** The lines under the sections of the schema, and those of sections that it does not know behind them. */
function inOrder(schema: SchemaName, placed: readonly Placed[]): Summary {
  const bySection = Map.groupBy(placed, ({ section }) => section)
  const known = schemas[schema].map(({ name }) => name)
  const names = [...known, ...[...bySection.keys()].filter((name) => !known.includes(name))]
  const sections = names.flatMap((name) => {
    const lines = (bySection.get(name) ?? []).map(({ line }) => line)
    return lines.length === 0 ? [] : [{ name, lines }]
  })
  return { schema, sections }
}
