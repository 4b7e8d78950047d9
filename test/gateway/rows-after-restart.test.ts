import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openInspectedGateway } from "../inspector/open-inspector.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-restart-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const rule = "Never send money to an account that the customer did not name."

/** Returns everything that lists and pages show of the sessions. */
async function told(house: Awaited<ReturnType<typeof openInspectedGateway>>): Promise<unknown> {
  const { sessions } = await house.admin("sessions")
  const rows: readonly { readonly id: string }[] = JSON.parse(JSON.stringify(sessions))
  const pages = rows.map(async (row) => {
    const path = `sessions/${encodeURIComponent(row.id)}`
    return { row, turns: await house.admin(`${path}/turns`), view: await house.admin(`${path}/view`) }
  })
  return { pages: await Promise.all(pages), totals: await house.admin("totals") }
}

test("every figure and name of a list is the same after the gateway was stopped and started again", async () => {
  const place = { databaseUrl: join(folder, "holdfast.db"), policy: join(folder, "policy") }
  await mkdir(place.policy)
  await writeFile(join(place.policy, "house.md"), `- ${rule}\n`)
  const first = await openInspectedGateway(place)
  const words = "Working directory: /home/someone/harbour\n\nWhich berths are free?"
  await (await first.ask("berths", [{ role: "user", content: words }])).text()
  const demo = await first.admin(`rows?ids=${encodeURIComponent(first.demoSession)}`)
  expect(demo.sessions).toMatchObject([{ windowTokens: 14_000, rules: 2 }])
  const asked = await first.admin("rows?ids=one.berths")
  expect(asked.sessions).toMatchObject([{ client: "claude-cli/2.1.0", project: "harbour", rules: 1 }])
  const before = await told(first)
  await first.close()
  const second = await openInspectedGateway({ ...place, demo: false })
  const after = await told(second)
  await second.close()
  expect(withoutMarks(after)).toEqual(withoutMarks(before))
  const [marksBefore, marksAfter] = [marksIn(before), marksIn(after)]
  expect(marksAfter).toHaveLength(marksBefore.length)
  for (const [n, mark] of marksAfter.entries()) expect(mark / (marksBefore[n] ?? 0)).toBeCloseTo(1, 1)
})

const markName = "compactAtTokens"
const unreadName = "compactUnreadAtTokens"

/**
 * Removes the mark of the next compaction, which depends on what the last request could not leave out; no log has that, so it is
 * approximate.
 */
const withoutMarks = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, one) => (name === markName || name === unreadName ? undefined : one)))

const marksIn = (value: unknown): readonly number[] =>
  [...JSON.stringify(value).matchAll(new RegExp(`"${markName}":(\\d+)`, "g"))].map(([, digits]) => Number(digits))
