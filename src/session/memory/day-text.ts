import type { MemoryRow } from "../../store/memory-row.ts"

/** What ends a line or turns its direction. */
const breaking = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** On one line, and nothing in it that Markdown reads as a link, a picture, markup or a heading. */
const plain = (text: string): string =>
  text
    .replace(breaking, " ")
    .replace(/[\\`*~<>[\]]/g, "\\$&")
    .trim()

/** The first characters of an id tell it from all others of its day. */
const shortId = (id: string): string => plain(id).slice(0, 8)

function lineOf({ atMs, kind, text, channel, trusted, sources, supersededBy }: MemoryRow): string {
  const time = new Date(atMs).toISOString().slice(11, 16)
  const said = supersededBy === undefined ? plain(text) : `~~${plain(text)}~~`
  const marks = [
    ...(trusted ? [] : [`unverified, from ${plain(channel)}`]),
    ...(supersededBy === undefined ? [] : [`superseded by ${shortId(supersededBy)}`]),
    ...(sources.length === 0 ? [] : [`from ${sources.map(plain).join(", ")}`]),
  ]
  return `- ${time} ${plain(kind)}: ${said}${marks.length === 0 ? "" : ` (${marks.join("; ")})`}`
}

/** A day's memory for a person to read: a heading for each session, a line for each row in the order of writing. `total` is how many there are. */
export function dayText(day: string, rows: readonly MemoryRow[], total: number): string {
  const sorted = rows.toSorted((one, other) => one.atMs - other.atMs || (one.id < other.id ? -1 : 1))
  const sessions = [...Map.groupBy(sorted, ({ session }) => session)].flatMap(([session, lines]) => [
    "",
    `## Session ${plain(session)}`,
    "",
    ...lines.map(lineOf),
  ])
  const missing = total - rows.length
  const rest = missing > 0 ? ["", `${missing} earlier ${missing === 1 ? "line is" : "lines are"} not shown.`] : []
  return [`# ${day}`, ...sessions, ...rest, ""].join("\n")
}
