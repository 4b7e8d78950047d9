import { setImmediate as nextTick } from "node:timers/promises"
import type { Context, Hono } from "hono"
import { startOfText } from "../../language/cut-text.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Message } from "../../message/message.ts"
import { present, sumOf } from "../../message/present.ts"
import { createPinLedger } from "../../rules/pin-ledger.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import { entryId, pinOf, seqOf } from "../../session/log/entry.ts"
import { isInForce } from "../../session/rules/pins.ts"
import { runPaced } from "../../store/pace.ts"
import { createMeter } from "../../tokens/meter.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { addRoute, pathName, readNumber, readTextParameter, refuseText } from "./admin-deps.ts"
import type { CompactionAnswer, WhatIfAnswer, WhatIfCourse, WhatIfStrategy } from "./answers.ts"
import { boundValue } from "./bound-value.ts"
import { diffOf, openCompaction, readCheckpoint, viewCompaction } from "./compaction-view.ts"
import { argumentWords, sourcesOf } from "./handoff-lines.ts"
import { refusalResponse, refusals } from "./refusal.ts"
import { savingsSince, withoutCompaction, writtenShareOf } from "./savings.ts"
import { type Counted, type Profile, type Profiles, priceOf, type Turn } from "./session-profile.ts"
import type { Find } from "./session-routes.ts"

type SessionDeps = { readonly find: Find; readonly profiles: Profiles }

/** Routes of the inspector: one compaction, message by message, and what-if replays of a session with other settings. */
export function addCompactionRoutes(app: Hono, deps: SessionDeps): void {
  const at = "/admin/sessions/:id"
  addRoute(app, "GET", `${at}/what-if`, createWhatIf(deps))
  addRoute(app, "GET", `${at}/compactions/:checkpoint`, (c) => showCompaction(c, deps))
  addRoute(app, "GET", `${at}/compactions/:checkpoint/entries/:entry`, (c) => showDiff(c, deps))
  addRoute(app, "GET", `${at}/compactions/:checkpoint/lines/:line`, (c) => showSources(c, deps))
}

type SessionWithProfile = Awaited<ReturnType<Find>> & { readonly profile: Profile }

/** The session that a path names, with its profile. */
export async function openWithProfile(c: Context, { find, profiles }: SessionDeps): Promise<SessionWithProfile> {
  const found = await find(pathName(c, "id"))
  return { ...found, profile: await profiles.read(found.row.id) }
}

/** Limit on earlier compactions searched, because lines may be carried over from them. */
const maxEarlier = 50

async function showCompaction(c: Context, deps: SessionDeps): Promise<object> {
  const { profile } = await openWithProfile(c, deps)
  const id = pathName(c, "checkpoint")
  const opened = await openCompaction(profile, id)
  const figures = profile.compactions.find((one) => one.id === id)
  const earlier = await earlierSummaries(profile, opened.checkpoint.base)
  const view = viewCompaction(opened, { profile, earlier, rules: await rulesBefore(profile, id) })
  if (figures === undefined) return refusalResponse(refusals.path)
  const number = profile.compactions.indexOf(figures) + 1
  const inForce = profile.outline.checkpointAt(profile.outline.tip()) === Number(id.slice(1))
  return {
    compaction: { ...figures, number, of: profile.compactions.length, inForce },
    ...view,
    since: savingsSince(profile, figures),
    plan: planOf(opened.checkpoint.trace),
    rereads: await rereadsOf(profile, Number(id.slice(1))),
  } satisfies CompactionAnswer
}

/** The lookups right after a compaction that repeat what it removed. */
async function rereadsOf({ outline, turnAt, entries }: Profile, checkpoint: number) {
  const seqs = outline.ofType("lookups-repeated").filter((seq) => outline.reference(seq) === checkpoint)
  return [...(await entries(seqs)).values()].flatMap(({ seq, body }) =>
    body.type === "lookups-repeated"
      ? body.lookups.map(({ tool, target }) => ({
          tool,
          target: startOfText(argumentWords(tryParse(target) ?? target), 300),
          turn: turnAt(seq) + 1,
        }))
      : [],
  )
}

/** The trace events about decisions and rejected remedies, within limits. */
function planOf(trace: string): CompactionAnswer["plan"] {
  const events: unknown = JSON.parse(trace)
  const told = Array.isArray(events)
    ? events.filter(({ type }) => /^(?:plan-made|remedy-rejected|summary-|gate|pins-left-out)/.test(String(type)))
    : []
  const { value } = boundValue(told, { text: 2000, items: 200, total: 40_000 })
  return Array.isArray(value) ? value.filter(isObject) : []
}

async function earlierSummaries(profile: Profile, base: number) {
  const earlier: { readonly id: string; readonly summary?: string }[] = []
  for (let at = base; at > 0 && earlier.length < maxEarlier; ) {
    const body = await readCheckpoint(profile, at)
    if (body === undefined) break
    earlier.push({ id: entryId(at), ...present({ summary: body.summary }) })
    at = body.base
  }
  return earlier
}

/** The session's own rules that were in force before a compaction. */
async function rulesBefore({ outline, entries }: Profile, id: string): Promise<readonly string[]> {
  const until = (type: string): readonly number[] => outline.ofType(type).filter((seq) => seq < (seqOf(id) ?? 0))
  const gone = new Set(until("rule-unpinned").map((seq) => outline.reference(seq)))
  const pinned = [...(await entries(until("rule-pinned"))).values()]
  const rules = pinned.flatMap(({ seq, body }) =>
    body.type === "rule-pinned" && !gone.has(seq) ? pinOf(seq, body) : [],
  )
  return (await runPaced(createPinLedger().extend(rules))).filter(isInForce).map(({ text }) => text)
}

/** Limit on the text of one message on a page; the export has all of it. */
const maxDiff = 400_000

async function showDiff(c: Context, deps: SessionDeps): Promise<object> {
  const { row, profile } = await openWithProfile(c, deps)
  const opened = await openCompaction(profile, pathName(c, "checkpoint"))
  const entry = pathName(c, "entry")
  const diff = diffOf(opened, entry)
  if (diff === undefined)
    throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: JSON.stringify(entry.slice(0, 40)) })
  const { before, after } = diff
  const cut = before.length > maxDiff || (after?.length ?? 0) > maxDiff
  return { before: before.slice(0, maxDiff), ...present({ after: after?.slice(0, maxDiff) }), cut }
}

/** Limit on compactions searched for a line's source: this one or an earlier one left it out. */
const maxBack = 10

async function showSources(c: Context, deps: SessionDeps): Promise<object> {
  const { profile } = await openWithProfile(c, deps)
  const opened = await openCompaction(profile, pathName(c, "checkpoint"))
  const earlier = await earlierSummaries(profile, opened.checkpoint.base)
  const { handoff } = viewCompaction(opened, { profile, earlier, rules: [] })
  const line = handoff?.lines[Number(c.req.param("line"))]
  if (line === undefined) return refusalResponse(refusals.path)
  const named = await profile.messages(line.sources.flatMap((id) => seqOf(id) ?? []))
  let sources = sourcesOf(line, named.size > 0 ? named : opened.whole, profile.turnAt)
  for (const { id } of sources.length > 0 ? [] : earlier.slice(0, maxBack)) {
    const { whole } = await openCompaction(profile, id)
    sources = sourcesOf(line, whole, profile.turnAt)
    if (sources.length > 0) break
  }
  return { sources }
}

/** Handles what-if requests, one replay at a time, because a replay competes with the gateway's own work. */
function createWhatIf(deps: SessionDeps): (c: Context) => Promise<object> {
  let isPlaying = false
  return async (c) => {
    const asked = readWhatIf(c)
    const { profile } = await openWithProfile(c, deps)
    if (isPlaying) return refusalResponse(refusals.busy)
    isPlaying = true
    try {
      return await playWhatIf(profile, asked, c.req.raw.signal)
    } finally {
      isPlaying = false
    }
  }
}

function readWhatIf(c: Context): WhatIf {
  const name = readTextParameter(c, "strategy") ?? "staged"
  const strategy =
    whatIfStrategies.find((one) => one === name) ??
    refuseText("strategy", `one of ${whatIfStrategies.join(", ")}`, name)
  return {
    windowTokens: readNumber(c, "window", 200_000, { least: 2000, most: 10_000_000 }),
    compactAt: readNumber(c, "at", 80, { least: 50, most: 95 }) / 100,
    strategy,
  }
}

/** Settings for replaying a session. */
type WhatIf = {
  readonly windowTokens: number
  /** Share of the window at which it compacts. */
  readonly compactAt: number
  readonly strategy: WhatIfStrategy
}

const whatIfStrategies: readonly WhatIfStrategy[] = ["staged", "hierarchical", "recency", "tool-rounds"]

/** With more turns than this, several are replayed as one step: each step prepares a request, which takes some milliseconds. */
const maxSteps = 250

type Step = { readonly turn: Turn; readonly messages: readonly Message[] }

/**
 * Replays the turns of a session with another window, threshold or strategy. The turns are those that happened, because nobody knows what
 * a model would have said in another context. Nothing is sent or written. The messages are those of the current branch; system prompt and
 * tools count as in the first request.
 */
export async function playWhatIf(profile: Profile, asked: WhatIf, signal: AbortSignal): Promise<WhatIfAnswer> {
  const began = performance.now()
  const steps = await readSteps(profile)
  const [first] = steps
  if (first === undefined)
    throw new HoldfastError({
      code: "request-invalid",
      path: "the session",
      expected: "a turn with its usage",
      found: "none",
    })
  const meter = createMeter({ model: first.turn.model })
  const firstTokens = sumOf(first.messages, (message) => meter.message(message))
  const replayed = await replay(steps, asked, scaleOf(profile.turns, firstTokens), signal)
  const turns = steps.map(({ turn }) => turn.turn)
  const { windowTokens } = asked
  const priced = pricedSteps(profile.turns, steps, replayed)
  return {
    turns,
    asItWas: courseOf(profile.turns, turns, Infinity, profile.compactions),
    noCompaction: courseOf(uncompacted(profile), turns, windowTokens, []),
    whatIf: courseOf(priced, turns, windowTokens, replayed.compactions),
    tookMs: Math.round(performance.now() - began),
  }
}

/** The tokens of a turn, as sent or as they would have been sent, and their cost. */
type CourseTurn = Counted & { readonly calls: number; readonly dollars?: number }

const uncompacted = (profile: Profile): readonly CourseTurn[] =>
  withoutCompaction(profile).map((counted, n) => ({ ...counted, calls: profile.turns[n]?.calls ?? 1 }))

/** All turns with the sizes of the replay; a turn between two steps has the sizes of the later step. */
function pricedSteps(
  turns: readonly Turn[],
  steps: readonly Step[],
  { contextTokens, cachedTokens }: Pick<Awaited<ReturnType<typeof replay>>, "contextTokens" | "cachedTokens">,
): readonly CourseTurn[] {
  // If the provider reported no cache, the replay has none either; otherwise it would look too cheap.
  const isCached = turns.some(({ cacheReadTokens }) => cacheReadTokens > 0)
  const writtenShare = writtenShareOf(turns)
  let step = 0
  return turns.flatMap(({ turn, model, outputTokens, calls }) => {
    while (step < steps.length - 1 && (steps[step]?.turn.turn ?? 0) < turn) step++
    const context = contextTokens[step]
    if (context === undefined) return []
    const cacheReadTokens = isCached ? Math.min(context, cachedTokens[step] ?? 0) : 0
    const cacheWriteTokens = (context - cacheReadTokens) * writtenShare
    const counted = { contextTokens: context, cacheReadTokens, cacheWriteTokens, outputTokens }
    const price = priceOf(model, counted)
    return { ...counted, calls, ...present({ dollars: price === undefined ? undefined : price * calls }) }
  })
}

/** The messages that each turn sent for the first time: those after the previous response, including that response. */
async function readSteps({ outline, turns, turnAt, messages }: Profile): Promise<readonly Step[]> {
  const sent = new Map<number, Message[]>()
  for (const [seq, message] of await messages(outline.path(outline.tip()) ?? [])) {
    // A response is in the log before its own usage entry, and is sent with the next turn.
    const turn = turnAt(seq) + (message.role === "assistant" ? 2 : 1)
    sent.set(turn, [...(sent.get(turn) ?? []), message])
  }
  const every = Math.max(1, Math.ceil(turns.length / maxSteps))
  const steps: Step[] = []
  let waiting: Message[] = []
  for (const turn of turns) {
    waiting = [...waiting, ...(sent.get(turn.turn) ?? [])]
    if (turn.turn % every !== 0 && turn.turn !== turns.length) continue
    if (seqOf(turn.entry) !== undefined && waiting.length > 0) steps.push({ turn, messages: waiting })
    waiting = []
  }
  return steps
}

type Scale = { readonly ratio: number; readonly stackTokens: number }

/** The ratio of the provider's count to ours, over all turns, and the tokens of the first request besides its messages. */
function scaleOf(turns: readonly Turn[], firstTokens: number): Scale {
  const compared = turns.filter(({ estimatedTokens }) => estimatedTokens > 0)
  const reported = sumOf(compared, ({ contextTokens }) => contextTokens)
  const estimated = sumOf(compared, ({ estimatedTokens }) => estimatedTokens)
  const ratio = estimated > 0 && reported > 0 ? Math.min(2, Math.max(0.5, reported / estimated)) : 1
  const stackTokens = Math.max(0, Math.round((turns[0]?.contextTokens ?? 0) - firstTokens * ratio))
  return { ratio, stackTokens }
}

async function replay(steps: readonly Step[], asked: WhatIf, { ratio, stackTokens }: Scale, signal: AbortSignal) {
  const scale = (tokens: number): number => Math.round(tokens * ratio) + stackTokens
  const windowTokens = Math.max(2000, Math.floor((asked.windowTokens - stackTokens) / ratio))
  const holdfast = createHoldfast({
    store: "memory",
    windowTokens,
    strategy: asked.strategy,
    policy: { compactAt: asked.compactAt },
    speculations: 0,
    model: steps[0]?.turn.model ?? "",
  })
  const contextTokens: number[] = []
  const cachedTokens: number[] = []
  const compactions: WhatIfCourse["compactions"][number][] = []
  try {
    const session = holdfast.session("what-if")
    let checkpoint: string | undefined
    for (const { turn, messages } of steps) {
      if (signal.aborted) break
      await session.append(messages)
      const format = messages.find(({ format: of }) => of !== undefined)?.format ?? "openai-chat"
      const { receipt } = await session.prepare({ format, maxOutputTokens: 1000 })
      if (receipt.checkpoint !== undefined && receipt.checkpoint !== checkpoint) {
        checkpoint = receipt.checkpoint
        const { checkpoints } = await session.overview()
        const made = checkpoints.find(({ id }) => id === checkpoint)
        const sizes = made && { beforeTokens: scale(made.beforeTokens), afterTokens: scale(made.afterTokens) }
        if (sizes !== undefined) compactions.push({ turn: turn.turn, ...sizes })
      }
      contextTokens.push(scale(receipt.contextTokens))
      cachedTokens.push(Math.min(scale(receipt.stableTokens), scale(receipt.contextTokens)))
      await nextTick()
    }
  } finally {
    await holdfast.close()
  }
  return { contextTokens, cachedTokens, compactions }
}

/** The course of a session: sums over all turns, and the sizes of those in `turns`, for drawing. */
function courseOf(
  all: readonly CourseTurn[],
  turns: readonly number[],
  windowTokens: number,
  compactions: WhatIfCourse["compactions"],
): WhatIfCourse {
  const drawn = turns.flatMap((turn) => all[turn - 1] ?? [])
  const sum = (figureOf: (turn: CourseTurn) => number): number => sumOf(all, (one) => figureOf(one))
  const priced = all.every(({ dollars }) => dollars !== undefined)
  return {
    contextTokens: drawn.map(({ contextTokens }) => contextTokens),
    cachedTokens: drawn.map(({ cacheReadTokens }) => cacheReadTokens),
    compactions,
    totals: {
      tokens: sum(({ contextTokens, calls }) => contextTokens * calls),
      cachedTokens: sum(({ cacheReadTokens, calls }) => cacheReadTokens * calls),
      largestTokens: all.reduce((most, { contextTokens }) => Math.max(most, contextTokens), 0),
      compactions: compactions.length,
      refusedTurns: all.filter(({ contextTokens }) => contextTokens > windowTokens).length,
      ...present({ dollars: priced ? sum(({ dollars = 0 }) => dollars) : undefined }),
    },
  }
}
