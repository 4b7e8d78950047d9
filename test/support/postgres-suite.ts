import { afterAll, describe, test } from "vitest"
import { type PostgresServer, startPostgres } from "./postgres.ts"

/**
 * Tests on a real PostgreSQL. Where none can run they are skipped and say why; with HOLDFAST_REQUIRE_POSTGRES=1 they fail instead.
 * To be awaited at the top of a test file.
 */
export async function describePostgres(name: string, tests: (server: PostgresServer) => void): Promise<void> {
  const server = await startPostgres().catch((error: unknown) => {
    if (process.env.HOLDFAST_REQUIRE_POSTGRES === "1") throw error
    return error instanceof Error ? error.message : "unknown reason"
  })
  if (typeof server === "string") {
    test.skip(`${name}: skipped, because no PostgreSQL can run here: ${server}`, () => {})
    return
  }
  describe(name, () => {
    afterAll(() => server.stop())
    tests(server)
  })
}
