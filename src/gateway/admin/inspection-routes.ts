import type { Context, Hono } from "hono"
import { startOfText } from "../../language/cut-text.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { entryId, seqOf, thaw } from "../../session/log/entry.ts"
import { piecesFor, searchLogs } from "../../session/log/search-logs.ts"
import { type RuleCount, rulesIn } from "../../session/rules/pins.ts"
import type { ExplainedRule } from "../../session/rules/rule-guard.ts"
import { createLock } from "../../store/pace.ts"
import type { SessionRow } from "../../store/store.ts"
import { createMeter } from "../../tokens/meter.ts"
import type { Activity } from "./activity.ts"
import {
  type AdminDeps,
  addRoute,
  pathName,
  readFlag,
  readLimit,
  readNumber,
  readTextParameter,
  refuseText,
} from "./admin-deps.ts"
import type {
  EventsAnswer,
  ListedEvent,
  ListedRule,
  MemoryFound,
  RuleHeld,
  SearchAnswer,
  SessionListing,
  TotalsAnswer,
  TurnSeries,
  ViewNow,
} from "./answers.ts"
import { addCompactionRoutes, openWithProfile } from "./compaction-routes.ts"
import { viewNow } from "./compaction-view.ts"
import { messageLine } from "./handoff-lines.ts"
import { isToldCall, type LoggedEntry, type Profile, type Profiles } from "./session-profile.ts"
import { describeRow, type Find, pageSessions } from "./session-routes.ts"
import {
  isDeniedCall,
  noRules,
  sessionSummary,
  timelineOf,
  timelinePoints,
  totalsOf,
  type WindowSettings,
  windowMarks,
} from "./session-summary.ts"

type InspectionDeps = Pick<
  AdminDeps,
  "holdfast" | "store" | "approvals" | "operator" | "upstreams" | "windowTokens"
> & {
  readonly profiles: Profiles
  readonly activity: Activity
  readonly find: Find
}

export async function summarize(deps: InspectionDeps, row: SessionRow): Promise<SessionListing> {
  const profile = await deps.profiles.read(row.id)
  const summary = sessionSummary(profile, deps.activity.of(row.id), windowSettings(deps))
  return { ...describeRow(row), ...summary, ...(await deps.holdfast.storedRules.count(row)) }
}

const windowSettings = ({ holdfast, upstreams, windowTokens }: InspectionDeps): WindowSettings => ({
  policy: holdfast.policy,
  upstreams,
  windowTokens,
})

/** Routes of the inspector besides the log itself: lists, series, searches and compactions. */
export function addInspectionRoutes(app: Hono, deps: InspectionDeps): void {
  const at = "/admin/sessions/:id"
  addRoute(app, "GET", "/admin/rows", (c) => showRows(c, deps))
  addRoute(app, "GET", "/admin/totals", (c) => showTotals(c, deps))
  addRoute(app, "GET", "/admin/memory", (c) => searchMemory(c, deps))
  addRoute(app, "GET", "/admin/search", createSearch(deps))
  addRoute(app, "GET", `${at}/turns`, (c) => showTurns(c, deps))
  addRoute(app, "GET", `${at}/events`, (c) => showEvents(c, deps))
  addRoute(app, "GET", `${at}/view`, (c) => showView(c, deps))
  addRoute(app, "GET", `${at}/pins`, (c) => showRules(c, deps))
  addRoute(app, "GET", `${at}/export`, (c) => exportHistory(c, deps))
  addCompactionRoutes(app, deps)
}

const maxRows = 100

/** Sessions by id, for refreshing rows of a list after events about them. */
async function showRows(c: Context, deps: InspectionDeps): Promise<object> {
  const ids = (readTextParameter(c, "ids", 8000) ?? "").split(" ").filter((id) => id !== "")
  const rows: SessionListing[] = []
  for (const id of ids.slice(0, maxRows)) {
    const row = await deps.store.session(id)
    if (row !== undefined) rows.push(await summarize(deps, row))
  }
  return { sessions: rows }
}

/** Limit on the sessions in sums; a day has fewer. */
const maxSummed = 500
const dayMs = 86_400_000
const maxDays = 31

async function showTotals(c: Context, deps: InspectionDeps): Promise<TotalsAnswer> {
  const fromMs = readNumber(c, "from", 0, { least: 0, most: 8.64e15 })
  const tenant = readTextParameter(c, "tenant")
  const { sessions } = await pageSessions(deps.store, maxSummed, present({ tenant }), undefined)
  const starts = Array.from(
    { length: readNumber(c, "days", 0, { least: 0, most: maxDays }) },
    (_, n) => fromMs - (n + 1) * dayMs,
  )
  const earliestMs = starts.at(-1) ?? fromMs
  const changed = sessions.filter(({ updatedMs }) => updatedMs >= earliestMs)
  const counts = new Map<Profile, RuleCount>()
  for (const row of changed) counts.set(await deps.profiles.read(row.id), await deps.holdfast.storedRules.count(row))
  const rulesOf = (profile: Profile): RuleCount => counts.get(profile) ?? noRules
  const sumsOf = (start: number, end?: number) =>
    totalsOf([...counts.keys()], { fromMs: start, rulesOf, ...present({ toMs: end }) })
  const days = starts.toReversed().map((start) => ({ fromMs: start, ...sumsOf(start, start + dayMs) }))
  return { fromMs, ...sumsOf(fromMs), cut: changed.length >= maxSummed, days }
}

async function showTurns(c: Context, deps: InspectionDeps): Promise<TurnSeries> {
  const points = readNumber(c, "points", timelinePoints.usual, { least: 2, most: timelinePoints.most })
  const { row, profile } = await openWithProfile(c, deps)
  return {
    ...timelineOf(profile, points),
    compactions: profile.compactions,
    decisions: profile.decisions.filter(isToldCall).slice(-maxDecisions),
    judged: profile.decisions.length,
    ...windowMarks(profile, deps.activity.of(row.id), windowSettings(deps)),
  }
}

const maxDecisions = 1000
const eventPage = { usual: 100, most: 500 } as const
/** Filters of the event list, as entry types. */
const eventKinds: Readonly<Record<string, readonly string[]>> = {
  said: ["message-appended"],
  compactions: ["checkpoint-installed", "checkpoint-undone", "branch-opened"],
  rules: ["rule-pinned", "rule-unpinned"],
  judged: ["calls-judged"],
}

/** Returns events by index, oldest first: an index always means the same event, because the log only grows. */
async function showEvents(c: Context, deps: InspectionDeps): Promise<EventsAnswer> {
  const from = readNumber(c, "from", 0, { least: 0, most: 1e12 })
  const limit = readLimit(c, eventPage)
  const only = readTextParameter(c, "only")
  const { profile } = await openWithProfile(c, deps)
  const types = only === undefined ? undefined : eventKinds[only]
  if (only !== undefined && types === undefined)
    return refuseText("only", `one of ${Object.keys(eventKinds).join(", ")}`, only)
  const { outline, events } = profile
  const listed = types === undefined ? events : events.filter((seq) => types.includes(outline.typeOf(seq) ?? ""))
  const seqs = listed.slice(from, from + limit)
  const entries = await profile.entries(seqs)
  const meter = createMeter(present({ model: profile.turns.at(-1)?.model }))
  const told = seqs.flatMap((seq) => {
    const entry = entries.get(seq)
    return entry === undefined ? [] : eventOf(entry, profile, (message) => meter.message(message))
  })
  return { total: listed.length, from, events: told }
}

function eventOf(
  { seq, atMs, body }: LoggedEntry,
  profile: Profile,
  tokensOf: (message: Message) => number,
): ListedEvent | readonly [] {
  const head = { id: entryId(seq), atMs, turn: profile.turnAt(seq) + 1 }
  switch (body.type) {
    case "message-appended": {
      const message = thaw(body.message, entryId(seq))
      return {
        ...head,
        type: body.type,
        line: messageLine(message),
        tokens: Math.round(tokensOf(message) * ratioOf(profile)),
      }
    }
    case "checkpoint-installed": {
      const { remedy, beforeTokens, afterTokens } = body
      return { ...head, type: body.type, remedy, beforeTokens, afterTokens, undone: profile.outline.isUndone(seq) }
    }
    case "checkpoint-undone":
      return { ...head, type: body.type, checkpoint: entryId(body.checkpoint) }
    case "rule-pinned":
      return { ...head, type: body.type, text: startOfText(body.text, ruleLength), channel: body.channel, by: body.by }
    case "rule-unpinned":
      return { ...head, type: body.type, pin: entryId(body.pin) }
    case "branch-opened":
      return { ...head, type: body.type, from: entryId(body.from) }
    case "calls-judged":
      return {
        ...head,
        type: body.type,
        calls: profile.decisions.filter((call) => call.entry === head.id && isToldCall(call)),
      }
    default:
      return []
  }
}

/** Limit on the characters of a rule in a list of events; the list of rules has it in full. */
const ruleLength = 400

/** The ratio of the provider's count to ours, from the last request. */
function ratioOf({ turns }: Profile): number {
  const last = turns.at(-1)
  if (last === undefined || last.estimatedTokens === 0) return 1
  return Math.min(2, Math.max(0.5, last.contextTokens / last.estimatedTokens))
}

async function showView(c: Context, deps: InspectionDeps): Promise<ViewNow> {
  const { row, profile } = await openWithProfile(c, deps)
  const window = windowMarks(profile, deps.activity.of(row.id), windowSettings(deps))
  return { ...(await viewNow(profile)), ...window }
}

const rulePage = { usual: 500, most: 5000 } as const

async function showRules(c: Context, deps: InspectionDeps): Promise<object> {
  const all = readFlag(c, "all")
  const limit = readLimit(c, rulePage)
  const { row, profile } = await openWithProfile(c, deps)
  const rules = await deps.holdfast.storedRules.list(row, { all })
  const pins: readonly ListedRule[] = rules
    .slice(0, limit)
    .map((rule) => ({ ...rule, ...present({ held: heldOf(rule, profile) }) }))
  return { pins, total: rules.length, ...rulesIn(rules) }
}

function heldOf({ id, state, policy }: ExplainedRule, { turns, turnAt, decisions }: Profile): RuleHeld | undefined {
  const seq = seqOf(id)
  if (seq === undefined || state !== "in-force") return undefined
  const before = turnAt(seq)
  const name = "policy" in policy ? policy.policy.name : undefined
  const denied = decisions.filter((one) => name !== undefined && isDeniedCall(one) && one.policies.includes(name))
  const observed = decisions.filter((one) => one.observed?.some(({ policy: by }) => by === name) === true)
  const [after, stopped] = [turns.length - before, denied.length]
  return { turn: before + 1, requests: after, denied: stopped, observed: observed.length }
}

const memoryPage = { usual: 50, most: 200 } as const

/** Searches the memory of agents, one tenant and agent at a time, because it is stored that way. */
async function searchMemory(c: Context, { holdfast, store }: InspectionDeps): Promise<object> {
  const text = readTextParameter(c, "query", 1000)
  const limit = readLimit(c, memoryPage)
  const session = readTextParameter(c, "session")
  const row = session === undefined ? undefined : await store.session(session)
  const owners =
    row === undefined
      ? await ownersOf(store, present({ tenant: readTextParameter(c, "tenant"), agent: readTextParameter(c, "agent") }))
      : [{ tenant: row.tenant, agent: row.agent }]
  const hits = []
  for (const { tenant, agent } of owners) {
    const memory = await holdfast.memory(agent === "" ? { tenant } : { tenant, agent })
    hits.push(...(await memory.search({ limit, ...present({ text, session: row?.id }) })))
  }
  const best = hits.toSorted((one, other) => other.score - one.score || other.row.atMs - one.row.atMs).slice(0, limit)
  const found: readonly MemoryFound[] = best.map(({ row: one }) => ({
    ...one,
    pieces: piecesFor(one.text, text ?? ""),
  }))
  return { rows: found, owners }
}

const searchPage = { usual: 20, most: 100 } as const
/** Limit on the characters that one search reads: some seconds of work. */
const searchedCharacters = 20_000_000

/** Handles searches in sessions, one at a time, because the page sends a new one with every word that is typed. */
function createSearch({ store, find }: InspectionDeps): (c: Context) => Promise<SearchAnswer> {
  const oneAtATime = createLock()
  return async (c) => {
    const query = readTextParameter(c, "query", 1000) ?? ""
    const limit = readLimit(c, searchPage)
    const [session, tenant] = [readTextParameter(c, "session"), readTextParameter(c, "tenant")]
    const rows =
      session === undefined
        ? await store.sessions({ limit: maxSummed + 1, ...present({ tenant }) })
        : [(await find(session)).row]
    const { found, sessions, cut } = await oneAtATime(async () =>
      c.req.raw.signal.aborted
        ? { found: [], sessions: 0, cut: true }
        : searchLogs(store, rows.slice(0, maxSummed), query, { limit, maxCharacters: searchedCharacters }),
    )
    return { found, sessions, cut: cut || rows.length > maxSummed }
  }
}

type Owner = Pick<SessionRow, "tenant" | "agent">

/** The owners of memory, taken from the most recently used sessions. */
async function ownersOf(store: InspectionDeps["store"], filter: Partial<Owner>): Promise<readonly Owner[]> {
  const rows = await store.sessions({ limit: maxSummed, ...filter })
  const seen = new Map(rows.map(({ tenant, agent }) => [`${tenant}\n${agent}`, { tenant, agent }]))
  return [...seen.values()].slice(0, 20)
}

const exportStep = 100

/** Streams the whole history, one entry per line, without the secret of the session's recall handles. */
async function exportHistory(c: Context, deps: InspectionDeps): Promise<Response> {
  const { row, session } = await deps.find(pathName(c, "id"))
  const encoder = new TextEncoder()
  let from = 1
  const lines = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const entries = await session.history({ from, limit: exportStep })
      if (entries.length === 0) return controller.close()
      from += entries.length
      controller.enqueue(encoder.encode(entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")))
    },
  })
  const name = row.id.replace(/[^\w.-]+/g, "_").slice(0, 80)
  return new Response(lines, {
    headers: {
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.jsonl"`,
    },
  })
}
