import type { Upstream } from "../settings/upstream.ts"

/** Where an upstream is: never its path, its query or who logs in there. */
export type Server = { readonly address: string; readonly port: number }

/** The servers of the upstreams, by name. An address that cannot be read is left out. */
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
