import type { Context, Hono } from "hono"
import { startOfText } from "../../language/cut-text.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { entryId, seqOf, thaw } from "../../session/log/entry.ts"
import type { SessionRow } from "../../store/store.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { addRoute } from "./add-route.ts"
import type { CompactionAnswer } from "./answers.ts"
import { boundValue } from "./bound-value.ts"
import { diffOf, openCompaction, viewCompaction } from "./compaction-view.ts"
import { sourcesOf } from "./handoff-lines.ts"
import { argumentWords } from "./message-line.ts"
import { readNumber, readTextParameter, refuseText } from "./read-query.ts"
import { refusalResponse, refusals } from "./refusal.ts"
import { savingsSince } from "./savings.ts"
import type { Profile, Profiles } from "./session-profile.ts"
import type { Find } from "./session-routes.ts"
import { playWhatIf, type WhatIf, whatIfStrategies } from "./what-if.ts"

type SessionDeps = { readonly find: Find; readonly profiles: Profiles }

/** Routes of the inspector: one compaction, message by message, and what-if replays of a session with other settings. */
export function addCompactionRoutes(app: Hono, deps: SessionDeps): void {
  const at = "/admin/sessions/:id"
  addRoute(app, "GET", `${at}/what-if`, createWhatIf(deps))
  addRoute(app, "GET", `${at}/compactions/:checkpoint`, (c) => tellCompaction(c, deps))
  addRoute(app, "GET", `${at}/compactions/:checkpoint/entries/:entry`, (c) => tellDiff(c, deps))
  addRoute(app, "GET", `${at}/compactions/:checkpoint/lines/:line`, (c) => tellSources(c, deps))
}

type Opened = { readonly row: SessionRow; readonly profile: Profile }

/** The session that a path names, with what its log says. */
export async function openWithProfile(c: Context, { find, profiles }: SessionDeps): Promise<Opened> {
  const { row } = await find(c.req.param("id") ?? "")
  return { row, profile: await profiles.read(row.id) }
}

/** Limit on earlier compactions searched, because lines may be carried over from them. */
const maxEarlier = 50

async function tellCompaction(c: Context, deps: SessionDeps): Promise<Response> {
  const { row, profile } = await openWithProfile(c, deps)
  const id = c.req.param("checkpoint") ?? ""
  const opened = await openCompaction(deps.profiles, row.id, profile, id)
  const figures = profile.compactions.find((one) => one.id === id)
  const { profiles } = deps
  const earlier = await earlierSummaries(profiles, row.id, opened.checkpoint.base)
  const view = viewCompaction(opened, { profile, earlier, rules: await rulesBefore(profiles, row.id, profile, id) })
  if (figures === undefined) return refusalResponse(refusals.path)
  const number = profile.compactions.indexOf(figures) + 1
  const inForce = profile.outline.checkpointAt(profile.outline.tip()) === Number(id.slice(1))
  const answer: CompactionAnswer = {
    compaction: { ...figures, number, of: profile.compactions.length, inForce },
    ...view,
    since: savingsSince(profile, figures),
    plan: planOf(opened.checkpoint.trace),
    rereads: await rereadsOf(profiles, row.id, profile, Number(id.slice(1))),
  }
  return c.json(answer)
}

/** What was looked up again right after a compaction, because it had removed it. */
async function rereadsOf(profiles: Profiles, session: string, { outline, turnAt }: Profile, checkpoint: number) {
  const seqs = outline.ofType("lookups-repeated").filter((seq) => outline.reference(seq) === checkpoint)
  const entries = await profiles.entries(session, seqs)
  return [...entries.values()].flatMap(({ seq, body }) =>
    body.type === "lookups-repeated"
      ? body.lookups.map(({ tool, target }) => ({ tool, target: targetText(target), turn: turnAt(seq) + 1 }))
      : [],
  )
}

/** What a lookup was about: the values of its arguments, where they are JSON. */
const targetText = (target: string): string => startOfText(argumentWords(tryParse(target) ?? target), 300)

/** What was decided and tried, as the trace has it. */
function planOf(trace: string): CompactionAnswer["plan"] {
  const events: unknown = JSON.parse(trace)
  const told = Array.isArray(events)
    ? events.filter(({ type }) => /^(?:plan-made|remedy-rejected|summary-|gate|pins-left-out)/.test(String(type)))
    : []
  const { value } = boundValue(told, { text: 2000, items: 200, total: 40_000 })
  return Array.isArray(value) ? value.filter(isObject) : []
}

async function earlierSummaries(profiles: Profiles, session: string, base: number) {
  const earlier: { readonly id: string; readonly summary?: string }[] = []
  for (let at = base; at > 0 && earlier.length < maxEarlier; ) {
    const body = (await profiles.entries(session, [at])).get(at)?.body
    if (body?.type !== "checkpoint-installed") break
    earlier.push({ id: entryId(at), ...present({ summary: body.summary }) })
    at = body.base
  }
  return earlier
}

/** The rules that were in force before a compaction. */
async function rulesBefore(profiles: Profiles, session: string, { outline }: Profile, id: string) {
  const end = Number(id.slice(1))
  const gone = new Set(
    outline.ofType("rule-unpinned").flatMap((seq) => (seq < end ? (outline.reference(seq) ?? []) : [])),
  )
  const pinned = outline.ofType("rule-pinned").filter((seq) => seq < end && !gone.has(seq))
  const entries = await profiles.entries(session, pinned)
  return [...entries.values()].flatMap(({ body }) => (body.type === "rule-pinned" ? body.text : []))
}

/** Limit on the text of one message on a page; the export has all of it. */
const maxDiff = 400_000

async function tellDiff(c: Context, deps: SessionDeps): Promise<Response> {
  const { row, profile } = await openWithProfile(c, deps)
  const opened = await openCompaction(deps.profiles, row.id, profile, c.req.param("checkpoint") ?? "")
  const entry = c.req.param("entry") ?? ""
  const diff = diffOf(opened, entry)
  if (diff === undefined)
    throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: JSON.stringify(entry.slice(0, 40)) })
  const { before, after } = diff
  const cut = before.length > maxDiff || (after?.length ?? 0) > maxDiff
  return c.json({ before: before.slice(0, maxDiff), ...present({ after: after?.slice(0, maxDiff) }), cut })
}

/** Limit on compactions searched for a line's source: this one or an earlier one left it out. */
const maxBack = 10

async function tellSources(c: Context, deps: SessionDeps): Promise<Response> {
  const { row, profile } = await openWithProfile(c, deps)
  const { profiles } = deps
  const opened = await openCompaction(profiles, row.id, profile, c.req.param("checkpoint") ?? "")
  const earlier = await earlierSummaries(profiles, row.id, opened.checkpoint.base)
  const { handoff } = viewCompaction(opened, { profile, earlier, rules: [] })
  const line = handoff?.lines[Number(c.req.param("line"))]
  if (line === undefined) return refusalResponse(refusals.path)
  const named = await messagesAt(profiles, row.id, line.sources)
  let sources = sourcesOf(line, named.size > 0 ? named : opened.whole, profile.turnAt)
  for (const { id } of sources.length > 0 ? [] : earlier.slice(0, maxBack)) {
    const { whole } = await openCompaction(profiles, row.id, profile, id)
    sources = sourcesOf(line, whole, profile.turnAt)
    if (sources.length > 0) break
  }
  return c.json({ sources })
}

async function messagesAt(profiles: Profiles, session: string, ids: readonly string[]) {
  const entries = await profiles.entries(
    session,
    ids.flatMap((id) => seqOf(id) ?? []),
  )
  const messages = new Map<number, Message>()
  for (const { seq, body } of entries.values())
    if (body.type === "message-appended") messages.set(seq, thaw(body.message, entryId(seq)))
  return messages
}

/** One replay at a time: they run beside the gateway's own work. */
function createWhatIf(deps: SessionDeps): (c: Context) => Promise<Response> {
  let isPlaying = false
  return async (c) => {
    const asked = readWhatIf(c)
    const { row, profile } = await openWithProfile(c, deps)
    if (isPlaying) return refusalResponse(refusals.busy)
    isPlaying = true
    try {
      return c.json(await playWhatIf(deps.profiles, row.id, profile, asked, c.req.raw.signal))
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
