import { expect, test } from "vitest"
import { isAnswerCounted, learnCountsAnswer, learnWindow, type WindowDeps, windowOf } from "./upstream.ts"

test("a window learned for one tenant does not apply to another", () => {
  const deps: WindowDeps = { upstreams: [], windows: new Map(), countsAnswer: new Set() }
  const window = (tenant: string) => windowOf(deps, { tenant, format: "openai-chat" }, "m")
  learnWindow(deps, "north", "m", 32_000)
  learnWindow(deps, "north", "m", 64_000)
  learnCountsAnswer(deps, "north", "m")
  expect([window("north"), window("south")]).toEqual([32_000, undefined])
  expect(["north", "south"].map((tenant) => isAnswerCounted(deps, tenant, "m"))).toEqual([true, false])
})
