import { expect, test, vi } from "vitest"
import { describeQueue } from "../../../test/contracts/queue/describe-queue.ts"
import { describeOwnPostgres } from "../../../test/support/postgres-suite.ts"
import { leasing, openPgBossQueue } from "./pg-boss.ts"

await describeOwnPostgres("on PostgreSQL", (server) => {
  describeQueue("pg-boss", async () => {
    const url = await server.createDatabase()
    return { open: (options) => openPgBossQueue({ url, pollMs: 20, ...options }), stop: async () => {} }
  })

  test("ten replicas that open an empty database at the same moment all get a queue", async () => {
    const url = await server.createDatabase()
    const queues = await Promise.all(Array.from({ length: 10 }, () => openPgBossQueue({ url })))
    const job = { key: "a", session: "s", kind: "test", payload: "{}" }
    const added = await Promise.all(queues.map((queue) => queue.add(job)))
    expect(added.filter(Boolean)).toHaveLength(1)
    await Promise.all(queues.map((queue) => queue.close()))
  })

  test.skipIf(server.restart === undefined)("a server restart loses no job and ends no process", async () => {
    const url = await server.createDatabase()
    const problems: unknown[] = []
    const queue = await openPgBossQueue({ url, pollMs: 50, onProblem: (reason) => problems.push(reason) })
    const seen: string[] = []
    await queue.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
    await server.restart?.(async () => {
      await vi.waitFor(() => expect(problems.length).toBeGreaterThan(0), { timeout: 60_000 })
    })
    const add = (): Promise<boolean> => queue.add({ key: "a", session: "s", kind: "test", payload: "{}" })
    await vi.waitFor(add, { timeout: 60_000 })
    await vi.waitFor(() => expect(seen).toEqual(["a"]), { timeout: 60_000 })
    for (const problem of problems) expect(String(problem)).not.toContain(new URL(url).password)
    await queue.close()
  })
})

test.each([
  ["three seconds: too short for a heartbeat", 3_000, { expireInSeconds: 3 }],
  ["a part of a second counts as a whole one", 1, { expireInSeconds: 1 }],
  ["a minute: renewed by a heartbeat", 60_000, { expireInSeconds: 21_600, heartbeatSeconds: 60 }],
  ["a day: it may run so long", 86_400_000, { expireInSeconds: 86_400, heartbeatSeconds: 86_400 }],
])("a lease of %s", (_why, leaseMs, options) => {
  expect(leasing(leaseMs).options).toEqual(options)
})

test.each([
  ["no url at all", { url: "nonsense with secret" }, "url"],
  ["a url of something else", { url: "mysql://u:secret@h/d" }, "url"],
  ["a schema that is more than a name", { url: "postgres://u:secret@h/d", schema: "a; drop" }, "schema"],
  ["a lease of nothing", { url: "postgres://u:secret@h/d", leaseMs: 0 }, "leaseMs"],
])("%s is refused without revealing secrets", async (_why, options, option) => {
  const refused = await openPgBossQueue(options).catch((error: unknown) => error)
  expect(refused).toMatchObject({ problem: { code: "option-invalid", option } })
  expect(String(refused)).not.toContain("secret")
})
