import { startGateway } from "../../src/gateway/gateway.ts"
import { usualGatewayLimits, usualTimes } from "../../src/gateway/settings/gateway-options.ts"
import { createGuard } from "../../src/guard/guard.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openPostgresStore } from "../../src/store/postgres-store.ts"

/** A gateway in a separate process, for tests: one of several replicas on one store. */

const [storeUrl = "", upstreamUrl = "", spendLimit = ""] = process.argv.slice(2)

/** With a spend limit, memory is on as well: everything through which tenants could affect each other. */
const guard =
  spendLimit === "" ? undefined : createGuard([{ template: "spend-limit", amount: Number(spendLimit), per: "tenant" }])

const store = await openPostgresStore({ url: storeUrl })
const holdfast = createHoldfast({
  store,
  ...(guard === undefined ? {} : { guard: { guard }, memory: { flush: true, retrieve: { budgetTokens: 300 } } }),
})
const gateway = await startGateway({
  host: "127.0.0.1",
  port: 0,
  allowedHosts: [],
  allowedOrigins: [],
  upstreams: [{ name: "model", families: ["anthropic", "openai", "gemini"], baseUrl: upstreamUrl, ...usualTimes }],
  tenants: "by-key",
  windowTokens: 3000,
  recall: false,
  limits: { ...usualGatewayLimits, graceMs: 500 },
  admin: { origins: [] },
  askTimeoutMs: 2000,
  keepAliveMs: 15_000,
  version: "0.0.0",
  now: Date.now,
  holdfast,
  store,
  ...(guard === undefined ? {} : { guard }),
  onFault: (error) => {
    if (process.connected) process.send?.({ fault: String(error) })
  },
})

process.on("message", async () => {
  await gateway.close()
  await holdfast.close()
  await store.close()
  process.disconnect()
})
process.send?.({ port: gateway.port })
