import type { Server } from "node:http"

/** Maximum size of a body, larger than any request of a test. */
const bodyLimitBytes = 256 * 1024 * 1024

/** Reads a whole body. */
export async function readBody(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > bodyLimitBytes) throw new Error(`a body of more than ${bodyLimitBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Listens on an ephemeral port of the loopback interface. */
export async function listen(server: Server): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("not listening on a port")
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${address.port}`, close }
}
