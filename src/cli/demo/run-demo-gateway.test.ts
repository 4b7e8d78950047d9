import { expect, test } from "vitest"
import { startGateway } from "../../gateway/gateway.ts"
import { usualGatewayLimits } from "../../gateway/settings/gateway-options.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import { openStore } from "../../store/open-store.ts"
import { demoWindowTokens, startDemoModel } from "./demo-model.ts"
import { demoGuard, demoUpstream } from "./play-demo.ts"
import { runDemo } from "./run-demo.ts"

/** A run through the gateway itself, looked at by whoever opens the same store. */
async function play(gateway: { readonly windowTokens?: number; readonly recall: boolean; readonly token?: string }) {
  const store = await openStore("memory")
  const holdfast = createHoldfast({ store, guard: { guard: demoGuard() } })
  const reader = createHoldfast({ store })
  const model = await startDemoModel()
  const faults: unknown[] = []
  const listening = await startGateway({
    ...{ host: "127.0.0.1", port: 0, allowedHosts: [], allowedOrigins: [], tenants: "by-key", version: "0" },
    ...{ limits: usualGatewayLimits, admin: { origins: [] }, askTimeoutMs: 1000, keepAliveMs: 10_000 },
    ...{ upstreams: [demoUpstream(model.url)], holdfast, store, now: Date.now },
    ...gateway,
    onFault: (error) => faults.push(error),
  })
  const { signal } = new AbortController()
  const headers: Record<string, string> = gateway.token === undefined ? {} : { "x-holdfast-token": gateway.token }
  try {
    const given = { url: listening.url, holdfast: reader, sent: model.last, headers }
    const outcome = await runDemo({ ...given, write: async () => {}, colour: false, columns: 80, pace: "none", signal })
    return { outcome, requests: model.requests(), faults }
  } finally {
    await listening.close()
    await model.close()
    await reader.close()
    await holdfast.close()
    await store.close()
  }
}

test("all as promised through a gateway that knows the window", async () => {
  const { outcome, faults } = await play({ windowTokens: demoWindowTokens, recall: false })
  expect(faults).toEqual([])
  expect(outcome).toMatchObject({ asPromised: true, compactions: 2, denied: 1, leaked: 0 })
})

test("all as promised through one that learns the window from the model's refusal", async () => {
  const { outcome, requests, faults } = await play({ recall: false })
  expect(faults).toEqual([])
  expect(outcome).toMatchObject({ asPromised: true, denied: 1, leaked: 0 })
  expect(requests).toHaveLength(outcome.calls + 1)
})

test("all as promised where the gateway asks for its token and offers the model a way to recall", async () => {
  const { outcome, faults } = await play({ windowTokens: demoWindowTokens, recall: true, token: "let-me-in" })
  expect(faults).toEqual([])
  expect(outcome.asPromised).toBe(true)
})
