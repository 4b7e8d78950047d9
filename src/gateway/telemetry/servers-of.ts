import type { Upstream } from "../settings/upstream.ts"

/** The host and port of an upstream, without its path, query or credentials. */
export type Server = { readonly address: string; readonly port: number }

/** The servers of the upstreams, by name. Invalid URLs are left out. */
export function serversOf(upstreams: readonly Pick<Upstream, "name" | "baseUrl">[]): ReadonlyMap<string, Server> {
  return new Map(
    upstreams.flatMap(({ name, baseUrl }) => {
      if (!URL.canParse(baseUrl)) return []
      const { hostname, port, protocol } = new URL(baseUrl)
      const usualPort = protocol === "http:" ? 80 : 443
      return [[name, { address: hostname, port: port === "" ? usualPort : Number(port) }] as const]
    }),
  )
}
