import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { openOperator } from "../../src/guard/operator/operator.ts"
import { openStore } from "../../src/store/open-store.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { startTestGateway } from "../support/gateway.ts"
import { fc, runs } from "../support/property.ts"

const endings: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

type Limit = { readonly per: "session" | "agent" | "tenant"; readonly every?: "day" }
type Buyer = {
  readonly key: string
  readonly agent: string
  readonly session: string
  readonly bypass: boolean
  /** Of a request that bypasses its session: it names it, or none. */
  readonly named: boolean
}

const start = Date.UTC(2026, 10, 17, 9)
const dayMs = 24 * 60 * 60 * 1000

/** A gateway whose model buys for the sum that the user says, under one limit of 100. */
async function open(limit: Limit, isStream = false) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-spend-"))
  endings.push(() => rmSync(folder, { recursive: true, force: true }))
  const policies = join(folder, "policy")
  mkdirSync(policies, { mode: 0o700 })
  writeFileSync(join(policies, "spend.json"), JSON.stringify([{ template: "spend-limit", amount: 100, ...limit }]), {
    mode: 0o600,
  })
  const model = await startModelServer({
    script: ({ body, rounds }) => {
      const sums = [...JSON.stringify(body).matchAll(/Buy for (\d+)/g)].map(([, sum]) => Number(sum))
      if (rounds > 0) return { text: "Then not." }
      return {
        calls: [{ tool: "buy", input: { item: "tea", price_usd: sums.at(-1) } }],
      }
    },
  })
  endings.push(model.close)
  const clock = { atMs: start }
  const now = (): number => clock.atMs
  const serve = async () => {
    const store = await openStore(join(folder, "hf.db"))
    const operator = await openOperator({ store, directory: policies, watch: false })
    const gateway = await startTestGateway(model.url, { store, operator, now, sessions: { now } })
    const close = async () => {
      await gateway.close()
      operator.close()
      await store.close()
    }
    return { gateway, close }
  }
  let serving = await serve()
  endings.push(() => serving.close())
  const buy = async (buyer: Buyer, sum: number): Promise<boolean> => {
    const { key, agent, session, bypass, named } = buyer
    const response = await fetch(`${serving.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-holdfast-agent": agent,
        ...(bypass && !named ? {} : { "x-holdfast-session": session }),
        ...(bypass ? { "x-holdfast-bypass": "1" } : {}),
      },
      body: JSON.stringify({
        model: "gpt-5",
        stream: isStream,
        messages: [{ role: "user", content: `Buy for ${sum}` }],
      }),
    })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return text.includes('"buy"')
  }
  const restart = async (): Promise<void> => {
    await serving.close()
    serving = await serve()
  }
  return { buy, clock, restart }
}

const buyers: fc.Arbitrary<Buyer> = fc.record({
  key: fc.constantFrom("one", "two"),
  agent: fc.constantFrom("clerk", "cook"),
  session: fc.constantFrom("s1", "s2"),
  bypass: fc.boolean(),
  named: fc.boolean(),
})

/** The accounts that a purchase counts towards under a limit, and the one that it is judged by. */
function accountOf({ key, agent, session, bypass, named }: Buyer, { per, every }: Limit, day: number): string {
  if (per === "session") return bypass && !named ? `${key} nameless ${agent}` : `${key} ${session}`
  return [key, ...(per === "agent" ? [agent] : []), ...(every === "day" ? [day] : [])].join(" ")
}

const limits: readonly Limit[] = [
  { per: "session" },
  { per: "agent" },
  { per: "tenant" },
  { per: "agent", every: "day" },
  { per: "tenant", every: "day" },
]

test.each(limits)("%j: what is bought never exceeds the limit, bypassed and restarted or not", async (limit) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          buyer: buyers,
          sum: fc.integer({ min: 1, max: 90 }),
          before: fc.constantFrom("nothing", "nothing", "nothing", "restart", "day"),
        }),
        { minLength: 4, maxLength: 12 },
      ),
      async (purchases) => {
        const place = await open(limit)
        const spent = new Map<string, number>()
        let day = 0
        for (const { buyer, sum, before } of purchases) {
          if (before === "restart") await place.restart()
          if (before === "day") {
            day += 1
            place.clock.atMs += dayMs
          }
          const account = accountOf(buyer, limit, day)
          const total = (spent.get(account) ?? 0) + sum
          const bought = await place.buy(buyer, sum)
          expect({ buyer, sum, account, bought }).toEqual({ buyer, sum, account, bought: total <= 100 })
          if (bought) spent.set(account, total)
        }
        for (const end of endings.splice(0).reverse()) await end()
      },
    ),
    { numRuns: Math.max(3, Math.ceil(runs / 10)), endOnFailure: true },
  )
})

test.each([false, true])(
  "sessions that buy at the same moment do not each have the whole limit (streamed: %s)",
  async (isStream) => {
    const place = await open({ per: "tenant" }, isStream)
    const buyer = (n: number): Buyer => ({
      key: "one",
      agent: `a${n % 2}`,
      session: `s${n}`,
      bypass: n % 3 === 0,
      named: true,
    })
    const bought = await Promise.all(Array.from({ length: 8 }, (_, n) => place.buy(buyer(n), 30).catch(() => false)))
    expect(bought.filter((did) => did).length).toBeLessThanOrEqual(3)
    expect(bought.filter((did) => did).length).toBeGreaterThan(0)
    expect(await place.buy(buyer(9), 30)).toBe(false)
  },
)
