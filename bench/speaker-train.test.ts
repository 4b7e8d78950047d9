import { expect, test } from "vitest"
import { ownLists } from "./speaker-train.ts"

test("the lists of rules that are learnt from are written as people write them, with or without one full stop", () => {
  const lists = ownLists()
  const ends = lists.flatMap(({ text, own }) => {
    expect(own.map(({ start, end }) => text.slice(start, end))).toEqual(text.split("\n"))
    return text.split("\n").map((line) => /\.*$/.exec(line)?.[0])
  })
  expect(new Set(ends)).toEqual(new Set(["", "."]))
})
