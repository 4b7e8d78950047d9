import { expect } from "vitest"
import { startGateway } from "../../src/gateway/gateway.ts"
import {
  type ExchangeRecord,
  type Gateway,
  type GatewayOptions,
  usualGatewayLimits,
  usualTimes,
} from "../../src/gateway/settings/gateway-options.ts"
import { createHoldfast, type Holdfast } from "../../src/session/holdfast.ts"
import type { HoldfastOptions } from "../../src/session/state/options.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import type { Store } from "../../src/store/store.ts"
import { startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"

export type TestGateway = Gateway & {
  readonly holdfast: Holdfast
  readonly store: Store
  /** Every exchange, oldest first. */
  readonly records: readonly ExchangeRecord[]
  /** Errors that belong to no request; there should be none. */
  readonly faults: readonly unknown[]
}

export type TestGatewayOptions = Partial<GatewayOptions> & { readonly sessions?: HoldfastOptions }

export const adminToken = "admin-token-of-this-test"

/** Starts a gateway on this machine with one upstream for every wire format, and sessions in memory. */
export async function startTestGateway(upstream: string, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { sessions = {}, ...rest } = options
  const store = rest.store ?? createMemoryStore()
  const { operator } = rest
  const holdfast =
    rest.holdfast ?? createHoldfast({ store, ...(operator === undefined ? {} : { operator }), ...sessions })
  const records: ExchangeRecord[] = []
  const faults: unknown[] = []
  const gateway = await startGateway({
    host: "127.0.0.1",
    port: 0,
    allowedHosts: [],
    allowedOrigins: [],
    upstreams: [{ name: "model", families: ["anthropic", "openai", "gemini"], baseUrl: upstream, ...usualTimes }],
    tenants: "by-key",
    recall: false,
    limits: limitsWith({}),
    admin: { token: adminToken, origins: [] },
    askTimeoutMs: 2000,
    keepAliveMs: 15_000,
    version: "0.0.0",
    now: Date.now,
    ...rest,
    holdfast,
    store,
    onRecord: (record) => records.push(record),
    onFault: (error) => faults.push(error),
  })
  const close = async (): Promise<void> => {
    await gateway.close()
    await holdfast.close()
  }
  return { ...gateway, close, holdfast, store, records, faults }
}

/** Runs `act` with a gateway in front of a scripted model, and checks that no error outside of requests occurred. */
export async function withGateway(
  script: Script,
  options: TestGatewayOptions,
  act: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const model = await startModelServer({ script })
  const gateway = await startTestGateway(model.url, options)
  try {
    await act(gateway)
    expect(gateway.faults).toEqual([])
  } finally {
    await gateway.close()
    await model.close()
  }
}

/** Returns the usual limits with some changes, and a short grace period. */
export const limitsWith = (changed: Partial<typeof usualGatewayLimits>): typeof usualGatewayLimits => ({
  ...usualGatewayLimits,
  graceMs: 500,
  ...changed,
})
