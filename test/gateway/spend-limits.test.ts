import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { openOperator } from "../../src/guard/operator/operator.ts"
import { openStore } from "../../src/store/open-store.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { startTestGateway } from "../support/gateway.ts"
import { diagonalOf, fc, runs } from "../support/property.ts"

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
  /** For a request that bypasses its session: true if it names a session. */
  readonly named: boolean
}

const start = Date.UTC(2026, 10, 17, 9)
const dayMs = 24 * 60 * 60 * 1000

/** Starts a gateway whose model buys for the sum that the user says, under one limit of 100. */
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

/** Returns the account that a purchase counts towards under a limit. */
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

/** Starts a provider that stores its responses: each buys for the sum that the user says, at once or in the background. */
async function startProvider(): Promise<string> {
  const stored = new Map<string, object>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const send = (value: object): void => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
    }
    if (request.method === "GET") return send(stored.get(request.url?.split("/").at(-1) ?? "") ?? {})
    const body = Buffer.concat(chunks).toString()
    const sum = Number(/Buy for (\d+)/.exec(body)?.[1])
    const id = `resp_${stored.size}`
    const args = JSON.stringify({ item: "tea", price_usd: sum })
    const call = { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: "buy", arguments: args }
    const whole = { id, object: "response", status: "completed", model: "gpt-5", output: [call] }
    stored.set(id, whole)
    send(body.includes('"background":true') ? { ...whole, status: "queued", output: [] } : whole)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  endings.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const readings = limits.flatMap((limit) =>
  [false, true].flatMap((background) => [false, true].map((bypass) => ({ ...limit, background, bypass }))),
)

test.each(diagonalOf(readings, 4))(
  "%j: a stored response that is read again is the same, and what it spends counts once",
  async ({ background, bypass, ...limit }) => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-stored-"))
    endings.push(() => rmSync(folder, { recursive: true, force: true }))
    const policies = join(folder, "policy")
    mkdirSync(policies, { mode: 0o700 })
    const uses = JSON.stringify([{ template: "spend-limit", amount: 100, ...limit }])
    writeFileSync(join(policies, "spend.json"), uses, { mode: 0o600 })
    const store = await openStore(join(folder, "hf.db"))
    const operator = await openOperator({ store, directory: policies, watch: false })
    const gateway = await startTestGateway(await startProvider(), { store, operator })
    endings.push(async () => {
      await gateway.close()
      operator.close()
      await store.close()
    })
    const headers = {
      authorization: "Bearer one",
      "content-type": "application/json",
      "x-holdfast-agent": "clerk",
      "x-holdfast-session": "s1",
      ...(bypass ? { "x-holdfast-bypass": "1" } : {}),
    }
    const ask = async (path: string, body?: object): Promise<string> => {
      const response = await fetch(`${gateway.url}${path}`, {
        headers,
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      })
      return await response.text()
    }
    const buy = (sum: number): Promise<string> =>
      ask("/v1/responses", { model: "gpt-5", background, store: true, input: `Buy for ${sum}` })
    const bought = '"buy"'
    expect((await buy(60)).includes(bought)).toBe(!background)
    for (let time = 0; time < 3; time++) expect(await ask("/v1/responses/resp_0")).toContain(bought)
    // Exactly 40 are left.
    const over = await buy(41)
    if (background) expect(await ask("/v1/responses/resp_1")).not.toContain(bought)
    else expect(over).not.toContain(bought)
    const within = await buy(40)
    const id = `resp_${background ? 2 : /resp_\d+/.exec(within)?.[0].slice(5)}`
    expect(background ? await ask(`/v1/responses/${id}`) : within).toContain(bought)
    for (let time = 0; time < 2; time++) expect(await ask(`/v1/responses/${id}`)).toContain(bought)
  },
)
