import { startGateway } from "../../gateway/gateway.ts"
import { usualGatewayLimits, usualTimes } from "../../gateway/settings/gateway-options.ts"
import type { Upstream } from "../../gateway/settings/upstream.ts"
import { createGuard, type Guard } from "../../guard/guard.ts"
import type { PolicyInput } from "../../guard/policy/templates.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import type { Store } from "../../store/store.ts"
import { demoModel, demoWindowTokens, startDemoModel } from "./demo-model.ts"
import { deskTools } from "./order-desk.ts"
import { type DemoOptions, type DemoOutcome, runDemo } from "./run-demo.ts"
import type { ScreenOptions } from "./show.ts"

type PlayOptions = ScreenOptions &
  Pick<DemoOptions, "clients"> & {
    /** The store of the demo's session, which can be inspected afterwards. */
    readonly store: Store
    readonly version: string
    readonly now: () => number
    readonly onFault: (error: unknown) => void
  }

/** Runs the demo through a gateway of its own, so that its policy and window affect no other client. */
export async function playDemo({ store, version, now, onFault, ...shown }: PlayOptions): Promise<DemoOutcome> {
  const model = await startDemoModel()
  const holdfast = createHoldfast({ store, now, agent: "demo", guard: { guard: demoGuard() } })
  try {
    const gateway = await startGateway({
      ...{ host: "127.0.0.1", port: 0, allowedHosts: [], allowedOrigins: [], tenants: "one", recall: false },
      ...{ limits: usualGatewayLimits, admin: { origins: [] }, askTimeoutMs: 1000, keepAliveMs: 15_000 },
      upstreams: [{ ...demoUpstream(model.url), windowTokens: demoWindowTokens }],
      ...{ holdfast, store, version, now, onFault },
    })
    try {
      return await runDemo({ ...shown, url: gateway.url, holdfast, sent: model.last })
    } finally {
      await gateway.close()
    }
  } finally {
    await holdfast.close()
    await model.close()
  }
}

/** The scripted model as an upstream. It serves only its own model name, so it can be listed before all others. */
export const demoUpstream = (url: string): Upstream => ({
  name: "demo",
  families: ["anthropic"],
  models: [`${demoModel}*`],
  baseUrl: url,
  ...usualTimes,
})

/** The demo's policy, in Cedar. It applies to one tool, whose name no other agent uses. */
const demoPolicy: PolicyInput = {
  name: "demo-mail",
  text: `@rule("E-mail may only be sent to addresses at example.com.")
@instead("Send it to an address at example.com, or ask the user what to do.")
forbid(principal, action, resource == Holdfast::Tool::"${deskTools.sendEmail}")
when { context.matches.contains("outside:desk-domains") || context.unresolvedRecipients };`,
}

export const demoGuard = (): Guard =>
  createGuard([demoPolicy], { matchers: { "desk-domains": { of: "recipientDomains", patterns: ["example.com"] } } })
