import { expect, test } from "vitest"
import { createEndings } from "./held.ts"

test("a session is listed from the end of a response until all its responses are recorded", async () => {
  const { ending, ended } = createEndings()
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const works = [ending("one", "a", () => first.promise), ending("one", "a", () => second.promise)]
  expect(ended("one")).toEqual(["a"])
  expect(ended("two")).toEqual([])
  first.resolve()
  await works[0]
  expect(ended("one")).toEqual(["a"])
  second.resolve()
  await works[1]
  expect(ended("one")).toEqual([])
})
