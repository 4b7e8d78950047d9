import { startGateway } from "../../gateway/gateway.ts"
import { usualLimits } from "../../gateway/gateway-options.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import type { Store } from "../../store/store.ts"
import { demoGuard } from "./demo-guard.ts"
import { startDemoModel } from "./demo-model.ts"
import { demoModel, demoWindowTokens } from "./demo-names.ts"
import type { DemoOptions } from "./demo-options.ts"
import type { DemoOutcome } from "./demo-outcome.ts"
import { demoUpstream } from "./demo-upstream.ts"
import { runDemo } from "./run-demo.ts"

export type PlayOptions = Pick<DemoOptions, "write" | "colour" | "columns" | "pace" | "signal"> & {
  /** Where a real agent is told to go. */
  readonly connectUrl: string
  /** Where the demo's session is kept, for a look at it afterwards. */
  readonly store: Store
  readonly version: string
  readonly now: () => number
  readonly onFault: (error: unknown) => void
}

/** Play the demo through a gateway of its own: its policy and its window are nobody else's. */
export async function playDemo({
  connectUrl,
  store,
  version,
  now,
  onFault,
  ...shown
}: PlayOptions): Promise<DemoOutcome> {
  const model = await startDemoModel()
  const holdfast = createHoldfast({ store, now, agent: "demo", guard: { guard: demoGuard() } })
  try {
    const gateway = await startGateway({
      ...{ host: "127.0.0.1", port: 0, allowedHosts: [], allowedOrigins: [], tenants: "one", recall: false },
      ...{ limits: usualLimits, admin: { origins: [] }, askTimeoutMs: 1000, keepAliveMs: 15_000 },
      upstreams: [{ ...demoUpstream(model.url), windowTokens: demoWindowTokens }],
      ...{ holdfast, store, version, now, onFault },
    })
    try {
      return await runDemo({ ...shown, url: gateway.url, connectUrl, model: demoModel, holdfast, sent: model.last })
    } finally {
      await gateway.close()
    }
  } finally {
    await holdfast.close()
    await model.close()
  }
}
