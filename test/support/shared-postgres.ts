import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { TestProject } from "vitest/node"
import { type PostgresServer, startPostgres } from "./postgres.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** Serves the url of the PostgreSQL that test files share, or 500 and the reason why there is none. */
    readonly sharedPostgres: string
  }
}

/**
 * One PostgreSQL for all test files that do not stop theirs: creating and starting one takes two CPU seconds. It is started when the first
 * file asks, so that a run without such files has none.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<PostgresServer> | undefined
  const door = createServer((_, response) => {
    started ??= startPostgres()
    started.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : "unknown reason"),
    )
  })
  await new Promise<void>((done) => door.listen(0, "127.0.0.1", done))
  project.provide("sharedPostgres", `http://127.0.0.1:${(door.address() as AddressInfo).port}`)
  return async () => {
    door.close()
    door.closeAllConnections()
    const server = await started?.catch(() => undefined)
    await server?.stop()
  }
}
