import { expect, test } from "vitest"
import { batch } from "../../test/contracts/store/example-rows.ts"
import { createMemoryStore } from "./memory-store.ts"
import { pruneSessions } from "./prune.ts"

test("sessions not written to since the time are removed, more than one batch of them, and the rest stay", async () => {
  let now = 0
  const store = createMemoryStore({ now: () => now })
  for (now = 1; now <= 200; now += 1) await store.append(`s${now}`, batch(0, 1))
  expect(await pruneSessions(store, { updatedBeforeMs: 151, now: () => 200 })).toEqual({ removed: 150 })
  expect(await store.sessions()).toHaveLength(50)
  expect(await store.session("s150")).toBeUndefined()
  expect(await store.session("s151")).toBeDefined()
  expect(await pruneSessions(store, { updatedBeforeMs: 151, now: () => 200 })).toEqual({ removed: 0 })
})

test("a session that is written to meanwhile stays", async () => {
  let now = 1
  const store = createMemoryStore({ now: () => now })
  await store.append("live", batch(0, 1))
  now = 10
  const late = {
    ...store,
    session: async (id: string) => {
      await store.append(id, batch(1, 1))
      return store.session(id)
    },
  }
  expect(await pruneSessions(late, { updatedBeforeMs: 5, now: () => 10 })).toEqual({ removed: 0 })
  expect(await store.session("live")).toBeDefined()
})

test.each([11, Number.NaN])("the time %d, which is not in the past, is refused", async (moment) => {
  const store = createMemoryStore({ now: () => 1 })
  await store.append("s", batch(0, 1))
  const refused = { problem: { code: "option-invalid", option: "updatedBeforeMs" } }
  await expect(pruneSessions(store, { updatedBeforeMs: moment, now: () => 10 })).rejects.toMatchObject(refused)
  expect(await store.sessions()).toHaveLength(1)
})
