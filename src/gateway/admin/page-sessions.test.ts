import { expect, test } from "vitest"
import { openAdminHouse } from "../../../test/fixtures/gateway/admin-house.ts"
import { fc } from "../../../test/support/property.ts"
import type { SessionFilter, SessionRow } from "../../store/store.ts"
import { pageSessions, readCursor, type SessionCursor, writeCursor } from "./session-routes.ts"

/** A store that lists sessions with the same time in a different order each time. */
function listing(rows: readonly SessionRow[]) {
  let turn = 0
  return async ({ agent, updatedBeforeMs = Infinity, limit = Infinity }: SessionFilter = {}) => {
    turn += 1
    const odd = turn % 2 === 0 ? rows : rows.toReversed()
    return odd
      .filter((row) => row.updatedMs < updatedBeforeMs && (agent === undefined || row.agent === agent))
      .sort((one, other) => other.updatedMs - one.updatedMs)
      .slice(0, limit)
  }
}

async function allPages(rows: readonly SessionRow[], limit: number, agent?: string): Promise<readonly SessionRow[]> {
  const sessions = listing(rows)
  const told: SessionRow[] = []
  let cursor: SessionCursor | undefined
  do {
    const page = await pageSessions({ sessions }, limit, agent === undefined ? {} : { agent }, cursor)
    expect(page.sessions.length).toBeLessThanOrEqual(limit)
    told.push(...page.sessions)
    cursor = page.before && readCursor(writeCursor(page.before))
  } while (cursor !== undefined)
  return told
}

test("pages list every session once, newest first, however many have the same time", async () => {
  const row = fc.record({ agent: fc.constantFrom("one", "two"), updatedMs: fc.nat(3) })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), async (given, limit) => {
      const head = { seq: 1, hash: "" }
      const rows = given.map((one, n): SessionRow => ({ ...one, tenant: "", id: `s:${n}`, head, createdMs: 0 }))
      const told = await allPages(rows, limit)
      expect(told.map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort())
      const moments = told.map(({ updatedMs }) => updatedMs)
      expect(moments).toEqual(moments.toSorted((one, other) => other - one))
      const ofOne = await allPages(rows, limit, "one")
      expect(new Set(ofOne.map(({ id }) => id)).size).toBe(rows.filter(({ agent }) => agent === "one").length)
    }),
  )
})

test("two pages over the store list all sessions of the requested agent exactly once", async () => {
  const { holdfast, read } = await openAdminHouse()
  for (let n = 0; n < 7; n++) await holdfast.session(`s${n}`).append([{ role: "user", content: "Good morning." }])
  const first = await read("/admin/sessions?limit=4&agent=default")
  const second = await read(String(first.next))
  const ids = [first, second].flatMap(({ sessions }) => Object(sessions).map(({ id }: { id: string }) => id))
  expect(ids.toSorted()).toEqual(["s0", "s1", "s2", "s3", "s4", "s5", "s6"])
  expect(second).not.toHaveProperty("next")
  expect(await read("/admin/sessions?agent=nobody")).toEqual({ sessions: [] })
})
