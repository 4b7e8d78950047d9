import { createMcpServer, type McpServerOptions } from "./create-server.ts"
import { limitSource } from "./limit-source.ts"
import { loadSdk } from "./load-sdk.ts"
import type { McpSource } from "./source.ts"
import { createStdioTransport, type StdioPipes } from "./stdio-transport.ts"

export type StdioOptions = McpServerOptions &
  StdioPipes & {
    /** Ends the server before its input does. */
    readonly stop?: AbortSignal
  }

/** Serve MCP on two pipes until the input ends and everything asked is answered. Nothing but the protocol is written. */
export async function serveStdio(source: McpSource, options: StdioOptions): Promise<void> {
  const { stop, onFault = () => {} } = options
  const { transport, ended } = createStdioTransport(await loadSdk(), options, onFault)
  const server = await createMcpServer(limitSource(source), options)
  await server.connect(transport)
  try {
    await (stop === undefined ? ended : Promise.race([ended, stopped(stop)]))
  } finally {
    await server.close()
  }
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
