import { expect, onTestFinished, test } from "vitest"
import { openPostgresStore } from "../../src/store/postgres-store.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { describePostgres } from "../support/postgres-suite.ts"
import { fc } from "../support/property.ts"
import { type Replica, startReplica } from "./start-replica.ts"

const tenants = [
  { key: "key-of-the-first-tenant-1111", marker: "quokkastone" },
  { key: "key-of-the-second-tenant-2222", marker: "lemurbridge" },
] as const

const step = fc.record({
  tenant: fc.nat(1),
  replica: fc.nat(1),
  does: fc.constantFrom("state", "state", "ask", "buy"),
  session: fc.constantFrom("ledger", "ledger-2"),
  bypass: fc.constantFrom(false, false, false, true),
  /** Before the operation, the replica is killed and another one starts in its place. */
  killed: fc.constantFrom(...Array.from({ length: 4 }, () => false), true),
})

const limit = 100
const price = 30
const filler = "The rest of this note says nothing of interest to anybody and is only long. ".repeat(40)

await describePostgres("PostgreSQL", (server) => {
  test("two tenants through two replicas that are killed and restarted: nothing crosses, and each keeps its own limit", async () => {
    const url = await server.createDatabase()
    const model = await startModelServer({
      script: ({ body, rounds }) => {
        // Only the current request counts: the record of earlier work mentions purchases that were made.
        const { messages }: { messages: { role: string; content: unknown }[] } = JSON.parse(JSON.stringify(body))
        const last = messages.at(-1)
        const isWish = last?.role === "user" && JSON.stringify(last.content).includes("Please buy")
        return isWish && rounds === 0
          ? { calls: [{ tool: "buy", input: { item: "tea", price_usd: price } }] }
          : { text: "Noted." }
      },
    })
    const store = await openPostgresStore({ url })
    // A replica that survives a failed test would keep the run from ending.
    const start = async (): Promise<Replica> => {
      const replica = await startReplica(url, model.url, limit)
      onTestFinished(() => replica.kill())
      return replica
    }
    const replicas = [await start(), await start()]
    const seen = tenants.map((): string[] => [])
    const bought = [0, 0]
    let kills = 0
    let count = 0
    const steps = fc.sample(step, { numRuns: 40, seed: 20261117 })
    for (const { tenant, replica, does, session, bypass, killed } of steps) {
      if (killed) {
        await replicas[replica]?.kill()
        replicas[replica] = await start()
        kills += 1
      }
      count += 1
      const { key, marker } = tenants[tenant] ?? tenants[0]
      const words =
        does === "buy"
          ? `Please buy item ${marker}${count}.`
          : does === "ask"
            ? "What is the access code of the harbour crane?"
            : `The access code of the harbour crane is ${marker}${count}. ${filler}`
      const response = await fetch(`${replicas[replica]?.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "x-holdfast-session": session,
          ...(bypass ? { "x-holdfast-bypass": "1" } : {}),
        },
        body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: words }] }),
      })
      const text = await response.text()
      expect({ status: response.status, text: response.status === 200 ? "" : text }).toEqual({ status: 200, text: "" })
      seen[tenant]?.push(text)
      if (does !== "buy") {
        expect(text).not.toContain('"buy"')
        continue
      }
      const before = bought[tenant] ?? 0
      expect({ before, isBought: text.includes('"buy"') }).toEqual({ before, isBought: before + price <= limit })
      if (before + price <= limit) bought[tenant] = before + price
    }
    for (const [at, { key }] of tenants.entries()) {
      const other = tenants[1 - at]?.marker ?? ""
      const sent = model.requests
        .filter(({ headers }) => headers.authorization === `Bearer ${key}`)
        .map(({ body }) => Buffer.from(body).toString())
      for (const text of [...(seen[at] ?? []), ...sent]) expect(text.includes(other) ? text : "").toBe("")
    }
    // The run went far enough: replicas died, and each tenant met its limit.
    expect(kills).toBeGreaterThan(3)
    expect(bought).toEqual([90, 90])
    expect((await store.sessions({})).length).toBeGreaterThan(1)
    for (const one of replicas) await one.close()
    expect(replicas.flatMap(({ faults }) => faults)).toEqual([])
    await store.close()
    await model.close()
  }, 240_000)
})
