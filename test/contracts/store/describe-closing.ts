import { describe, expect, test } from "vitest"
import type { Store } from "../../../src/store/store.ts"
import type { OpenStore } from "./describe-store.ts"
import { batch, clerk, entry, job, payloads, row } from "./example-rows.ts"

const calls: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  append: (store) => store.append("s", batch(0, 1)),
  head: (store) => store.head("s"),
  read: (store) => store.read("s"),
  readEntries: (store) => store.readEntries("s", [1]),
  outline: (store) => store.outline("s"),
  payloads: (store) => store.payloads("s", []),
  session: (store) => store.session("s"),
  sessions: (store) => store.sessions(),
  holdings: (store) => store.holdings("s"),
  copy: (store) => store.copy("s", "t", 1),
  remove: (store) => store.remove("s"),
  putSummary: (store) => store.putSummary("s", "k", "{}"),
  getSummary: (store) => store.getSummary("s", "k"),
  putAliases: (store) => store.putAliases("s", [{ name: "n" }]),
  findAliases: (store) => store.findAliases(["n"]),
  eraseTenant: (store) => store.eraseTenant("t"),
  scrub: (store) => store.scrub(),
  usedBytes: (store) => store.usedBytes(),
  vacuum: (store) => store.vacuum(),
  "jobs.put": (store) => store.jobs.put(job("k"), 1),
  "jobs.lease": (store) => store.jobs.lease(1, 1),
  "jobs.finish": (store) => store.jobs.finish("s", "k"),
  "jobs.postpone": (store) => store.jobs.postpone("s", "k", 1),
  "jobs.list": (store) => store.jobs.list(),
  "memory.write": (store) => store.memory.write([row(1, "a")]),
  "memory.supersede": (store) => store.memory.supersede("s", ["m1"], "m2"),
  "memory.search": (store) => store.memory.search({ ...clerk }),
  "memory.get": (store) => store.memory.get(clerk, ["m1"]),
  "memory.counts": (store) => store.memory.counts(clerk, "s", "2026-11-15"),
  "memory.days": (store) => store.memory.days(clerk),
}

/** The contract of closing and reopening a store. */
export function describeClosing(open: OpenStore): void {
  describe("closing", () => {
    test("after close every call says so, and close may be called again", async () => {
      const { store } = await open(() => 100)
      await store.append("s", batch(0, 1))
      await store.close()
      await store.close()
      for (const [name, call] of Object.entries(calls)) {
        const problem = { code: "store-closed", store: store.kind }
        await expect(call(store), name).rejects.toMatchObject({ problem })
      }
    })

    test("what was written is there after reopening", async ({ skip }) => {
      const { store, reopen } = await open(() => 100)
      if (reopen === undefined) return skip("this store does not last")
      await store.append("s", batch(0, 2, "a", { payloads: payloads("one"), agent: "clerk" }))
      await store.putSummary("s", "k", "{}")
      await store.putAliases("s", [{ name: "n", entry: "e2" }])
      await store.jobs.put(job("j"), 10)
      await store.jobs.lease(20, 100)
      await store.memory.write([row(1, "the refund was paid"), row(2, "no it was not")])
      await store.memory.supersede("s", ["m1"], "m2")
      const again = await reopen()
      expect(await again.read("s")).toEqual([entry(1), entry(2)])
      expect(await again.payloads("s", [...payloads("one").keys()])).toEqual(payloads("one"))
      expect(await again.session("s")).toMatchObject({ agent: "clerk", createdMs: 100 })
      expect(await again.getSummary("s", "k")).toBe("{}")
      expect(await again.findAliases(["n"])).toEqual([{ name: "n", entry: "e2", session: "s" }])
      expect(await again.jobs.lease(119, 10)).toBeUndefined()
      expect(await again.jobs.lease(120, 10)).toMatchObject({ key: "j", attempt: 2 })
      const hits = await again.memory.search({ ...clerk, text: "refund", withSuperseded: true })
      expect(hits.map(({ row }) => row)).toEqual([row(1, "the refund was paid", { supersededBy: "m2" })])
      expect(await again.append("s", batch(2, 1))).toEqual({ type: "appended" })
    })
  })
}
