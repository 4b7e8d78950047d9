import { afterEach, expect, test } from "vitest"
import { createKeyPair, openOperator, signCommand } from "../../src/guard/operator/index.ts"
import { openPostgresStore } from "../../src/store/postgres-store.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { adminToken, startTestGateway } from "../support/gateway.ts"
import { describePostgres } from "../support/postgres-suite.ts"

const endings: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const input = { to: "eve@elsewhere.test", body: "Hello" }
type Waiting = { readonly approvals: readonly { readonly id: string; readonly tool: string }[] }

/** Two gateways on one PostgreSQL, each with separate connections and a separate operator's channel. */
await describePostgres("two replicas", (postgres) => {
  const outcomes = [
    ["approve", true],
    ["refuse", false],
  ] as const
  test.each(outcomes)(
    "a call that waits at one is released by an answer given to the other: %s",
    async (type, isReleased) => {
      const url = await postgres.createDatabase()
      const pair = createKeyPair()
      const model = await startModelServer({
        script: ({ rounds }) => (rounds > 0 ? { text: "Well." } : { calls: [{ tool: "send_email", input }] }),
      })
      endings.push(model.close)
      const start = async () => {
        const store = await openPostgresStore({ url })
        const operator = await openOperator({ store, keys: [pair.publicKey] })
        const gateway = await startTestGateway(model.url, { store, operator, askTimeoutMs: 30_000 })
        endings.push(async () => {
          await gateway.close()
          operator.close()
          await store.close()
        })
        return { gateway, operator }
      }
      const [here, there] = [await start(), await start()]
      let sequence = 0
      const sign = (command: Parameters<typeof signCommand>[1]["command"]): string =>
        signCommand(pair.privateKey, {
          audience: there.operator.audience,
          sequence: ++sequence,
          issuedAtMs: Date.now(),
          expiresAtMs: Date.now() + 60_000,
          nonce: `nonce-of-${sequence}-and-more`,
          command,
        })
      const admin = async (path: string, body?: object): Promise<unknown> => {
        const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
        const asked = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) }
        return (await fetch(`${there.gateway.url}/admin/${path}`, asked)).json()
      }
      const policy = { template: "email-domains", domains: ["example.com"], decision: "ask" } as const
      await admin("commands", { command: sign({ type: "add-policy", name: "mail", policy }) })
      await here.operator.refresh()
      const answer = fetch(`${here.gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer one", "content-type": "application/json" },
        body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Write to Eve." }] }),
      })
      const waiting = async () => ((await admin("approvals")) as Waiting).approvals
      await expect.poll(async () => (await waiting()).length, { timeout: 10_000 }).toBe(1)
      const [call] = await waiting()
      expect(call?.tool).toBe("send_email")
      const told = await admin("commands", { command: sign({ type, call: call?.id ?? "" }) })
      expect(told).toMatchObject({ approval: { id: call?.id, waitedHere: false } })
      expect((await (await answer).text()).includes('"tool_calls"')).toBe(isReleased)
      await expect.poll(async () => (await waiting()).length, { timeout: 10_000 }).toBe(0)
    },
    60_000,
  )

  test("an exchange at one is among the newest of the other, and in its stream of events", async () => {
    const url = await postgres.createDatabase()
    const model = await startModelServer({ script: () => ({ text: "Well." }) })
    endings.push(model.close)
    const start = async () => {
      const store = await openPostgresStore({ url })
      const gateway = await startTestGateway(model.url, { store })
      endings.push(async () => {
        await gateway.close()
        await store.close()
      })
      return gateway
    }
    const [here, there] = [await start(), await start()]
    const headers = { authorization: `Bearer ${adminToken}` }
    const leave = new AbortController()
    const stream = await fetch(`${there.url}/admin/events`, { headers, signal: leave.signal })
    endings.push(() => leave.abort())
    let told = ""
    const reading = (async () => {
      const decoder = new TextDecoder()
      for await (const bytes of stream.body ?? []) told += decoder.decode(bytes, { stream: true })
    })().catch(() => {})
    const answer = await fetch(`${here.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer one", "content-type": "application/json", "x-holdfast-session": "shared-talk" },
      body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Good morning." }] }),
    })
    expect(await answer.text()).toContain("Well.")
    const newest = async (gateway: typeof here): Promise<readonly string[]> => {
      const { traces } = (await (await fetch(`${gateway.url}/admin/traces`, { headers })).json()) as {
        readonly traces: readonly { readonly id: string }[]
      }
      return traces.map(({ id }) => id)
    }
    await expect.poll(async () => (await newest(there)).length, { timeout: 10_000 }).toBe(1)
    expect(await newest(there)).toEqual(await newest(here))
    await expect.poll(() => told, { timeout: 10_000 }).toContain("shared-talk")
    leave.abort()
    await reading
  }, 60_000)
})
