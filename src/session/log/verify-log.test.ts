import { expect, test } from "vitest"
import { createMemoryStore } from "../../store/memory-store.ts"
import type { Store, StoredEntry } from "../../store/store.ts"
import { createHoldfast } from "../holdfast.ts"
import { verifyLog } from "./chain.ts"

const text = "A text that is kept apart. ".repeat(100)

async function written(): Promise<Store> {
  const store = createMemoryStore()
  const messages = [1, 2, 3].map((n) => ({ role: "user", content: `${n} ${text}` }))
  await createHoldfast({ store }).session("s").append(messages)
  return store
}

/** The same store with an altered log. */
const reading = (store: Store, change: (entries: readonly StoredEntry[]) => readonly StoredEntry[]): Store => ({
  ...store,
  read: async (session, range) => change(await store.read(session, range)),
})

test("an unaltered log is intact, and so is an empty one", async () => {
  const store = await written()
  expect(await verifyLog(store, "s")).toEqual(await store.head("s"))
  expect(await verifyLog(store, "t")).toEqual({ seq: 0, hash: "" })
})

const changes: readonly (readonly [why: string, (entries: readonly StoredEntry[]) => readonly StoredEntry[]])[] = [
  ["changed", (entries) => entries.map((entry) => (entry.seq === 3 ? { ...entry, atMs: entry.atMs + 1 } : entry))],
  ["taken out", (entries) => entries.filter(({ seq }) => seq !== 3)],
  ["swapped", (entries) => entries.toSorted((one, other) => (one.seq === 3 ? -1 : other.seq === 3 ? 1 : 0))],
]
test.each(changes)("an entry that was %s is detected", async (_why, change) => {
  const damaged = { problem: { code: "store-corrupt", session: "s" } }
  await expect(verifyLog(reading(await written(), change), "s")).rejects.toMatchObject(damaged)
})

test("a missing payload is detected", async () => {
  const store = await written()
  const gone: Store = { ...store, payloads: (_session, hashes) => store.payloads("elsewhere", hashes) }
  await expect(verifyLog(gone, "s")).rejects.toMatchObject({ problem: { code: "store-corrupt" } })
})
