import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** What a process of the gateway bench reports to its parent. */
export type ReadyMessage = { readonly url: string }

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0

/** Serves on a free port of this machine, and reports the URL. */
export function tellUrl(server: Server): void {
  server.keepAliveTimeout = 75_000
  server.listen(0, "127.0.0.1", () => tell(`http://127.0.0.1:${portOf(server.address())}`))
}

export function tell(url: string): void {
  process.send?.({ url } satisfies ReadyMessage)
  // The parent has ended: exit, so that no child outlives the bench.
  process.on("disconnect", () => process.exit(0))
}
