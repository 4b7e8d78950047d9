import { callNature } from "../compact/stages/tool-kind.ts"
import { type CallId, callsIn, type ToolCallPart, type Transcript, textOf } from "../message/message.ts"
import { createPerObject } from "../message/recall.ts"
import { sha256Hex } from "../message/sha256.ts"
import type { View } from "./history/view.ts"
import { entryId, type RemovedLookup } from "./log/entry.ts"
import type { LogEvent } from "./log/event.ts"
import type { Live } from "./state/live.ts"

/**
 * Re-reads: a lookup right after a compaction that repeats one from right before it shows that the compaction removed content that was
 * still needed. They are counted for each compaction, and the next one prefers to keep results that were looked up again.
 */

/** Number of lookups before a compaction that are compared: the ones that the current work depends on. */
const maxBefore = 40
/** Number of lookups after a compaction that are compared: a later one has another purpose, or its target may have changed. */
const maxAfter = 12
/** Limit on the characters of a lookup's arguments that are stored. */
const maxTarget = 120

/** The lookups whose results a compaction shows shortened or not at all, newest last. */
export function removedLookups(before: Transcript, after: Transcript): readonly RemovedLookup[] {
  const last = lastLookups(before)
  const calls = new Set(last.map(({ callId }) => callId))
  const shown = new Map(resultsIn(after, calls))
  const whole = new Map(resultsIn(before, calls))
  const removed = last
    .filter(({ callId }) => whole.has(callId) && shown.get(callId) !== whole.get(callId))
    .map(({ key, tool, target }) => ({ key, tool, target }))
  return [...new Map(removed.map((lookup) => [lookup.key, lookup])).values()]
}

function lastLookups(messages: Transcript): readonly Lookup[] {
  const found: Lookup[] = []
  for (const call of callsIn(messages).toReversed()) {
    const lookup = found.length < maxBefore ? lookupOf(call) : undefined
    if (lookup !== undefined) found.push(lookup)
  }
  return found.reverse()
}

const resultsIn = (messages: Transcript, calls: ReadonlySet<CallId>): readonly (readonly [CallId, string])[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool-result" && calls.has(part.callId)
        ? [[part.callId, part.content.map(textOf).join("\n")] as const]
        : [],
    ),
  )

type Lookup = RemovedLookup & { readonly callId: CallId }

const lookupsIn = (messages: Transcript): readonly Lookup[] => callsIn(messages).flatMap((call) => lookupOf(call) ?? [])

/** The lookup of a call that only reads; undefined for others. Tests and commands are run again because something changed. */
const lookupOf = createPerObject((call: ToolCallPart): Lookup | undefined => {
  const { tool, input, callId } = call
  const { kind, writes } = callNature(call)
  if (writes || kind === "shell" || kind === "test") return undefined
  const written = JSON.stringify(sorted(input)) ?? ""
  return { key: sha256Hex(`${tool}\n${written}`).slice(0, 16), tool, target: written.slice(0, maxTarget), callId }
})

/** Sorts the members of all objects in a value, so that the order of arguments does not matter. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  )
}

/** The first calls after a compaction that repeat lookups it removed, each once, unless a call in between changed the target. */
export function rereadsAfter(removed: readonly RemovedLookup[], since: Transcript): readonly Lookup[] {
  const wanted = new Map(removed.map((lookup) => [lookup.key, lookup]))
  const found: Lookup[] = []
  let looked = 0
  for (const call of callsIn(since)) {
    const lookup = lookupOf(call)
    if (lookup === undefined) {
      forgetChanged(wanted, call)
      continue
    }
    if (++looked > maxAfter || wanted.size === 0) break
    if (!wanted.delete(lookup.key)) continue
    found.push(lookup)
  }
  return found
}

/** Removes the lookups whose target a call mentions: it may have changed the target, so that reading it again is no re-read. */
function forgetChanged(wanted: Map<string, RemovedLookup>, { input }: ToolCallPart): void {
  const written = JSON.stringify(input) ?? ""
  for (const [key, { target }] of wanted) {
    const names = [...target.matchAll(/"((?:[^"\\]|\\.){3,})"(?!:)/g)].map(([, value = ""]) => value)
    if (names.some((name) => written.includes(name))) wanted.delete(key)
  }
}

/** Counts the re-reads after the checkpoint in force, for the receipt, and logs new ones. */
export async function noteRereads(
  live: Live,
  { checkpoint, items }: View,
  messages: Transcript,
): Promise<{ readonly count?: number; readonly events: readonly LogEvent[] }> {
  if (checkpoint === 0) return { events: [] }
  const [inForce] = await live.journal.ofType("checkpoint-installed", [checkpoint])
  if (inForce === undefined) return { events: [] }
  const { removed = [], node } = inForce.body
  const since = new Set(
    items.flatMap((item) => (item.type === "shown" && item.entry > node ? [entryId(item.entry)] : [])),
  )
  const after = removed.length === 0 ? [] : messages.filter(({ id }) => since.has(id))
  const found = rereadsAfter(removed, after)
  const outline = live.journal.outline()
  const own = outline.ofType("lookups-repeated").filter((seq) => outline.reference(seq) === checkpoint)
  const told = (await repeatedIn(live, own)).length
  if (found.length <= told) return { count: told, events: [] }
  const fresh = found.slice(told).map(({ key, tool, target }) => ({ key, tool, target }))
  await live.journal.commit(() => [{ type: "lookups-repeated", checkpoint, lookups: fresh }])
  const event = { type: "lookups-repeated" as const, checkpoint: entryId(checkpoint), lookups: fresh }
  live.emit(event)
  return { count: found.length, events: [event] }
}

const repeatedIn = async ({ journal }: Live, seqs?: readonly number[]): Promise<readonly RemovedLookup[]> =>
  (await journal.ofType("lookups-repeated", seqs)).flatMap(({ body }) => body.lookups)

/** The newest call of each lookup that had to be repeated in this session: compactions prefer to keep their results. */
export async function favoredCalls(live: Live, messages: Transcript): Promise<ReadonlySet<CallId>> {
  const repeated = await repeatedIn(live)
  if (repeated.length === 0) return new Set()
  const keys = new Set(repeated.map(({ key }) => key))
  const newest = new Map(lookupsIn(messages).flatMap(({ key, callId }) => (keys.has(key) ? [[key, callId]] : [])))
  return new Set(newest.values())
}
