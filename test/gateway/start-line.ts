import { connect, createServer, type Socket } from "node:net"

/** A TCP proxy to a server that can be made to hang: data sent over it is then lost, and neither end closes. */
export type Line = {
  readonly url: string
  readonly hang: () => void
  /** New connections work again; those that hung are cut. */
  readonly mend: () => void
  readonly close: () => void
}

export async function startLine(to: string, listenPort = 0): Promise<Line> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  let hangs = false
  const server = createServer((client) => {
    const behind = connect(Number(port), hostname)
    for (const [one, other] of [[client, behind] as const, [behind, client] as const]) {
      sockets.add(one)
      one.on("data", (data) => {
        if (!hangs) other.write(data)
      })
      one.on("error", () => other.destroy())
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(listenPort, "127.0.0.1", resolve))
  const address = server.address()
  const url = new URL(to)
  url.port = String(typeof address === "object" && address !== null ? address.port : 0)
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    hang: () => {
      hangs = true
    },
    mend: () => {
      hangs = false
      cut()
    },
    close: () => {
      cut()
      server.close()
    },
  }
}
