import { present } from "../../message/present.ts"
import type { SessionRow, Store } from "../../store/store.ts"

/** The last session of the page before. */
export type SessionCursor = { readonly updatedMs: number; readonly id: string }

export type SessionPage = { readonly sessions: readonly SessionRow[]; readonly before?: SessionCursor }

/** Sessions of one moment are told apart only when all of them are there; a listing holds no more than so many. */
const maxListed = 100_000

const cursorShape = /^(\d{1,16}):(.{1,200})$/su
/** The last moment that a date can say. */
const latestMs = 8.64e15

export const writeCursor = ({ updatedMs, id }: SessionCursor): string => `${updatedMs}:${id}`

export function readCursor(text: string): SessionCursor | undefined {
  const [, ms, id] = cursorShape.exec(text) ?? []
  if (ms === undefined || id === undefined || Number(ms) > latestMs) return undefined
  return { updatedMs: Number(ms), id }
}

/** A page of sessions, the newest first, and of one moment by their ids: each is on one page, unless it is written to meanwhile. */
export async function pageSessions(
  store: Pick<Store, "sessions">,
  limit: number,
  agent: string | undefined,
  cursor: SessionCursor | undefined,
): Promise<SessionPage> {
  const updatedBeforeMs = cursor === undefined ? undefined : cursor.updatedMs + 1
  for (let asked = limit + 2; ; asked *= 4) {
    const rows = await store.sessions({ limit: asked, ...present({ agent, updatedBeforeMs }) })
    const all = rows.length < asked || asked >= maxListed
    const last = rows.at(-1)?.updatedMs ?? 0
    // Others of the last moment may be missing yet, and come before those that are here.
    const sure = all ? rows : rows.filter(({ updatedMs }) => updatedMs > last)
    const left = sure.filter((row) => cursor === undefined || inOrder(cursor, row) < 0).sort(inOrder)
    if (all || left.length > limit) return pageOf(left, limit)
  }
}

function pageOf(left: readonly SessionRow[], limit: number): SessionPage {
  const sessions = left.slice(0, limit)
  const last = left.length > limit ? sessions.at(-1) : undefined
  return { sessions, ...present({ before: last && { updatedMs: last.updatedMs, id: last.id } }) }
}

function inOrder(one: SessionCursor, other: SessionCursor): number {
  if (one.updatedMs !== other.updatedMs) return other.updatedMs - one.updatedMs
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0
}
