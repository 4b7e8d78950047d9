import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { callId } from "../../message/message.ts"
import {
  chooseByShape,
  conversationShape,
  defaultStrategyOptions,
  groupTokens,
  type Shape,
  type SizedGroup,
  type StrategyName,
  scoreOf,
  strategies,
} from "./strategies.ts"

type Drawn = readonly [type: SizedGroup["group"]["type"], tokens: number, mandatory?: boolean]

const sized = (...drawn: readonly Drawn[]): readonly SizedGroup[] =>
  drawn.map(([type, tokens, mandatory = false], n) => ({
    group: { type, start: n, end: n + 1, calls: type === "tool-round" ? [callId(`c${n}`)] : [], pending: [] },
    tokens,
    mandatory,
  }))

const kept = (name: StrategyName, groups: readonly SizedGroup[], roomTokens: number): readonly number[] =>
  [...strategies[name].select({ groups, roomTokens, options: defaultStrategyOptions })].sort(
    (one, other) => one - other,
  )

const even = sized(
  ["user", 10],
  ["assistant", 10],
  ["tool-round", 10],
  ["user", 10],
  ["tool-round", 10],
  ["tool-round", 10],
  ["tool-round", 10],
  ["tool-round", 10],
)

describe("what stays", () => {
  const cases: readonly [why: string, name: StrategyName, room: number, stays: readonly number[]][] = [
    ["recency keeps the newest", "recency", 30, [5, 6, 7]],
    ["recency with no room keeps nothing", "recency", 5, []],
    ["oldest-drop keeps the task too", "oldest-drop", 40, [0, 5, 6, 7]],
    ["oldest-drop gives the task up when it is out of proportion", "oldest-drop", 30, [5, 6, 7]],
    ["middle-drop keeps both ends", "middle-drop", 40, [0, 1, 6, 7]],
    ["head-tail keeps a beginning and a larger end", "head-tail", 40, [0, 5, 6, 7]],
    ["tool-rounds keeps what was said and the last three rounds", "tool-rounds", 60, [0, 1, 3, 5, 6, 7]],
    ["tool-rounds that still does not fit drops the oldest words", "tool-rounds", 40, [3, 5, 6, 7]],
    ["everything fits: everything stays", "middle-drop", 80, [0, 1, 2, 3, 4, 5, 6, 7]],
  ]
  test.each(cases)("%s", (_why, name, room, stays) => {
    expect(kept(name, even, room)).toEqual(stays)
  })

  test("one group that is too large ends a stretch, so that nothing is shown with a hole in it", () => {
    expect(kept("recency", sized(["user", 5], ["tool-round", 100], ["assistant", 5]), 20)).toEqual([2])
  })
})

const shape = (more: Partial<Shape>): Shape => ({
  compression: 0.5,
  groups: 60,
  recentShare: 0.2,
  longGroup: false,
  toolShare: 0.3,
  ...more,
})

test.each([
  ["little to drop, and short", shape({ compression: 0.2, groups: 20 }), "middle-drop"],
  ["much to drop, and long", shape({ compression: 0.8, groups: 200 }), "oldest-drop"],
  ["the newest take most", shape({ recentShare: 0.6 }), "middle-drop"],
  ["mostly tool rounds", shape({ toolShare: 0.8 }), "middle-drop"],
  ["mostly tool rounds, one of them huge", shape({ toolShare: 0.8, longGroup: true }), "try-both"],
  ["no plain case", shape({}), "try-both"],
])("hybrid, %s: %o", (_why, given, pick) => {
  expect(chooseByShape(given)).toBe(pick)
})

test("undecided, hybrid takes whichever of the two scores better by the weights", () => {
  const groups = sized(["user", 2], ["assistant", 60], ["tool-round", 5], ["user", 5], ["assistant", 30], ["user", 8])
  const choice = (reduction: number) => ({
    groups,
    roomTokens: 45,
    options: { ...defaultStrategyOptions, weights: { reduction, retention: 1 - reduction } },
  })
  expect(chooseByShape(conversationShape(choice(1)))).toBe("try-both")
  for (const weight of [0, 0.6, 1]) {
    const asked = choice(weight)
    const best = Math.max(
      ...(["middle-drop", "oldest-drop"] as const).map((name) => scoreOf(asked, strategies[name].select(asked))),
    )
    expect(scoreOf(asked, strategies.hybrid.select(asked))).toBe(best)
  }
})

const anyGroups = fc
  .array(
    fc.tuple(
      fc.constantFrom<SizedGroup["group"]["type"]>("user", "assistant", "tool-round", "system"),
      fc.nat(100),
      fc.boolean(),
    ),
    { maxLength: 40 },
  )
  .map((drawn) => sized(...drawn))

test.each(Object.keys(strategies) as StrategyName[])(
  "%s never chooses more than the room holds, nor what is not there",
  (name) => {
    fc.assert(
      fc.property(anyGroups, fc.nat(3000), (groups, roomTokens) => {
        const chosen = strategies[name].select({ groups, roomTokens, options: defaultStrategyOptions })
        expect(groupTokens(groups, chosen)).toBeLessThanOrEqual(roomTokens)
        for (const at of chosen) expect(groups[at]).toBeDefined()
        const all = groupTokens(groups, new Set(groups.keys())) <= roomTokens
        if (all && name !== "tool-rounds") expect(chosen.size).toBe(groups.length)
      }),
    )
  },
)
