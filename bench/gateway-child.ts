import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** What a process of the gateway bench tells the one that started it. */
export type Told = { readonly url: string }

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0

/** Serve on any free port of this machine, and tell where. */
export function tellUrl(server: Server): void {
  server.keepAliveTimeout = 75_000
  server.listen(0, "127.0.0.1", () => tell(`http://127.0.0.1:${portOf(server.address())}`))
}

export function tell(url: string): void {
  process.send?.({ url } satisfies Told)
  // Nobody is left to measure: so that none outlives its bench.
  process.on("disconnect", () => process.exit(0))
}
