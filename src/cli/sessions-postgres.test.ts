import { expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { storeSessions } from "../../test/fixtures/mcp/stored-sessions.ts"
import { describePostgres } from "../../test/support/postgres-suite.ts"

await describePostgres("the store PostgreSQL", (server) => {
  test("sessions and memory in PostgreSQL are seen, taken along, mended and deleted by the same commands", async () => {
    const data = await server.createDatabase()
    await storeSessions(data)
    const env = { HOLDFAST_DATA: data }
    const ask = async (...argv: readonly string[]): Promise<string> => {
      const { exit, stdout, stderr } = await holdfast(argv, { env })
      expect({ argv, exit, stderr }).toEqual({ argv, exit: 0, stderr: "" })
      expect(stdout).not.toContain("postgres://")
      return stdout
    }
    expect(await ask("sessions", "list")).toContain("south")
    expect(await ask("sessions", "show", "north")).toContain("in the PostgreSQL store")
    expect(await ask("sessions", "verify")).toBe("Whole: 3 sessions, 69 entries.\n")
    expect(await ask("sessions", "undo", "north")).toContain("Taken back: e22")
    expect(await ask("sessions", "fork", "north", "twin")).toContain("24 entries")
    const exported = await ask("sessions", "export", "twin")
    await ask("sessions", "delete", "twin", "--yes")
    const imported = await holdfast(["sessions", "import"], { env, stdin: exported })
    expect(imported.stdout).toContain("twin: 24 entries, every one checked")
    expect(await ask("memory", "search", "decided", "--agent", "harbour")).toContain("close quay 7 of north")
    expect(await ask("memory", "days", "--agent", "harbour")).toContain("2026-11-15")
    const dateMs = () => Date.now() + 48 * 3_600_000
    const pruned = await holdfast(["sessions", "prune", "--older-than", "1d", "--yes"], { env, dateMs })
    expect(pruned.stdout).toBe("Deleted: 4 sessions.\n")
    expect(await ask("sessions", "vacuum")).toBe("Tidied up the PostgreSQL store.\n")
  })
})
