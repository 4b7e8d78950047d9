import { startGateway } from "../../src/gateway/gateway.ts"
import { usualGatewayLimits, usualTimes } from "../../src/gateway/settings/gateway-options.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openPostgresStore } from "../../src/store/postgres-store.ts"

/** A gateway in a process of its own, for tests: one replica of several over one store. */

const [storeUrl = "", upstreamUrl = ""] = process.argv.slice(2)

const store = await openPostgresStore({ url: storeUrl })
const holdfast = createHoldfast({ store })
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
