import { expect, test } from "vitest"
import { createShelf } from "./held.ts"
import type { ResponseChain } from "./whole.ts"

const chain = (text: string): ResponseChain => ({ elements: [text], upstream: "unstored", logged: true })

test("items are found by id only within their session, and a reference is not an item", () => {
  const shelf = createShelf()
  shelf.putItems("one", ['{"id":"msg_1","type":"message"}', '{"id":"msg_2","type":"item_reference"}', "no json"])
  expect(shelf.item("one", "msg_1")).toBe('{"id":"msg_1","type":"message"}')
  expect(shelf.item("one", "msg_2")).toBeUndefined()
  expect(shelf.item("two", "msg_1")).toBeUndefined()
})

test("the newest responses of a session are cached", () => {
  const shelf = createShelf()
  for (let n = 0; n < 20; n += 1) shelf.putChain("one", `resp_${n}`, chain(`${n}`))
  expect(shelf.chain("one", "resp_19")).toEqual(chain("19"))
  expect(shelf.chain("one", "resp_12")).toEqual(chain("12"))
  expect(shelf.chain("one", "resp_11")).toBeUndefined()
})

test("the least recently used session is dropped when the cache is full", () => {
  const shelf = createShelf()
  const large = "a".repeat(50 * 1024 * 1024)
  for (const session of ["one", "two", "three"]) shelf.putChain(session, "resp_1", chain(large))
  expect(shelf.chain("one", "resp_1")).toBeUndefined()
  expect(shelf.chain("two", "resp_1")).toBeDefined()
  expect(shelf.chain("three", "resp_1")).toBeDefined()
})
