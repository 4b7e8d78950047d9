import { compactionMark } from "../../compact/plan/plan.ts"
import type { CompactionPolicy } from "../../compact/plan/policy.ts"
import { present } from "../../message/present.ts"
import { findModel } from "../../tokens/models.ts"
import { chooseUpstream, families, type Upstream } from "../settings/upstream.ts"
import type { SessionActivity } from "./activity.ts"
import type { CompactionFigures, ListedName, PeriodTotals, SessionListing, TurnSeries } from "./answers.ts"
import { type PlannedSizes, type Profile, pricesOf, type Turn, thin } from "./session-profile.ts"

/** A session in a row of a list, as far as its log says it. */
type SessionSummary = Omit<SessionListing, keyof ListedName>

type Cost = NonNullable<SessionListing["cost"]>

const summaryPoints = 32
/** Compactions listed in a row; `compactionCount` counts all. */
const summaryCompactions = 12

export function sessionSummary(profile: Profile, activity: SessionActivity, settings: WindowSettings): SessionSummary {
  const { title, turns, compactions, decisions } = profile
  const last = turns.at(-1)
  const { client = profile.caller.client, project = profile.caller.project, inFlight, unsaved } = activity
  return {
    title,
    turns: turns.length,
    inFlight,
    points: thin(turns, summaryPoints, ({ contextTokens }) => contextTokens).map(({ contextTokens }) => contextTokens),
    compactionCount: compactions.length,
    compactions: compactions
      .slice(-summaryCompactions)
      .map(({ id, turn, beforeTokens, afterTokens, undone }) => ({ id, turn, beforeTokens, afterTokens, undone })),
    rules: rulesIn(profile),
    denied: decisions.filter(isDenied).length,
    ...present({ model: last?.model, contextTokens: last?.contextTokens, cachedTokens: last?.cacheReadTokens }),
    ...present({ client, project, unsaved, cost: costOf(profile) }),
    ...windowMarks(profile, activity, settings),
  }
}

/** Rules that were pinned and not taken back. */
function rulesIn({ outline }: Profile): number {
  const gone = new Set(outline.ofType("rule-unpinned").map((seq) => outline.reference(seq)))
  return outline.ofType("rule-pinned").filter((seq) => !gone.has(seq)).length
}

const isDenied = ({ decision, approved, enforced }: Profile["decisions"][number]): boolean =>
  enforced && decision !== "allow" && approved !== true

/** The window of a session's model and its compaction threshold, in the provider's tokens. */
export type WindowMarks = {
  readonly windowTokens: number
  readonly compactAtTokens?: number
  /** The same for a request that ends in results the model has not read. */
  readonly compactUnreadAtTokens?: number
}

/** What the gateway is configured with that says where a session is compacted. */
export type WindowSettings = {
  readonly policy: CompactionPolicy
  readonly upstreams: readonly Upstream[]
  readonly windowTokens?: number | undefined
}

/**
 * The window and its marks: of a request in this process; otherwise as the last compaction was planned, if the window is still that one;
 * otherwise the configured window, or that of the model table, and its share.
 */
export function windowMarks(
  { planned, turns }: Pick<Profile, "planned" | "turns">,
  activity: Pick<SessionActivity, "window">,
  { policy, ...configured }: WindowSettings,
): Partial<WindowMarks> {
  if (activity.window !== undefined) return activity.window
  const model = turns.at(-1)?.model
  const windowTokens = windowFor(configured, model)
  if (planned !== undefined && (windowTokens === undefined || windowTokens === plannedWindow(planned)))
    return plannedMarks(planned, policy)
  if (windowTokens === undefined) return {}
  return { windowTokens, compactAtTokens: Math.floor(windowTokens * policy.compactAt) }
}

function windowFor(
  { upstreams, windowTokens }: Omit<WindowSettings, "policy">,
  model: string | undefined,
): number | undefined {
  const ofUpstream = families.map((family) => chooseUpstream(upstreams, family, model)?.windowTokens)
  const found = model === undefined ? undefined : findModel(model)
  return (
    ofUpstream.find((tokens) => tokens !== undefined) ??
    windowTokens ??
    (found?.known === true ? found.windowTokens : undefined)
  )
}

function plannedMarks({ sizes, scale }: PlannedSizes, policy: CompactionPolicy): WindowMarks {
  const at = (end: "answered" | "unread"): number => Math.round(compactionMark(sizes, policy, end) * scale)
  const windowTokens = plannedWindow({ sizes, scale })
  return { windowTokens, compactAtTokens: at("answered"), compactUnreadAtTokens: at("unread") }
}

/** Windows are whole thousands, nearly all; converting back and forth leaves a token or two. */
function plannedWindow({ sizes, scale }: PlannedSizes): number {
  const windowTokens = Math.round(sizes.windowTokens * scale)
  const near = 1000 * Math.round(windowTokens / 1000)
  return Math.abs(near - windowTokens) <= 3 ? near : windowTokens
}

/** What a session cost and its compactions saved; undefined if the prices of a model are unknown. */
function costOf(profile: Profile): Cost | undefined {
  const { turns } = profile
  const last = turns.at(-1)
  if (last === undefined || turns.some(({ dollars }) => dollars === undefined)) return undefined
  const dollars = turns.reduce((sum, turn) => sum + (turn.dollars ?? 0), 0)
  const savedDollars = savedPerTurn(profile).reduce((sum, saved) => sum + saved.dollars, 0)
  return { dollars, savedDollars, prices: findModel(last.model).source }
}

type Saved = { readonly tokens: number; readonly dollars: number }
const nothingSaved: Saved = { tokens: 0, dollars: 0 }

/**
 * What the compaction in force saved in each turn: the removed tokens would have been sent again, as far as they fit the window, and read from
 * the cache; the first turn after the compaction had to write its prefix to the cache again. Where the provider never reported a read from
 * its cache none is assumed, and they would have cost the full price. Each turn counts for one compaction, so the sums over compactions and
 * over turns are the same.
 */
function savedPerTurn(profile: Pick<Profile, "turns" | "compactions" | "planned">): readonly Saved[] {
  const done = profile.compactions.filter(({ undone }) => !undone)
  const isCached = profile.turns.some(({ cacheReadTokens }) => cacheReadTokens > 0)
  let next = 0
  return profile.turns.map((turn) => {
    while (next < done.length && (done[next]?.turn ?? 0) < turn.turn) next++
    const inForce = done[next - 1]
    return inForce === undefined
      ? nothingSaved
      : savedIn(turn, inForce, isCached, profile.planned && plannedWindow(profile.planned))
  })
}

function savedIn(turn: Turn, compaction: CompactionFigures, isCached: boolean, windowTokens?: number): Saved {
  const { turn: before, beforeTokens, afterTokens } = compaction
  const room = Math.max(0, (windowTokens ?? findModel(turn.model).windowTokens) - turn.contextTokens)
  const tokens = Math.max(0, Math.min(beforeTokens - afterTokens, room))
  const prices = pricesOf(turn.model, turn.contextTokens)
  if (prices === undefined) return { tokens, dollars: 0 }
  if (!isCached) return { tokens, dollars: (tokens * prices.input) / 1_000_000 }
  const rewritten = turn.turn === before + 1 ? Math.max(0, afterTokens - turn.cacheReadTokens) : 0
  const dearer = rewritten * Math.max(0, prices.cacheWrite - prices.cacheRead)
  return { tokens, dollars: (tokens * prices.cacheRead - dearer) / 1_000_000 }
}

/** What one compaction saved in the calls while it was in force. */
export function savingsSince(
  profile: Pick<Profile, "turns" | "compactions" | "planned">,
  compaction: CompactionFigures,
) {
  const { turns, compactions } = profile
  const end = compactions.find(({ turn, undone }) => !undone && turn > compaction.turn)?.turn ?? turns.length
  const since = turns.slice(compaction.turn, end)
  const saved = savedPerTurn(profile).slice(compaction.turn, end)
  const known = since.length > 0 && since.every(({ dollars }) => dollars !== undefined)
  const [first] = since
  const model = first && findModel(first.model)
  return {
    calls: since.length,
    ...present({
      dollars: known && !compaction.undone ? saved.reduce((sum, one) => sum + one.dollars, 0) : undefined,
      cachedTokens: first?.cacheReadTokens,
      writtenTokens: first && Math.max(0, first.contextTokens - first.cacheReadTokens),
      prices: first && pricesOf(first.model, first.contextTokens),
      source: model?.known ? model.source : undefined,
      model: first?.model,
    }),
  }
}

export function totalsOf(profiles: readonly Profile[], fromMs: number, toMs = Infinity): PeriodTotals {
  const all = profiles
    .map((profile) => totalsIn(profile, fromMs, toMs))
    .filter(({ turns, compactions }) => turns + compactions > 0)
  const sum = (figureOf: (one: PeriodTotals) => number): number => all.reduce((total, one) => total + figureOf(one), 0)
  return {
    sessions: all.length,
    turns: sum(({ turns }) => turns),
    tokens: sum(({ tokens }) => tokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    compactions: sum(({ compactions }) => compactions),
    removedTokens: sum(({ removedTokens }) => removedTokens),
    savedTokens: sum(({ savedTokens }) => savedTokens),
    calls: {
      judged: sum(({ calls }) => calls.judged),
      denied: sum(({ calls }) => calls.denied),
      approved: sum(({ calls }) => calls.approved),
    },
    dollars: sum(({ dollars }) => dollars),
    savedDollars: sum(({ savedDollars }) => savedDollars),
    unpriced: sum(({ unpriced }) => unpriced),
    ...present({ prices: all.find(({ prices }) => prices !== undefined)?.prices }),
  }
}

function totalsIn(profile: Profile, fromMs: number, toMs: number): PeriodTotals {
  const isIn = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs && atMs < toMs
  const turns = profile.turns.filter(isIn)
  const compactions = profile.compactions.filter(isIn)
  const decisions = profile.decisions.filter(isIn)
  const saved = savedPerTurn(profile)
  const priced = turns.length > 0 && turns.every(({ dollars }) => dollars !== undefined)
  const sum = (figureOf: (turn: Turn) => number): number => turns.reduce((total, turn) => total + figureOf(turn), 0)
  const model = turns.at(-1)?.model
  return {
    sessions: 1,
    turns: turns.length,
    tokens: sum(({ contextTokens, calls }) => contextTokens * calls),
    cachedTokens: sum(({ cacheReadTokens, calls }) => cacheReadTokens * calls),
    compactions: compactions.length,
    removedTokens: compactions.reduce(
      (total, { beforeTokens, afterTokens, undone }) => total + (undone ? 0 : beforeTokens - afterTokens),
      0,
    ),
    savedTokens: sum(({ turn }) => saved[turn - 1]?.tokens ?? 0),
    calls: {
      judged: decisions.length,
      denied: decisions.filter(isDenied).length,
      approved: decisions.filter(({ approved }) => approved === true).length,
    },
    dollars: priced ? sum(({ dollars = 0 }) => dollars) : 0,
    savedDollars: priced ? sum(({ turn }) => saved[turn - 1]?.dollars ?? 0) : 0,
    unpriced: priced || turns.length === 0 ? 0 : 1,
    ...(priced && model !== undefined ? { prices: findModel(model).source } : {}),
  }
}

/** Default and maximum points of a timeline; extremes are kept. */
export const timelinePoints = { usual: 2000, most: 20_000 } as const

type TimelineColumns = Pick<
  TurnSeries,
  "total" | "turn" | "atMs" | "contextTokens" | "cachedTokens" | "outputTokens" | "dollars"
>

/** The requests of a session over its life, column by column. */
export function timelineOf(profile: Profile, points: number): TimelineColumns {
  const turns = thin(profile.turns, points, ({ contextTokens }) => contextTokens)
  return {
    total: profile.turns.length,
    turn: turns.map(({ turn }) => turn),
    atMs: turns.map(({ atMs }) => atMs),
    contextTokens: turns.map(({ contextTokens }) => contextTokens),
    cachedTokens: turns.map(({ cacheReadTokens }) => cacheReadTokens),
    outputTokens: turns.map(({ outputTokens }) => outputTokens),
    dollars: turns.map(({ dollars }) => dollars ?? null),
  }
}
