import { expect, test } from "vitest"
import { createFailingStore } from "../../test/support/failing-store.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast } from "./holdfast.ts"
import type { Session } from "./session.ts"

const format = "openai-chat"
const open = (store: Store): Session => createHoldfast({ store, format, windowTokens: 8000 }).session("s")
const said = (content: string) => ({ role: "user", content })
const gone = { at: 1, code: "store-unavailable", when: "before", lasting: true } as const

/** The messages that a session shows, as texts. */
async function shownBy(session: Session): Promise<readonly string[]> {
  const { context } = await session.prepare()
  const texts = context.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" ? part.text : [])),
  )
  return texts.filter((text) => !text.startsWith("<pins"))
}

/** The messages in the log as texts, in order. */
async function loggedIn(store: Store): Promise<readonly string[]> {
  const session = open(store)
  await session.verify()
  const entries = await session.history({ limit: 10_000 })
  return entries.flatMap(({ message }) => {
    const [part] = message?.parts ?? []
    return part?.type === "text" ? [part.text] : []
  })
}

test("two processes: messages of one during an outage go after what the other wrote, and both are shown", async () => {
  const inner = createMemoryStore()
  const failing = createFailingStore(inner)
  const mine = open(failing.store)
  await mine.append([said("one"), said("two")])
  failing.set(gone)
  expect((await mine.append([said("three")])).durable).toBe(false)
  await open(inner).append([said("other one"), said("other two")])
  failing.set(undefined)
  expect((await mine.append([said("four")])).durable).toBe(true)
  const all = ["one", "two", "other one", "other two", "three", "four"]
  expect(await shownBy(mine)).toEqual(all)
  expect(await loggedIn(inner)).toEqual(all)
  expect(await shownBy(open(inner))).toEqual(all)
})

test("two processes: a second failure while synchronizing loses no pending entries", async () => {
  for (let at = 1; at <= 8; at++) {
    const inner = createMemoryStore()
    const failing = createFailingStore(inner)
    const mine = open(failing.store)
    await mine.append([said("one")])
    failing.set(gone)
    await mine.append([said("two")])
    await mine.pin("Never write to the north table.")
    await open(inner).append([said("other")])
    failing.set({ ...gone, at, lasting: false })
    await mine.append([said("three")])
    failing.set(undefined)
    expect((await mine.append([said("four")])).durable).toBe(true)
    expect(await shownBy(mine)).toEqual(["one", "other", "two", "three", "four"])
    expect(await loggedIn(inner)).toEqual(["one", "other", "two", "three", "four"])
    expect((await open(inner).pins()).map(({ text }) => text)).toEqual(["Never write to the north table."])
  }
})

test("a rule whose acknowledgment was lost, after which another process wrote, is pinned once", async () => {
  const inner = createMemoryStore()
  const failing = createFailingStore(inner)
  const mine = open(failing.store)
  await mine.append([said("one")])
  failing.set({ at: 1, code: "store-unavailable", when: "after", only: ["append"] })
  await mine.pin("Never write to the north table.")
  failing.set(gone)
  await mine.append([said("two")])
  await open(inner).append([said("other")])
  failing.set(undefined)
  await mine.append([said("three")])
  expect((await mine.pins()).length).toBe(1)
  expect((await open(inner).pins()).length).toBe(1)
})

test("a process that starts during an outage continues the earlier history once the store is back", async () => {
  const inner = createMemoryStore()
  await open(inner).append([said("one"), said("two")])
  await open(inner).pin("Never write to the north table.")
  const failing = createFailingStore(inner)
  const mine = open(failing.store)
  failing.set(gone)
  expect((await mine.append([said("three")])).durable).toBe(false)
  failing.set(undefined)
  expect((await mine.append([said("four")])).durable).toBe(true)
  expect(await shownBy(mine)).toEqual(["one", "two", "three", "four"])
  expect(await shownBy(open(inner))).toEqual(["one", "two", "three", "four"])
  expect((await mine.pins()).map(({ text }) => text)).toEqual(["Never write to the north table."])
})

test("a client's whole history sent during an outage is matched with the log once the store is back", async () => {
  const inner = createMemoryStore()
  const history = [said("one"), { role: "assistant", content: "done" }, said("two")]
  const bodyOf = (messages: readonly object[]) => ({ model: "any", messages })
  await open(inner).prepare({ body: bodyOf(history.slice(0, 1)) })
  const failing = createFailingStore(inner)
  const mine = open(failing.store)
  failing.set(gone)
  expect((await mine.prepare({ body: bodyOf(history) })).receipt.durable).toBe(false)
  failing.set(undefined)
  const { receipt, trace } = await mine.prepare({ body: bodyOf([...history, said("three")]) })
  expect(receipt.durable).toBe(true)
  expect(trace).toContainEqual(expect.objectContaining({ type: "durability-restored" }))
  expect(await loggedIn(inner)).toEqual(["one", "done", "two", "three"])
})

test("reading from an unavailable store is a Problem, not an empty result", async () => {
  const inner = createMemoryStore()
  await open(inner).append([said("one")])
  const failing = createFailingStore(inner)
  failing.set(gone)
  const away = { problem: { code: "store-unavailable" } }
  await expect(open(failing.store).history()).rejects.toMatchObject(away)
  await expect(open(failing.store).explain("e2")).rejects.toMatchObject(away)
  await expect(open(failing.store).undo()).rejects.toMatchObject(away)
  await expect(open(failing.store).recall("hf-2-00000000000000000000")).rejects.toMatchObject(away)
  await expect(open(failing.store).fork("t")).rejects.toMatchObject(away)
  await expect(open(failing.store).pins()).rejects.toMatchObject(away)
  await expect(open(failing.store).verify()).rejects.toMatchObject(away)
})

test("no model is called without the log's history while the log cannot be read", async () => {
  const inner = createMemoryStore()
  await open(inner).append([said("one")])
  const failing = createFailingStore(inner)
  const mine = open(failing.store)
  failing.set(gone)
  await mine.append([said("two")])
  await expect(mine.prepare()).rejects.toMatchObject({ problem: { code: "store-unavailable" } })
  failing.set(undefined)
  expect(await shownBy(mine)).toEqual(["one", "two"])
})

test("a store that fails once, on any call, hides nothing of a new session", async () => {
  for (let at = 1; at <= 6; at++) {
    const inner = createMemoryStore()
    await open(inner).append([said("one"), said("x".repeat(3000))])
    await open(inner).pin("Never write to the north table.")
    const failing = createFailingStore(inner)
    failing.set({ ...gone, at, lasting: false })
    const shown = await shownBy(open(failing.store)).catch((error: unknown) => error)
    if (Array.isArray(shown)) expect(shown).toEqual(["one", "x".repeat(3000)])
    else expect(shown).toMatchObject({ problem: { code: "store-unavailable" } })
  }
})

test("a session with unsaved entries is not forked without them", async () => {
  const inner = createMemoryStore()
  const failing = createFailingStore(inner)
  const mine = open(failing.store)
  await mine.append([said("one")])
  failing.set({ ...gone, only: ["append"] })
  await mine.append([said("two")])
  await expect(mine.fork("t")).rejects.toMatchObject({ problem: { code: "store-unavailable" } })
  failing.set(undefined)
  expect(await shownBy(await mine.fork("t"))).toEqual(["one", "two"])
})

test("a session deleted by another process begins again", async () => {
  const store = createMemoryStore()
  const mine = open(store)
  await mine.append([said("one"), said("two")])
  await open(store).remove()
  expect((await mine.append([said("three")])).durable).toBe(true)
  expect(await shownBy(mine)).toEqual(["three"])
  expect(await loggedIn(store)).toEqual(["three"])
})

test("entries in memory are limited, and the caller gets an error", async () => {
  const failing = createFailingStore(createMemoryStore())
  const mine = createHoldfast({ store: failing.store, format, unsavedEntries: 3 }).session("s")
  await mine.append([said("one")])
  failing.set(gone)
  await mine.append([said("two"), said("three"), said("four")])
  await expect(mine.append([said("five")])).rejects.toMatchObject({ problem: { code: "store-unavailable" } })
  failing.set(undefined)
  expect((await mine.append([said("six")])).durable).toBe(true)
  expect(await shownBy(mine)).toEqual(["one", "two", "three", "four", "six"])
})
