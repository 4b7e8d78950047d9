import type { Message } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { HistoryEntry } from "../../session/history.ts"
import type { Session } from "../../session/session.ts"
import { type Bounds, boundValue } from "./bound-value.ts"

export type ToldEntry = Readonly<Record<string, unknown>>

/** What is told of an entry unless all of it is asked for: enough to know what it is. */
export const entryBounds: Bounds = { text: 2000, items: 100, total: 20_000 }

/** Entries are read so many at a time, and a page of whole ones ends behind so many characters: one may have megabytes. */
const boundedStep = 50
const wholeStep = 5
const wholeLength = 8_000_000

/** An entry with as much of its texts as the bounds say; the wire's own text of a message is told only where all is. */
export function tellEntry(entry: HistoryEntry, full: boolean): ToldEntry {
  if (full) return entry
  const { message, body, ...head } = entry
  const { value, cut } = boundValue(present({ message: message && withoutWire(message), body }), entryBounds)
  return { ...head, ...asRecord(value), ...(cut ? { cut } : {}) }
}

const asRecord = (value: unknown): object => (typeof value === "object" && value !== null ? value : {})

/** The parts say in one form what the wire says in four; a part that only the wire can tell keeps it. */
function withoutWire({ wire: _, parts, ...message }: Message): object {
  return { ...message, parts: parts.map(plainPart) }
}

function plainPart(part: Part): object {
  if (part.type === "opaque" || part.type === "unknown") return part
  const { wire: _, ...plain } = part
  return part.type === "tool-result" ? { ...plain, content: part.content.map(plainPart) } : plain
}

export type EntryPage = { readonly entries: readonly ToldEntry[]; readonly next?: number }

/** A page of a session's log; `next` is where the one behind it begins. */
export async function pageHistory(session: Session, from: number, limit: number, full: boolean): Promise<EntryPage> {
  const told: ToldEntry[] = []
  let length = 0
  let at = from
  while (told.length < limit && length < wholeLength) {
    const step = Math.min(full ? wholeStep : boundedStep, limit - told.length)
    // One more than is told says whether there are more.
    const read = await session.history({ from: at, limit: step + 1 })
    const entries = read.slice(0, step)
    for (const entry of entries) told.push(tellEntry(entry, full))
    if (full) length += JSON.stringify(entries).length
    at = (entries.at(-1)?.seq ?? at) + 1
    if (read.length <= step) return { entries: told }
  }
  return { entries: told, next: at }
}
