import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startGateway } from "../../src/gateway/gateway.ts"
import { usualGatewayLimits, usualTimes } from "../../src/gateway/settings/gateway-options.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openSqliteStore } from "../../src/store/sqlite-store.ts"

/** A gateway in a separate process, for tests: on request it reports the size of its heap. */

const [upstreamUrl = ""] = process.argv.slice(2)

const directory = mkdtempSync(join(tmpdir(), "holdfast-leak-"))
const store = await openSqliteStore({ path: join(directory, "sessions.db") })
const holdfast = createHoldfast({ store, openSessions: 50 })
const gateway = await startGateway({
  host: "127.0.0.1",
  port: 0,
  allowedHosts: [],
  allowedOrigins: [],
  upstreams: [{ name: "model", families: ["anthropic", "openai", "gemini"], baseUrl: upstreamUrl, ...usualTimes }],
  tenants: "by-key",
  recall: false,
  limits: { ...usualGatewayLimits, newSessions: 100_000 },
  admin: { origins: [] },
  askTimeoutMs: 2000,
  keepAliveMs: 15_000,
  version: "0.0.0",
  now: Date.now,
  holdfast,
  store,
  onFault: (error) => void process.send?.({ fault: String(error) }),
})

process.on("message", async (order) => {
  if (order === "measure") {
    await holdfast.idle()
    globalThis.gc?.()
    process.send?.({ heapMb: process.memoryUsage().heapUsed / 1024 / 1024 })
    return
  }
  await gateway.close()
  await holdfast.close()
  await store.close()
  rmSync(directory, { recursive: true, force: true })
  process.disconnect()
})
process.send?.({ port: gateway.port })
