import { expect, test } from "vitest"
import { createDegradedSessions } from "./metrics.ts"

test("the number of counted sessions is limited in an outage", () => {
  const degraded = createDegradedSessions(3)
  const problem = { code: "store-full", store: "sqlite" } as const
  const tell = (session: string, type: "durability-degraded" | "durability-restored"): void =>
    degraded.take({ session, atMs: 0, unsaved: 1, saved: 1, problem, type })
  for (const session of ["a", "b", "c", "d"]) tell(session, "durability-degraded")
  expect(degraded.count()).toBe(3)
  for (const session of ["a", "b", "c", "d"]) tell(session, "durability-restored")
  expect(degraded.count()).toBe(0)
})
