import { expect, test } from "vitest"
import { tokens } from "../../message/message.ts"
import { irreducibleFloor, requireFloor } from "./plan.ts"

const floor = irreducibleFloor({
  stack: tokens(6000),
  pins: tokens(500),
  tools: tokens(11_000),
  latestUserMessage: tokens(40),
  outputReserve: tokens(8000),
})

test("the floor is the sum of its pieces, each by name", () => {
  expect(floor.floorTokens).toBe(25_540)
  expect(floor.pieces.map(({ name }) => name)).toEqual([
    "the prompt stack",
    "the pinned rules",
    "the tool definitions",
    "the latest user message",
    "the output reserve",
  ])
})

const cases: [why: string, windowTokens: number, room: number | undefined][] = [
  ["a large window has room for history", 200_000, 174_460],
  ["a window of exactly the floor has none, and still works", 25_540, 0],
  ["one token short is a Problem", 25_539, undefined],
]
test.each(cases)("%s", (_why, windowTokens, room) => {
  if (room !== undefined) expect(requireFloor(floor, tokens(windowTokens))).toBe(room)
  else {
    expect(() => requireFloor(floor, tokens(windowTokens))).toThrow(
      "needs 25540 tokens, 1 more than the 25539 there are; the largest piece is the tool definitions (11000 tokens)",
    )
  }
})

test("a Problem names the pieces that there are, and of two as large the one that comes first in a call", () => {
  const some = irreducibleFloor({ stack: 100, pins: 0, tools: 100, latestUserMessage: 7, outputReserve: 0 })
  expect(() => requireFloor(some, 200)).toThrow(
    expect.objectContaining({
      problem: {
        code: "floor-exceeds-window",
        floorTokens: 207,
        windowTokens: 200,
        largest: "the prompt stack (100 tokens)",
        pieces: [
          { name: "the prompt stack", tokens: 100 },
          { name: "the tool definitions", tokens: 100 },
          { name: "the latest user message", tokens: 7 },
        ],
      },
    }),
  )
})
