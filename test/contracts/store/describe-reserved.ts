import { describe, expect, test } from "vitest"
import { pruneSessions } from "../../../src/store/prune.ts"
import { operatorLog } from "../../../src/store/reserved-log.ts"
import type { OpenStore } from "./describe-store.ts"
import { batch } from "./example-rows.ts"

/** The contract of the operator's log: it is kept like a session's, but is not listed as a session. */
export function describeReserved(open: OpenStore): void {
  describe("the operator's log", () => {
    test("is appended to and read by its name, and is in no listing", async () => {
      let now = 1
      const { store } = await open(() => now)
      await store.append("older", batch(0, 1, "older"))
      now = 2
      await store.append(operatorLog, batch(0, 2, "o"))
      expect(await store.head(operatorLog)).toEqual({ seq: 2, hash: "o-2" })
      expect(await store.read(operatorLog)).toHaveLength(2)
      expect(await store.session(operatorLog)).toBeUndefined()
      expect(await store.holdings(operatorLog)).toEqual({ payloads: [], summaries: [], memory: [] })
      for (const filter of [
        undefined,
        {},
        { limit: 1 },
        { limit: 5 },
        { updatedBeforeMs: 10, limit: 1 },
        { agent: "" },
      ])
        expect((await store.sessions(filter)).map(({ id }) => id)).toEqual(["older"])
      expect(await store.sessions({ limit: 0 })).toEqual([])
    })

    test("cannot be deleted, copied, copied over or given a summary or an alias, and outlives pruning", async () => {
      const { store } = await open(() => 5)
      await store.append("a", batch(0, 1, "a"))
      const refused = { problem: { code: "option-invalid", option: "session" } }
      await expect(store.copy("a", operatorLog, 1)).rejects.toMatchObject(refused)
      await store.append(operatorLog, batch(0, 1, "o"))
      await expect(store.remove(operatorLog)).rejects.toMatchObject(refused)
      await expect(store.copy(operatorLog, "b", 1)).rejects.toMatchObject(refused)
      await expect(store.copy("a", operatorLog, 1)).rejects.toMatchObject(refused)
      await expect(store.putSummary(operatorLog, "k", "{}")).rejects.toMatchObject(refused)
      await expect(store.putAliases(operatorLog, [{ name: "n" }])).rejects.toMatchObject(refused)
      expect(await store.findAliases(["n"])).toEqual([])
      expect(await pruneSessions(store, { updatedBeforeMs: 100, now: () => 200 })).toEqual({ removed: 1 })
      expect(await store.head(operatorLog)).toEqual({ seq: 1, hash: "o-1" })
      expect(await store.head("b")).toEqual({ seq: 0, hash: "" })
    })
  })
}
