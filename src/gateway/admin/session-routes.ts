import type { Context, Hono } from "hono"
import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { seqOf } from "../../session/log/entry.ts"
import { checkSessionId } from "../../session/options.ts"
import type { Session } from "../../session/session.ts"
import { verifyLog } from "../../session/verify-log.ts"
import type { SessionRow } from "../../store/store.ts"
import { addRoute } from "./add-route.ts"
import type { AdminDeps } from "./admin-deps.ts"
import { boundValue } from "./bound-value.ts"
import { pageSessions, readCursor, writeCursor } from "./page-sessions.ts"
import { readFlag, readNumber, readText, refuseText } from "./read-query.ts"
import { readSessionName } from "./read-session-name.ts"
import { refusals, refuse, tellProblem } from "./refusal.ts"
import { tellCompaction } from "./tell-compaction.ts"
import { entryBounds, pageHistory, tellEntry } from "./tell-history.ts"

/** The numbers that a question about sessions may name. */
const pages = {
  sessions: { usual: 50, most: 500 },
  history: { usual: 100, most: 500 },
  compactions: { usual: 10, most: 50 },
  pins: { usual: 500, most: 5000 },
} as const
/** Branches and compactions that an overview lists; its figures count all of them. */
const maxListed = 100
/** Logs that are checked at a time: it reads all of one. */
const maxChecks = 2
/** The last place that a log can have. */
const lastSeq = 999_999_999_999_999

type Deps = Pick<AdminDeps, "holdfast" | "store">

/** All that can be asked about sessions. */
export function addSessionRoutes(app: Hono, deps: Deps): void {
  const at = "/admin/sessions/:id"
  addRoute(app, "GET", "/admin/sessions", (c) => listSessions(c, deps))
  addRoute(app, "GET", at, (c) => showSession(c, deps))
  addRoute(app, "GET", `${at}/history`, (c) => showHistory(c, deps))
  addRoute(app, "GET", `${at}/entries/:entry`, (c) => showEntry(c, deps))
  addRoute(app, "GET", `${at}/pins`, (c) => showPins(c, deps))
  addRoute(app, "GET", `${at}/compactions`, (c) => showCompactions(c, deps))
  addRoute(app, "GET", `${at}/verify`, createVerify(deps))
}

const readLimit = (c: Context, { usual, most }: { readonly usual: number; readonly most: number }): number =>
  readNumber(c, "limit", usual, { least: 1, most })

/** The same path with other parameters, for the page behind this one. */
function linkTo(c: Context, changes: Readonly<Record<string, string | number>>): string {
  const { pathname, searchParams } = new URL(c.req.url)
  for (const [name, value] of Object.entries(changes)) searchParams.set(name, String(value))
  return `${pathname}?${searchParams}`
}

/** A session with what its name says of whose it is. */
const tellRow = (row: SessionRow): object => ({ ...row, ...readSessionName(row.id) })

async function listSessions(c: Context, deps: Deps): Promise<Response> {
  const limit = readLimit(c, pages.sessions)
  const agent = readText(c, "agent")
  const before = readText(c, "before", 220)
  const cursor =
    before === undefined ? undefined : (readCursor(before) ?? refuseText("before", "the `before` of `next`", before))
  const page = await pageSessions(deps.store, limit, agent, cursor)
  const next = page.before && linkTo(c, { before: writeCursor(page.before) })
  return c.json({ sessions: page.sessions.map(tellRow), ...present({ next }) })
}

type Found = { readonly row: SessionRow; readonly session: Session }

/** The session that the path names; one that the store does not have is not opened. */
async function find(c: Context, { store, holdfast }: Deps): Promise<Found> {
  const id = c.req.param("id") ?? ""
  const row = isSessionId(id) ? await store.session(id) : undefined
  if (row === undefined) throw new HoldfastError({ code: "session-unknown", session: JSON.stringify(id.slice(0, 200)) })
  const { tenant, agent } = row
  return { row, session: holdfast.session(id, agent === "" ? { tenant } : { tenant, agent }) }
}

function isSessionId(id: string): boolean {
  try {
    checkSessionId(id)
    return true
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return false
  }
}

async function showSession(c: Context, deps: Deps): Promise<Response> {
  const { row, session } = await find(c, deps)
  const { branches, checkpoints, ...overview } = await session.overview()
  return c.json({
    session: tellRow(row),
    overview: {
      ...overview,
      branchCount: branches.length,
      branches: branches.slice(0, maxListed),
      checkpointCount: checkpoints.length,
      checkpoints: checkpoints.slice(0, maxListed),
    },
  })
}

async function showHistory(c: Context, deps: Deps): Promise<Response> {
  const from = readNumber(c, "from", 1, { least: 1, most: lastSeq })
  const limit = readLimit(c, pages.history)
  const full = readFlag(c, "full")
  const { session } = await find(c, deps)
  const { entries, next } = await pageHistory(session, from, limit, full)
  return c.json({ entries, ...present({ next: next && linkTo(c, { from: next }) }) })
}

async function showEntry(c: Context, deps: Deps): Promise<Response> {
  const full = readFlag(c, "full")
  const { row, session } = await find(c, deps)
  const id = c.req.param("entry") ?? ""
  const seq = seqOf(id)
  const [entry] = seq === undefined ? [] : await session.history({ from: seq, limit: 1 })
  if (entry === undefined)
    throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: JSON.stringify(id.slice(0, 40)) })
  const explanation = await session.explain(id)
  const told = full ? explanation : boundValue(explanation, entryBounds).value
  return c.json({ entry: tellEntry(entry, full), explanation: told })
}

async function showPins(c: Context, deps: Deps): Promise<Response> {
  const all = readFlag(c, "all")
  const limit = readLimit(c, pages.pins)
  const { session } = await find(c, deps)
  const pins = await session.pins({ all })
  return c.json({ pins: pins.slice(0, limit), total: pins.length })
}

async function showCompactions(c: Context, deps: Deps): Promise<Response> {
  const limit = readLimit(c, pages.compactions)
  const before = readText(c, "before")
  const end = before === undefined ? Infinity : (seqOf(before) ?? refuseText("before", "an entry such as e12", before))
  const { session } = await find(c, deps)
  const { checkpoints } = await session.overview()
  const older = checkpoints.filter(({ id }) => (seqOf(id) ?? 0) < end)
  const compactions: unknown[] = []
  for (const checkpoint of older.slice(0, limit)) {
    const [entry] = await session.history({ from: seqOf(checkpoint.id) ?? 0, limit: 1 })
    compactions.push(tellCompaction(checkpoint, entry ?? {}))
  }
  const last = older.length > limit ? older[limit - 1]?.id : undefined
  return c.json({
    compactions,
    total: checkpoints.length,
    ...present({ next: last && linkTo(c, { before: last }) }),
  })
}

/** A log is checked beside whoever uses the session: nobody waits for it. */
function createVerify(deps: Deps): (c: Context) => Promise<Response> {
  let running = 0
  return async (c) => {
    const { row } = await find(c, deps)
    if (running >= maxChecks) return refuse(refusals.busy)
    running++
    try {
      const { seq, hash } = await verifyLog(deps.store, row.id)
      return c.json({ session: row.id, whole: seq >= row.head.seq, entries: seq, hash })
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.problem.code !== "store-corrupt") throw error
      return c.json({ session: row.id, whole: false, problem: tellProblem(error.problem) })
    } finally {
      running--
    }
  }
}
