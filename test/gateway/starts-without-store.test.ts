import { createServer } from "node:net"
import { expect, test } from "vitest"
import { createServeCommand } from "../../src/cli/serve-command.ts"
import { startGateway } from "../../src/gateway/gateway.ts"
import { perform } from "../fixtures/cli/command-line.ts"
import { describePostgres } from "../support/postgres-suite.ts"
import { startLine } from "./start-line.ts"
import { isWireError, wires } from "./wires.ts"

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === "object" && address !== null ? address.port : 0
}

await describePostgres("a gateway that starts while PostgreSQL is away", (server) => {
  test("is alive and not ready, refuses requests for now, and is ready once PostgreSQL is there", async () => {
    const databaseUrl = await server.createDatabase()
    const storePort = await freePort()
    const away = new URL(databaseUrl)
    away.port = String(storePort)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const stop = new AbortController()
    const command = createServeCommand({
      startGateway,
      openTelemetry: async () => undefined,
      showDemo: async () => {},
      version: async () => "9.9.9",
      stop: () => ({ signal: stop.signal, release: () => {} }),
    })
    const argv = ["--data", away.href, "--port", String(port), "--upstream", "http://127.0.0.1:9"]
    const ended = perform(command, argv, { dateMs: Date.now })
    const statusOf = (path: string): Promise<number> =>
      fetch(`${url}${path}`).then(
        ({ status }) => status,
        () => 0,
      )
    await expect.poll(() => statusOf("/healthz"), { timeout: 20_000 }).toBe(200)
    expect(await statusOf("/readyz")).toBe(503)
    for (const [format, path, body] of wires) {
      const refused = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) })
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"])
      expect(isWireError(format, await refused.text())).toBe(true)
    }
    const line = await startLine(databaseUrl, storePort)
    await expect.poll(() => statusOf("/readyz"), { timeout: 20_000 }).toBe(200)
    stop.abort()
    expect(await ended).toMatchObject({ exit: 0, stderr: expect.stringContaining("store-unavailable") })
    line.close()
  }, 60_000)
})
