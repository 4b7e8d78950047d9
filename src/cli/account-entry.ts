import type { Explanation } from "../session/explain.ts"
import type { HistoryEntry } from "../session/history.ts"
import { entryFrom, entryWords } from "./entry-words.ts"
import { moment, type Paper, paragraph } from "./paper.ts"
import { clip, wrap } from "./printable.ts"
import { shortenWords } from "./words.ts"

const stateWords: Readonly<Record<Explanation["state"], string>> = {
  shown: "whole, as it came in",
  shortened: "in part",
  summarized: "not itself; a digest stands for it",
  "other-branch": "not at all: the history went another way",
  "not-a-message": "not at all: it is no message",
}

/** More rows of a text are not shown here; --json has all of it. */
const maxRows = 60
/** No more of a text than can fill them is looked at. */
const maxLooked = 20_000
/** So many digest lines, or events of a trace, are told. */
const maxListed = 20

/** What became of one entry, for a person to read. */
export function accountEntry(entry: HistoryEntry, explanation: Explanation, paper: Paper): readonly string[] {
  const { changes, lines, state } = explanation
  const words = entryWords(entry)
  const rows = wrap(words.slice(0, maxLooked), paper.width - 2)
  const isCut = rows.length > maxRows || words.length > maxLooked
  const events = eventsOf(explanation.trace)
  return [
    paper.bold(`Entry ${entry.id}, ${entryFrom(entry)}, ${moment(entry.atMs)} (UTC)`),
    ...rows.slice(0, maxRows).map((row) => `${paper.dim("|")} ${row}`.trimEnd()),
    ...(isCut ? [paper.dim("It is longer; --json has all of it.")] : []),
    "",
    ...paragraph("Shown now", `${stateWords[state]}.`, paper),
    ...changes.flatMap(({ checkpoint, atMs, undone, what, reason }, n) => {
      const done = `${what === "shortened" ? "shortened" : "left out"} by ${checkpoint}, ${moment(atMs)}`
      const text = `${done}: ${reasonWords(reason)}${undone ? "; undone since" : ""}`
      return paragraph(n === 0 ? "Changed" : "", text, paper)
    }),
    ...lines
      .slice(0, maxListed)
      .flatMap((line, n) => paragraph(n === 0 ? "Digest" : "", clip(line, paper.width * 2), paper)),
    ...events.flatMap((event, n) => paragraph(n === 0 ? "Trace" : "", event, paper)),
  ]
}

const isShortening = (reason: string): reason is keyof typeof shortenWords => Object.hasOwn(shortenWords, reason)
const reasonWords = (reason: string): string => (isShortening(reason) ? shortenWords[reason] : reason)

/** The events of a trace by type, with how many of each. */
function eventsOf(trace: unknown): readonly string[] {
  if (!Array.isArray(trace)) return []
  const counts = new Map<string, number>()
  for (const event of trace) {
    const type = typeof event === "object" && event !== null ? String(event.type) : "unknown"
    counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return [...counts].slice(0, maxListed).map(([type, times]) => (times === 1 ? type : `${type}, ${times} times`))
}
