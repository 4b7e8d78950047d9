import type { Problem } from "../message/errors.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"

/** Is a request with this problem refused, because its session cannot be read, rather than passed on as it came? */
export const isRefused = ({ whenStoreIsAway = "refuse" }: Pick<GatewayOptions, "whenStoreIsAway">, { code }: Problem) =>
  whenStoreIsAway === "refuse" && code.startsWith("store-")
