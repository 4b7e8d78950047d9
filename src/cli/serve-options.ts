import type { GatewayOptions } from "../gateway/settings/gateway-options.ts"
import type { Upstream } from "../gateway/settings/upstream.ts"
import { present } from "../message/present.ts"
import type { SummarizerOption } from "../session/one-shot/summarizer.ts"
import type { HoldfastOptions } from "../session/options.ts"
import { isPostgres } from "../store/open-store.ts"
import type { OpenedConfig } from "./config/open-secrets.ts"
import type { HeaderValues } from "./config/resolved-config.ts"

/** By what the admin API is entered, and the file that the token is kept in. Without a token it is not there. */
export type AdminAccess = { readonly token?: string; readonly file?: string }

/** How sessions are compacted and what of them is stored. */
export function sessionOptions(config: OpenedConfig): HoldfastOptions {
  const { windowTokens, reserveTokens, policy, strategy, recall, redact, memory } = config
  return {
    ...present({ windowTokens, reserveTokens, strategy }),
    policy,
    recall,
    redact,
    memory,
    summarizer: summarizerOf(config),
  }
}

function summarizerOf({ summarizer }: OpenedConfig): SummarizerOption {
  if (typeof summarizer === "string") return summarizer
  const { key, headers, ...others } = summarizer
  return { ...others, headers: plainHeaders(headers), ...present({ apiKey: key }) }
}

export const plainHeaders = (headers: HeaderValues<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, "text" in value ? value.text : value.secret]),
  )

export const upstreamsOf = ({ upstreams }: OpenedConfig): readonly Upstream[] =>
  upstreams.map(({ key, headers, ...others }) => ({
    ...others,
    headers: plainHeaders(headers),
    ...present({ apiKey: key }),
  }))

/** What the gateway is given beside its configuration. */
type Standing = Pick<GatewayOptions, "store" | "holdfast" | "operator" | "guard"> & { readonly admin: AdminAccess }

/** What of the gateway's options stands in the configuration. */
export function gatewayOptions(
  config: OpenedConfig,
  ground: Standing,
): Omit<GatewayOptions, "version" | "now" | "onFault"> {
  const { listen, tenants, windowTokens, recall, limits, askTimeoutMs, whenStoreIsAway } = config
  const { store, holdfast, operator, guard, admin } = ground
  const { host, port, token, allowedHosts, allowedOrigins, keepAliveMs } = listen
  return {
    ...{
      host,
      port,
      allowedHosts,
      allowedOrigins,
      keepAliveMs,
      tenants,
      recall,
      limits,
      askTimeoutMs,
      whenStoreIsAway,
      store,
      holdfast,
    },
    upstreams: upstreamsOf(config),
    admin: { origins: config.admin.origins, ...present({ token: admin.token }) },
    ...present({ token, windowTokens, operator, guard }),
  }
}

/** Every secret of a configuration, to be hidden wherever it might turn up. */
export function secretsOf(
  { listen, upstreams, summarizer, telemetry, data }: OpenedConfig,
  admin: AdminAccess,
): readonly string[] {
  const held = (headers: HeaderValues<string>): readonly string[] =>
    Object.values(headers).flatMap((value) => ("secret" in value ? [value.secret] : []))
  const place = data !== undefined && "place" in data && isPostgres(data.place) ? data.place : undefined
  return [
    listen.token,
    admin.token,
    place,
    ...upstreams.flatMap(({ key, headers }) => [key, ...held(headers)]),
    ...(typeof summarizer === "string" ? [] : [summarizer.key, ...held(summarizer.headers)]),
    ...(telemetry === undefined ? [] : held(telemetry.headers)),
  ].flatMap((secret) => (secret === undefined ? [] : [secret]))
}
