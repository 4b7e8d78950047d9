import { hasOwnKey } from "./http/request-headers-key.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import type { Upstream } from "./settings/upstream.ts"

/** Do several tenants use one account with a provider? Then what is kept there is not told apart by who kept it. */
export const sharesAccount = ({ tenants }: Pick<GatewayOptions, "tenants">, upstream: Upstream | undefined): boolean =>
  tenants === "by-key" && upstream !== undefined && hasOwnKey(upstream)

/** Paths that ask for nothing that someone else may have left behind: counts, lists of models, and one answer to one request. */
const keepsNothing =
  /\/(?:count_tokens|input_tokens|embeddings|moderations|completions|complete|hello)$|\/models(?:\/[^/:]+)?$|:(?:countTokens|embedContent|batchEmbedContents|computeTokens)$|\/(?:images|audio)\/[a-z]+$/

/** May a path be passed to an account that several share? */
export const isForEveryone = (path: string): boolean => keepsNothing.test(path.split("?", 1)[0] ?? "")

/** Nobody can say whose it is. */
export const notYours = {
  code: "access-refused",
  status: 403,
  reason:
    "several clients share this upstream's key, and what is kept under it is not told apart (tenants: one lets all have it)",
} as const
