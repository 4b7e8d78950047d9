import { connect, createServer } from "node:net"

/** A TCP proxy: bytes pass unchanged, and the client's bytes of each connection are recorded. */
export type Tap = {
  readonly url: string
  /** The first bytes of each connection, oldest first. */
  readonly openings: readonly string[]
  /** The bodies of all complete requests, unchanged. */
  readonly bodies: () => readonly Uint8Array[]
  readonly close: () => Promise<void>
}

const openingBytes = 2000

/** Returns the bodies of the requests on one connection, in order. */
function bodiesIn(connection: Buffer): readonly Uint8Array[] {
  const bodies: Uint8Array[] = []
  for (let at = 0; at < connection.length; ) {
    const end = connection.indexOf("\r\n\r\n", at)
    if (end < 0) break
    const head = connection.toString("latin1", at, end)
    if (/^transfer-encoding:/im.test(head)) throw new Error(`a request without a length: ${head}`)
    const start = end + 4
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    if (start + length > connection.length) break
    if (length > 0) bodies.push(connection.subarray(start, start + length))
    at = start + length
  }
  return bodies
}

export async function startTap(target: string): Promise<Tap> {
  const { hostname, port } = new URL(target)
  const openings: string[] = []
  const connections: Buffer[][] = []
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    connections.push(chunks)
    client.on("data", (chunk: Buffer) => chunks.push(chunk))
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
    bodies: () => connections.flatMap((chunks) => bodiesIn(Buffer.concat(chunks))),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
