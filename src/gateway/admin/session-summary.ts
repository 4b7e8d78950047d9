import { compactionMark } from "../../compact/plan/plan.ts"
import type { CompactionPolicy } from "../../compact/plan/policy.ts"
import { families } from "../../message/message.ts"
import { entriesOf, present, sumOf } from "../../message/present.ts"
import type { RuleCount } from "../../session/rules/pins.ts"
import { findModel } from "../../tokens/models.ts"
import { chooseUpstream, type Upstream } from "../settings/upstream.ts"
import type { SessionActivity } from "./activity.ts"
import type { ListedName, PeriodTotals, SessionListing, WindowMarks } from "./answers.ts"
import { savedPerTurn, sessionCost } from "./savings.ts"
import type { PlannedSizes, Profile, Turn } from "./session-profile.ts"

/** The part of a row in the list of sessions that comes from the log. */
type SessionSummary = Omit<SessionListing, keyof ListedName | keyof RuleCount>

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
    denied: decisions.filter(isDeniedCall).length,
    ...present({ model: last?.model, contextTokens: last?.contextTokens, cachedTokens: last?.cacheReadTokens }),
    ...present({ client, project, unsaved, cost: sessionCost(profile) }),
    ...windowMarks(profile, activity, settings),
  }
}

export const isDeniedCall = ({ decision, approved, enforced }: Profile["decisions"][number]): boolean =>
  enforced && decision !== "allow" && approved !== true

/** The configuration that determines when a session is compacted. */
export type WindowSettings = {
  readonly policy: CompactionPolicy
  readonly upstreams: readonly Upstream[]
  readonly windowTokens?: number | undefined
}

/**
 * The window and its compaction thresholds: those of the last request in this process; otherwise those that the last compaction was planned
 * with, if the window is still the same; otherwise the configured window or that of the model table, and the policy's share of it.
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

/** The planned window in the provider's tokens, rounded to a whole thousand if close: converting back and forth is off by a few tokens. */
function plannedWindow({ sizes, scale }: PlannedSizes): number {
  const windowTokens = Math.round(sizes.windowTokens * scale)
  const near = 1000 * Math.round(windowTokens / 1000)
  return Math.abs(near - windowTokens) <= 3 ? near : windowTokens
}

/** Sums over sessions in a span of time. */
export function totalsOf(
  profiles: readonly Profile[],
  { fromMs, toMs = Infinity, rulesOf = () => noRules }: Span,
): PeriodTotals {
  const all = profiles
    .map((profile) => totalsIn(profile, { fromMs, toMs, rulesOf }))
    .filter(({ figures: { turns, compactions } }) => turns + compactions > 0)
  const sums = { ...noFigures }
  for (const { figures } of all) for (const [name, value] of entriesOf(figures)) sums[name] += value
  const { inForce, operator, leftOut, judged, denied, approved, ...others } = sums
  return {
    ...others,
    rules: { inForce, operator, leftOut },
    calls: { judged, denied, approved },
    ...present({
      medianMs: medianOf(all.flatMap(({ tookMs }) => tookMs)),
      prices: all.find(({ prices }) => prices !== undefined)?.prices,
    }),
  }
}

type Span = {
  readonly fromMs: number
  readonly toMs?: number
  /** The rules in force for a session now. */
  readonly rulesOf?: (profile: Profile) => RuleCount
}

export const noRules: RuleCount = { rules: 0, operatorRules: 0 }

const noFigures = {
  ...{ sessions: 0, turns: 0, tokens: 0, cachedTokens: 0, compactions: 0, ahead: 0 },
  ...{ inForce: 0, operator: 0, leftOut: 0 },
  ...{ removedTokens: 0, savedTokens: 0, judged: 0, denied: 0, approved: 0, dollars: 0, savedDollars: 0, unpriced: 0 },
}

function medianOf(figures: readonly number[]): number | undefined {
  return figures.toSorted((one, other) => one - other)[Math.floor((figures.length - 1) / 2)]
}

/** The sums of one session, and the durations of its compactions. */
function totalsIn(profile: Profile, { fromMs, toMs, rulesOf }: Required<Span>) {
  const isIn = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs && atMs < toMs
  const turns = profile.turns.filter(isIn)
  const compactions = profile.compactions.filter(isIn)
  const decisions = profile.decisions.filter(isIn)
  const saved = turns.length === 0 ? [] : savedPerTurn(profile)
  const priced = turns.length > 0 && turns.every(({ dollars }) => dollars !== undefined)
  const sum = (figureOf: (turn: Turn) => number): number => sumOf(turns, (turn) => figureOf(turn))
  const last = turns.at(-1)
  const { rules: inForce, operatorRules: operator } = rulesOf(profile)
  const figures: typeof noFigures = {
    sessions: 1,
    turns: turns.length,
    tokens: sum(({ contextTokens, calls }) => contextTokens * calls),
    cachedTokens: sum(({ cacheReadTokens, calls }) => cacheReadTokens * calls),
    compactions: compactions.length,
    ahead: compactions.filter(({ ahead }) => ahead === true).length,
    inForce,
    operator,
    leftOut: profile.rulesLeftOut,
    removedTokens: sumOf(compactions, ({ beforeTokens, afterTokens, undone }) =>
      undone ? 0 : beforeTokens - afterTokens,
    ),
    savedTokens: sum(({ turn }) => saved[turn - 1]?.tokens ?? 0),
    judged: decisions.length,
    denied: decisions.filter(isDeniedCall).length,
    approved: decisions.filter(({ approved }) => approved === true).length,
    dollars: priced ? sum(({ dollars = 0 }) => dollars) : 0,
    savedDollars: priced ? sum(({ turn }) => saved[turn - 1]?.dollars ?? 0) : 0,
    unpriced: priced || turns.length === 0 ? 0 : 1,
  }
  const prices = priced && last !== undefined ? findModel(last.model).source : undefined
  return { figures, tookMs: compactions.flatMap(({ tookMs }) => tookMs ?? []), ...present({ prices }) }
}

/** Default and maximum number of points of a timeline. */
export const timelinePoints = { usual: 2000, most: 20_000 } as const

/** The requests of a session over time, column by column. */
export function timelineOf(profile: Profile, points: number) {
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

/** Reduces a series to at most `most` points for drawing, keeping extremes. */
export function thin<Point>(points: readonly Point[], most: number, figureOf: (point: Point) => number): Point[] {
  if (points.length <= most) return [...points]
  const kept: Point[] = []
  const pairs = Math.max(1, Math.floor(most / 2))
  for (let bucket = 0; bucket < pairs; bucket++) {
    const slice = points.slice(
      Math.floor((bucket * points.length) / pairs),
      Math.floor(((bucket + 1) * points.length) / pairs),
    )
    const values = slice.map(figureOf)
    const places = [values.indexOf(Math.min(...values)), values.indexOf(Math.max(...values))]
    for (const place of [...new Set(places)].sort((one, other) => one - other)) {
      const point = slice[place]
      if (point !== undefined) kept.push(point)
    }
  }
  return kept
}
