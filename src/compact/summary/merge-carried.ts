import { announces } from "./cues.ts"
import type { FileDeed } from "./file-deeds.ts"
import { type Focus, raised } from "./focus.ts"
import { maxNotes, type NoteKind } from "./note.ts"
import { rulesSection } from "./schema.ts"
import { isNamed, subjectOf } from "./subject-of.ts"
import type { Summary, SummaryLine } from "./summary.ts"
import { joinDeeds } from "./work.ts"

/** A line and where it stands; of a carried one nobody knows what kind of note it was. */
export type Placed = { readonly section: string; readonly kind?: NoteKind; readonly line: SummaryLine }

/** Sections that say how things stood at the end, so that a later end replaces them whole. */
const momentary = new Set(["current_work", "next_steps"])

/** Sections that hold the assistant's list, of which the latest counts. */
const listing = new Set(["pending_tasks", "current_plan"])

/** What is left of the worth of the oldest and of the newest line of a section that was not heard of since. */
const oldest = 0.6
const newest = 0.9

/** Sections of the user's own words, which age more slowly. */
const ofUser = new Set(["primary_requests", "overall_goal", "user_messages"])

/** Lines of an earlier summary and new ones as one list: the same file, command, call or task once, as it stood last; no word of a carried line is changed. */
export function mergeCarried(fresh: readonly Placed[], carried: Summary, focus: Focus): readonly Placed[] {
  const news = new Map(fresh.map((placed) => [subjectOf(placed.line.text), placed]))
  const past = {
    momentary: fresh.some(({ section }) => momentary.has(section)),
    planned: fresh.some(({ kind }) => kind === "next" || kind === "task"),
    tasks: fresh.some(({ kind }) => kind === "task"),
    heard: fresh.some(({ line }) => line.channel === "user"),
  }
  const kept: Placed[] = []
  const updated = new Map<string, SummaryLine>()
  const seen = new Set<string>()
  for (const placed of carriedLines(carried)) {
    const subject = subjectOf(placed.line.text)
    const key = `${placed.section}\n${subject}`
    if (seen.has(key) || isPast(placed, past)) continue
    seen.add(key)
    const newer = news.get(subject)
    if (newer === undefined)
      kept.push({ ...placed, line: { ...placed.line, worth: raised(placed.line.worth, placed.line.text, focus) } })
    else if (newer.kind === "file") updated.set(subject, joinFiles(placed.line, newer.line))
    else if (isOvercome(placed, newer)) kept.push({ ...placed, line: { ...placed.line, state: "done" } })
  }
  const renewed = fresh.map((placed) => {
    const line = placed.kind === "file" ? updated.get(subjectOf(placed.line.text)) : undefined
    return line === undefined ? placed : { ...placed, line }
  })
  return [...kept, ...renewed]
}

/** Lines of a section stand in the order of their age. */
const carriedLines = ({ sections }: Summary): readonly Placed[] =>
  sections
    .flatMap(({ name, lines }) =>
      lines.map((line, n): Placed => {
        const left = oldest + ((newest - oldest) * (n + 1)) / lines.length
        const share = name === rulesSection ? 1 : ofUser.has(name) ? Math.sqrt(left) : left
        return { section: name, line: { ...line, worth: line.worth * share } }
      }),
    )
    .slice(-maxNotes)

type Past = { readonly momentary: boolean; readonly planned: boolean; readonly tasks: boolean; readonly heard: boolean }

function isPast({ section, line }: Placed, past: Past): boolean {
  if (momentary.has(section)) return past.momentary
  if (!listing.has(section)) return false
  // A question waits for the user only until he speaks; a new list stands for the whole of the old one but for what was done.
  if (line.state === "pending") return past.heard
  if (section === "current_plan" && line.state === "next" && announces.test(line.text)) return past.planned
  return past.tasks && line.state !== "done"
}

/** An error that was written down, and the same command or call went well since. */
const isOvercome = ({ section, line }: Placed, newer: Placed): boolean =>
  line.state === "failed" && newer.kind !== "error" && section !== newer.section && isNamed(line.text)

const deedWords: ReadonlySet<string> = new Set(["created", "edited", "deleted", "read"])
const isDeed = (word: string): word is FileDeed["deed"] => deedWords.has(word)

/** What was done to a file before and after, as if it had been read in one go. */
function joinFiles(older: SummaryLine, newer: SummaryLine): SummaryLine {
  const subject = subjectOf(newer.text)
  const deedsIn = ({ text }: SummaryLine): readonly FileDeed["deed"][] =>
    text
      .slice(subject.length + 2)
      .split(", ")
      .filter(isDeed)
  const joined = deedsIn(newer).reduce(joinDeeds, deedsIn(older))
  const changed = joined.filter((deed) => deed !== "read")
  const shown = changed.length > 0 ? changed : joined
  if (shown.length === 0) return newer
  return {
    ...newer,
    text: `${subject}: ${shown.join(", ")}`,
    worth: Math.max(older.worth, newer.worth),
    sources: [...older.sources, ...newer.sources],
  }
}
