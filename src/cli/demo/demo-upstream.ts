import { usualTimes } from "../../gateway/gateway-options.ts"
import type { Upstream } from "../../gateway/upstream.ts"
import { demoModels } from "./demo-names.ts"

/** The demo's model as an upstream of a gateway. It serves models of its own name alone, so that it can stand before all others. */
export const demoUpstream = (url: string): Upstream => ({
  name: "demo",
  families: ["anthropic"],
  models: [demoModels],
  baseUrl: url,
  ...usualTimes,
})
