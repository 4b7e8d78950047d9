export type { ApiFamily } from "../message/message.ts"
export { startGateway } from "./gateway.ts"
export type {
  AdminOptions,
  Ending,
  ExchangeRecord,
  Gateway,
  GatewayLimits,
  GatewayOptions,
  How,
} from "./settings/gateway-options.ts"
export { usualGatewayLimits, usualTimes } from "./settings/gateway-options.ts"
export type { StackMatch, StackRule } from "./settings/stack-rules.ts"
export type { Upstream } from "./settings/upstream.ts"
export type { RecentExchanges } from "./telemetry/recent-exchanges.ts"
