import { expect, test } from "vitest"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { createFailingStore } from "../support/failing-store.ts"
import { checkRequest } from "./check-session.ts"
import { marksIn } from "./marked-turn.ts"
import { formatOf, openDurable, system } from "./open-durable.ts"

const id = "day-b"
const format = formatOf(id)
const user = (content: string) => ({ role: "user", content })
const assistant = (content: string) => ({ role: "assistant", content })
const gone = { at: 1, code: "store-unavailable", when: "before", lasting: true } as const

test("one process appends, another that had the session open prepares: its request has what was said", async () => {
  const store = createMemoryStore()
  const [one, other] = [openDurable(store).session(id), openDurable(store).session(id)]
  await one.append([user("[first]")], { format })
  await other.append([user("[second]")], { format })
  await one.append([user("[third]")], { format })
  expect(marksIn(await checkRequest(other))).toEqual(["[first]", "[second]", "[third]"])
})

test("one process compacts, another that had the session open prepares: both send the same bytes", async () => {
  const store = createMemoryStore()
  const [one, other] = [openDurable(store).session(id), openDurable(store).session(id)]
  for (let n = 0; n < 8; n += 1) {
    const session = n % 2 === 0 ? one : other
    await session.append([user(`[question.${n}] ${"berth and crane ".repeat(40)}`)], { format })
    await session.append([assistant(`[answer.${n}] ${"cargo and tide ".repeat(20)}`)], { format })
  }
  const { checkpoint } = await one.compact({ format, system })
  const sent = await checkRequest(other)
  expect(sent).toBe(await checkRequest(one))
  expect((await other.prepare({ format, system })).receipt.checkpoint).toBe(checkpoint)
})

test("what waited for the store in memory is written when it is closed, once the store is back", async () => {
  const inner = createMemoryStore()
  const failing = createFailingStore(inner)
  const holdfast = openDurable(failing.store)
  await holdfast.session(id).append([user("[first]")], { format })
  failing.set(gone)
  expect((await holdfast.session(id).append([user("[second]")], { format })).durable).toBe(false)
  failing.set(undefined)
  await holdfast.close()
  expect(marksIn(await checkRequest(openDurable(inner).session(id)))).toEqual(["[first]", "[second]"])
})

test("closing while the store is away ends, and leaves it as it is", async () => {
  const inner = createMemoryStore()
  const failing = createFailingStore(inner)
  const holdfast = openDurable(failing.store)
  await holdfast.session(id).append([user("[first]")], { format })
  failing.set(gone)
  await holdfast.session(id).append([user("[second]")], { format })
  await holdfast.close()
  expect(marksIn(await checkRequest(openDurable(inner).session(id)))).toEqual(["[first]"])
})

test("a client asks for another answer to the same words: it stands in the log once, behind them", async () => {
  const store = createMemoryStore()
  const session = openDurable(store).session(id)
  const ask = (messages: readonly object[]) => session.prepare({ format, body: { model: "any", messages } })
  const answer = (content: string) => session.record({ choices: [{ index: 0, message: assistant(content) }] })
  await ask([user("[question]")])
  await answer("[one]")
  await ask([user("[question]")])
  await answer("[another]")
  await ask([user("[question]"), assistant("[another]"), user("[next]")])
  const history = await session.history()
  const marks = history.flatMap(({ message }) => marksIn(message?.wire ?? ""))
  expect(marks).toEqual(["[question]", "[one]", "[another]", "[next]"])
  const branch = history.filter(({ onBranch }) => onBranch === true)
  expect(branch.flatMap(({ message }) => marksIn(message?.wire ?? ""))).toEqual(["[question]", "[another]", "[next]"])
})
