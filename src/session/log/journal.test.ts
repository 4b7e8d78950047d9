import { expect, test } from "vitest"
import { HoldfastError } from "../../message/errors.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import type { Store } from "../../store/store.ts"
import type { EntryBody } from "./entry.ts"
import { createJournal, type Journal } from "./journal.ts"

const away = new HoldfastError({ code: "store-unavailable", store: "test", reason: "it is switched off" })
const rule = (text: string): EntryBody => ({
  type: "rule-pinned",
  text,
  channel: "user",
  by: "asked",
  kind: "obligation",
})

const journalOf = (store: Store): Journal =>
  createJournal({
    store,
    session: "s",
    owner: () => ({ tenant: "", agent: "" }),
    now: () => 1,
    opening: () => ({ type: "session-opened", agent: "", secret: "" }),
    follows: () => true,
    redact: (data) => data,
    maxUnsaved: 10,
    onMoved: () => {},
  })

test("entries that take long to work out are worked out again if others wrote meanwhile", async () => {
  const store = createMemoryStore()
  const journal = journalOf(store)
  const asked: number[] = []
  const going = Promise.withResolvers<void>()
  const slow = journal.commit(async (_, next) => {
    asked.push(next)
    if (asked.length === 1) await going.promise
    return [rule(`Rule at ${next}.`)]
  })
  await journal.commit(() => [rule("Never push.")])
  going.resolve()
  const { entries } = await slow
  expect(asked).toEqual([2, 3])
  expect(entries.map(({ seq, body }) => [seq, body])).toEqual([[3, rule("Rule at 3.")]])
  expect((await store.outline("s")).map(({ seq, type }) => [seq, type])).toEqual([
    [1, "session-opened"],
    [2, "rule-pinned"],
    [3, "rule-pinned"],
  ])
})

test("a store read that fails late does not mark pending entries as saved", async () => {
  const inner = createMemoryStore()
  const looked = Promise.withResolvers<never>()
  let isAway = false
  const store: Store = {
    ...inner,
    append: (session, batch) => (isAway ? Promise.reject(away) : inner.append(session, batch)),
    outline: (...given) => (isAway ? looked.promise : inner.outline(...given)),
  }
  const journal = journalOf(store)
  await journal.commit(() => [rule("Never push.")])
  isAway = true
  const looking = journal.refresh().catch((error: unknown) => error)
  expect(await journal.commit(() => [rule("Never merge.")])).toMatchObject({ durable: false })
  looked.reject(away)
  expect(await looking).toBe(away)
  expect(journal.isDurable()).toBe(false)
  isAway = false
  await journal.commit(() => [])
  expect(journal.isDurable()).toBe(true)
  expect((await inner.outline("s")).filter(({ type }) => type === "rule-pinned").length).toBe(2)
})
