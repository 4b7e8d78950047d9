import { expect, test } from "vitest"
import { createResponseCache } from "./response-cache.ts"
import type { ResponseChain } from "./whole.ts"

const chain = (text: string): ResponseChain => ({ elements: [text], upstream: "unstored", logged: true })

test("items are found by id only within their session, and a reference is not an item", () => {
  const cache = createResponseCache()
  cache.putItems("one", ['{"id":"msg_1","type":"message"}', '{"id":"msg_2","type":"item_reference"}', "no json"])
  expect(cache.find("one")?.items.get("msg_1")).toBe('{"id":"msg_1","type":"message"}')
  expect(cache.find("one")?.items.get("msg_2")).toBeUndefined()
  expect(cache.find("two")?.items.get("msg_1")).toBeUndefined()
})

test("the newest responses of a session are cached", () => {
  const cache = createResponseCache()
  for (let n = 0; n < 20; n += 1) cache.putChain("one", `resp_${n}`, chain(`${n}`))
  expect(cache.find("one")?.chains.get("resp_19")).toEqual(chain("19"))
  expect(cache.find("one")?.chains.get("resp_12")).toEqual(chain("12"))
  expect(cache.find("one")?.chains.get("resp_11")).toBeUndefined()
})

test("the least recently used session is dropped when the cache is full", () => {
  const cache = createResponseCache()
  const large = "a".repeat(50 * 1024 * 1024)
  for (const session of ["one", "two", "three"]) cache.putChain(session, "resp_1", chain(large))
  expect(cache.find("one")?.chains.get("resp_1")).toBeUndefined()
  expect(cache.find("two")?.chains.get("resp_1")).toBeDefined()
  expect(cache.find("three")?.chains.get("resp_1")).toBeDefined()
})
