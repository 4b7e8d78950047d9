import { applyEdits, type Shortening } from "../../compact/stages/edit.ts"
import { ownMessage } from "../../compact/standing.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Message } from "../../message/message.ts"
import { present, sumOf } from "../../message/present.ts"
import { type CheckpointBody, entryId, eventsOfTrace, type Item, seqOf } from "../../session/log/entry.ts"
import { createMeter } from "../../tokens/meter.ts"
import { isObject } from "../../wire/json.ts"
import type { CompactionAnswer, CompactionItem, MessageLine, ViewNow } from "./answers.ts"
import { handoffLines, messageLine, messageText } from "./handoff-lines.ts"
import type { Profile } from "./session-profile.ts"

/** A message of a view: of the log, with its edits, or a generated one. */
type ViewItem = { readonly seq?: number; readonly message: Message; readonly edits?: readonly Shortening[] }

type OpenedCompaction = Awaited<ReturnType<typeof openCompaction>>

/** Reads the views before and after a compaction, with their messages; `whole` has the full log messages of both. */
export async function openCompaction(profile: Profile, id: string) {
  const { outline, session } = profile
  const checkpoint = await readCheckpoint(profile, seqOf(id) ?? 0)
  if (checkpoint === undefined)
    throw new HoldfastError({ code: "entry-unknown", session, entry: JSON.stringify(id.slice(0, 40)) })
  const under = await readCheckpoint(profile, checkpoint.base)
  const since = (under && outline.path(checkpoint.node, under.node)) ?? outline.path(checkpoint.node) ?? []
  const shown = [...(under?.items ?? []), ...checkpoint.items].flatMap((item) =>
    item.type === "shown" ? item.entry : [],
  )
  const whole = await profile.messages([...new Set([...shown, ...since])])
  const before = [...(under?.items ?? []), ...since.map(shownWhole)]
  return { checkpoint, whole, before: viewOf(before, whole), after: viewOf(checkpoint.items, whole) }
}

/** The checkpoint of an entry; undefined if there is none, as at 0. */
export async function readCheckpoint({ entries }: Profile, seq: number): Promise<CheckpointBody | undefined> {
  const body = seq === 0 ? undefined : (await entries([seq])).get(seq)?.body
  return body?.type === "checkpoint-installed" ? body : undefined
}

const shownWhole = (entry: number): Item => ({ type: "shown", entry })

const viewOf = (items: readonly Item[], whole: ReadonlyMap<number, Message>): readonly ViewItem[] =>
  items.flatMap((item): readonly ViewItem[] => {
    if (item.type === "made") return [{ message: item.message }]
    const { entry: seq, edits } = item
    const message = whole.get(seq)
    if (message === undefined) return []
    if (edits === undefined) return [{ seq, message }]
    return [{ seq, message: applyEdits([message], edits)[0] ?? message, edits }]
  })

type ViewContext = {
  readonly profile: Profile
  readonly rules: readonly string[]
  /** Summaries of earlier compactions, newest first: a line that was carried over has its sources there. */
  readonly earlier: readonly { readonly id: string; readonly summary?: string }[]
}

export function viewCompaction(
  { checkpoint, before, after, whole }: OpenedCompaction,
  { profile, rules, earlier }: ViewContext,
): Pick<CompactionAnswer, "items" | "stackTokens" | "rulesTokens" | "handoff" | "checks"> {
  const events = eventsOfTrace(checkpoint)
  const meter = createMeter(present({ model: profile.turns.at(-1)?.model }))
  const raw = sumOf(before, ({ message }) => meter.message(message))
  const scale = scaleOf(checkpoint, events, raw)
  const tokensOf = ({ message }: Pick<ViewItem, "message">): number => Math.round(meter.message(message) * scale)
  const kept = new Map(after.flatMap((item) => (item.seq === undefined ? [] : [[item.seq, item] as const])))
  const digest = after.find(({ message }) => ownMessage(message) === "digest")
  const lines = digest === undefined ? [] : handoffLines(messageText(digest.message), checkpoint.summary, earlier)
  const reasons = reasonsIn(events)
  const words = wordsWithDigits(digest === undefined ? "" : messageText(digest.message))
  const items = before.map((item): CompactionItem => {
    const id = item.seq === undefined ? (ownMessage(item.message) ?? "own") : entryId(item.seq)
    const beforeTokens = tokensOf(item)
    const resting = lines.flatMap(({ sources }, n) => (sources.includes(id) ? [n] : []))
    const common = { id, turn: profile.turnAt(item.seq ?? 0) + 1, line: lineOf(item), beforeTokens }
    const then = item.seq === undefined ? sameOwn(item.message, after) : kept.get(item.seq)
    if (then !== undefined) {
      const changed = then.edits !== undefined && JSON.stringify(then.edits) !== JSON.stringify(item.edits)
      const reason = changed ? reasons.get(id) : undefined
      return {
        ...common,
        action: changed ? "shortened" : "kept",
        afterTokens: tokensOf(then),
        ...present({ reason }),
      }
    }
    const told = resting.length > 0 || item.seq === undefined || sharesWord(whole.get(item.seq) ?? item.message, words)
    const found = { ...present({ reason: reasons.get(id) }), ...(resting.length > 0 ? { lines: resting } : {}) }
    return { ...common, action: told && digest !== undefined ? "summarized" : "dropped", afterTokens: 0, ...found }
  })
  const pins = after.filter(({ message }) => ownMessage(message) === "pins")
  // System prompt and tools are the same bytes before and after, so they have one size; the rounding error goes to the handoff.
  const stackTokens = Math.max(0, checkpoint.beforeTokens - sumOf(before, tokensOf))
  const over = checkpoint.afterTokens - stackTokens - sumOf(after, tokensOf)
  return {
    items,
    stackTokens: { before: stackTokens, after: Math.max(0, digest === undefined ? stackTokens + over : stackTokens) },
    rulesTokens: sumOf(pins, tokensOf),
    ...(digest === undefined ? {} : { handoff: { tokens: Math.max(0, tokensOf(digest) + over), lines } }),
    checks: checksOf(after, rules, events, scale),
  }
}

const lineOf = ({ seq, message }: ViewItem): MessageLine =>
  seq === undefined ? { who: "holdfast", text: ownMessage(message) ?? "a message of its own" } : messageLine(message)

/** The same generated message in the other view. A pins message counts as the same even with more rules; a new handoff does not. */
function sameOwn(message: Message, after: readonly ViewItem[]): ViewItem | undefined {
  const own = after.filter(({ seq }) => seq === undefined)
  if (ownMessage(message) === "pins") return own.find((item) => ownMessage(item.message) === "pins")
  const text = messageText(message)
  return own.find((item) => messageText(item.message) === text)
}

type Fields = Readonly<Record<string, unknown>>

/** The ratio of the provider's count to ours, from the plan of the same context. */
function scaleOf({ beforeTokens }: CheckpointBody, events: readonly Fields[], raw: number): number {
  const sizes = events.find(({ type }) => type === "plan-made")?.sizes
  const counted = isObject(sizes) && typeof sizes.contextTokens === "number" ? sizes.contextTokens : raw
  const scale = counted > 0 ? beforeTokens / counted : 1
  return raw * scale > beforeTokens && raw > 0 ? beforeTokens / raw : scale
}

function reasonsIn(events: readonly Fields[]): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const { messageId, messageIds, reason } of events) {
    if (typeof reason !== "string") continue
    if (typeof messageId === "string") reasons.set(messageId, reason)
    if (Array.isArray(messageIds)) for (const id of messageIds) if (typeof id === "string") reasons.set(id, reason)
  }
  return reasons
}

/** The words of a text that identify it: numbers, ids, addresses, paths. */
function wordsWithDigits(text: string): ReadonlySet<string> {
  return new Set((text.match(/[\p{L}\p{N}][\p{L}\p{N}._@:/-]{3,}/gu) ?? []).filter((word) => /[\d@/]/.test(word)))
}

function sharesWord(message: Message, words: ReadonlySet<string>): boolean {
  for (const word of wordsWithDigits(messageText(message))) if (words.has(word)) return true
  return false
}

function checksOf(
  after: readonly ViewItem[],
  rules: readonly string[],
  events: readonly Fields[],
  scale: number,
): CompactionAnswer["checks"] {
  const text = after.map(({ message }) => messageText(message)).join("\n")
  const parts = after.flatMap(({ message }) => message.parts)
  const results = new Set(parts.flatMap((part) => (part.type === "tool-result" ? part.callId : [])))
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? part.callId : []))
  const plan = events.find(({ type }) => type === "plan-made")?.plan
  const target =
    isObject(plan) && typeof plan.targetTokens === "number" ? Math.round(plan.targetTokens * scale) : undefined
  return {
    rules: { total: rules.length, verbatim: rules.filter((rule) => text.includes(rule)).length },
    pairs: { calls: calls.length, results: calls.filter((callId) => results.has(callId)).length },
    ...present({ targetTokens: target }),
  }
}

/** The full text of a message before and after, for a line diff. */
export function diffOf({ before, after, whole }: OpenedCompaction, id: string) {
  const seq = seqOf(id)
  const was = before.find((item) => item.seq === seq)?.message ?? (seq === undefined ? undefined : whole.get(seq))
  if (seq === undefined || was === undefined) return undefined
  const is = after.find((item) => item.seq === seq)?.message
  return { before: messageText(was), ...present({ after: is && messageText(is) }) }
}

export async function viewNow(profile: Profile): Promise<ViewNow> {
  const { outline, turns } = profile
  const tip = outline.tip()
  const at = outline.checkpointAt(tip)
  const checkpoint = await readCheckpoint(profile, at)
  const since = outline.path(tip, checkpoint?.node ?? 0) ?? []
  const items = [...(checkpoint?.items ?? []), ...since.map(shownWhole)]
  const seqs = items.flatMap((item) => (item.type === "shown" ? item.entry : []))
  const viewed = viewOf(items, await profile.messages([...new Set(seqs)]))
  const meter = createMeter(present({ model: turns.at(-1)?.model }))
  const counted = { rules: 0, handoff: 0, shortened: 0, verbatim: 0 }
  const messages = { shortened: 0, verbatim: 0 }
  for (const item of viewed) {
    const kind = kindOf(item)
    counted[kind] += meter.message(item.message)
    if (kind === "shortened" || kind === "verbatim") messages[kind] += 1
  }
  const raw = counted.rules + counted.handoff + counted.shortened + counted.verbatim
  const last = turns.at(-1)
  const contextTokens = last === undefined ? raw : last.contextTokens + last.outputTokens
  const learned = last === undefined || last.estimatedTokens === 0 ? 1 : last.contextTokens / last.estimatedTokens
  const ratio = raw * learned > contextTokens && raw > 0 ? contextTokens / raw : learned
  const scaled = (tokens: number): number => Math.round(tokens * ratio)
  return {
    ...(checkpoint === undefined ? {} : { checkpoint: entryId(at) }),
    contextTokens,
    stackTokens: Math.max(0, contextTokens - scaled(raw)),
    rulesTokens: scaled(counted.rules),
    handoffTokens: scaled(counted.handoff),
    shortenedTokens: scaled(counted.shortened),
    verbatimTokens: scaled(counted.verbatim),
    messages,
  }
}

function kindOf({ seq, message, edits }: ViewItem): "rules" | "handoff" | "shortened" | "verbatim" {
  if (seq !== undefined) return edits === undefined ? "verbatim" : "shortened"
  const own = ownMessage(message)
  return own === "pins" ? "rules" : own === "digest" ? "handoff" : "verbatim"
}
