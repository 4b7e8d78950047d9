import { present } from "../../message/present.ts"
import type { HistoryEntry } from "../../session/history.ts"
import { type CheckpointBody, entryId } from "../../session/log/entry.ts"
import type { Checkpoint } from "../../session/overview.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type Bounds, boundValue } from "./bound-value.ts"

type Fields = Readonly<Record<string, unknown>>

/** What is told of one compaction: a long session has hundreds of results to name. */
const compactionBounds: Bounds = { text: 8000, items: 500, total: 200_000 }

/** A compaction for a person: how large it was and became, what was kept, shortened and left out and why, and what stands there instead. */
export function tellCompaction(checkpoint: Checkpoint, { body }: Pick<HistoryEntry, "body">): Fields {
  if (body?.type !== "checkpoint-installed") return checkpoint
  const events = eventsIn(body.trace)
  const ofType = (...types: readonly string[]): readonly Fields[] =>
    events.filter(({ type }) => typeof type === "string" && types.includes(type))
  const told = {
    why: ofType("plan-made").map((event) => pick(event, ["plan", "sizes", "weighing"]))[0],
    kept: keptIn(body),
    shortened: ofType("result-shortened", "part-replaced").map(({ messageId, ...event }) => ({
      entry: messageId,
      ...pick(event, ["callId", "part", "reason", "beforeTokens", "afterTokens"]),
    })),
    leftOut: ofType("messages-dropped").map(({ messageIds, ...event }) => ({
      entries: messageIds,
      ...pick(event, ["reason", "tokens"]),
    })),
    installed: ofType("message-installed").map(({ role, message }) => ({ role, text: textIn(message) })),
    rejected: ofType("remedy-rejected").map((event) => pick(event, ["remedy", "failures"])),
    digest: digestIn(body),
    events: countsOf(events),
  }
  const { value, cut } = boundValue(told, compactionBounds)
  return { ...checkpoint, ...(isObject(value) ? value : {}), ...(cut ? { cut } : {}) }
}

function eventsIn(trace: string): readonly Fields[] {
  const events = tryParse(trace)
  return Array.isArray(events) ? events.filter(isObject) : []
}

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))

/** The entries that the model saw afterwards, whole or in part, and how many messages of our own beside them. */
function keptIn({ items, standing, base }: CheckpointBody): Fields {
  const shown = items.flatMap((item) => (item.type === "shown" ? [item] : []))
  return {
    whole: shown.filter(({ edits }) => edits === undefined).map(({ entry }) => entryId(entry)),
    inPart: shown.filter(({ edits }) => edits !== undefined).map(({ entry }) => entryId(entry)),
    standing: standing.map(entryId),
    made: items.length - shown.length,
    ...present({ onTopOf: base === 0 ? undefined : entryId(base) }),
  }
}

/** The words of a message of our own. */
function textIn(message: unknown): string {
  const parts = isObject(message) && Array.isArray(message.parts) ? message.parts.filter(isObject) : []
  return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n")
}

/** The summary by its sections: each line with the entries that it rests on. */
function digestIn({ summary }: CheckpointBody): Fields | undefined {
  const digest = summary === undefined ? undefined : tryParse(summary)
  return isObject(digest) ? pick(digest, ["schema", "sections"]) : undefined
}

function countsOf(events: readonly Fields[]): Fields {
  const counts = new Map<string, number>()
  for (const { type } of events) counts.set(String(type), (counts.get(String(type)) ?? 0) + 1)
  return Object.fromEntries(counts)
}
