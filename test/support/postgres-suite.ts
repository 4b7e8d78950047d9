import { afterAll, describe, inject, test } from "vitest"
import { type PostgresServer, startPostgres, useOther } from "./postgres.ts"

type Tests = (server: PostgresServer) => void

/**
 * Tests on a real PostgreSQL. If none can run they are skipped and say why; with HOLDFAST_REQUIRE_POSTGRES=1 they fail instead. To be
 * awaited at the top of a test file. Files share one server, on which each creates its own databases.
 */
export const describePostgres = (name: string, tests: Tests): Promise<void> => describeOn(shareServer, name, tests)

/** The same on a separate server, for tests that stop it. */
export const describeOwnPostgres = (name: string, tests: Tests): Promise<void> => describeOn(startPostgres, name, tests)

async function describeOn(start: () => Promise<PostgresServer>, name: string, tests: Tests): Promise<void> {
  const server = await start().catch((error: unknown) => {
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

async function shareServer(): Promise<PostgresServer> {
  const answer = await fetch(inject("sharedPostgres"))
  if (!answer.ok) throw new Error(await answer.text())
  return useOther(await answer.text())
}
