import { connect, createServer } from "node:net"

/** A wire between two: bytes pass as they come, and what clients say first on each connection is known. */
export type Tap = {
  readonly url: string
  /** The beginning of each connection, oldest first. */
  readonly openings: readonly string[]
  readonly close: () => Promise<void>
}

const openingBytes = 2000

export async function startTap(target: string): Promise<Tap> {
  const { hostname, port } = new URL(target)
  const openings: string[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    client.once("data", (chunk) => openings.push(chunk.toString("latin1", 0, openingBytes)))
    client.on("error", () => upstream.destroy()).on("close", () => upstream.destroy())
    upstream.on("error", () => client.destroy()).on("close", () => client.destroy())
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("not listening on a port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    openings,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
