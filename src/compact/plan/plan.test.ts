import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { tokens } from "../../message/message.ts"
import { isTripped, noteCompaction, regrowth } from "./breaker.ts"
import { lifetimeThatPays, weighRewrite } from "./economics.ts"
import { compactionMark, type Occasion, type Plan, planContext, reserveFor, type Sizes } from "./plan.ts"
import { type CompactionPolicy, defaultPolicy } from "./policy.ts"

/** A window of 1,100 with 100 reserved: shares of the room read as per mille. */
const sizes = (contextTokens: number, more: Partial<Record<keyof Sizes, number>> = {}): Sizes => {
  const given = {
    contextTokens,
    windowTokens: 1100,
    reserveTokens: 100,
    floorTokens: 0,
    unreadTokens: 0,
    toolOutputTokens: 0,
    toolRounds: 0,
    ...more,
  }
  const { toolRounds, ...counts } = given
  return { ...mapTokens(counts), toolRounds }
}

function mapTokens(counts: Omit<Record<keyof Sizes, number>, "toolRounds">): Omit<Sizes, "toolRounds"> {
  return {
    contextTokens: tokens(counts.contextTokens),
    windowTokens: tokens(counts.windowTokens),
    reserveTokens: tokens(counts.reserveTokens),
    floorTokens: tokens(counts.floorTokens),
    unreadTokens: tokens(counts.unreadTokens),
    toolOutputTokens: tokens(counts.toolOutputTokens),
  }
}

describe("what to do", () => {
  const cases: readonly [
    why: string,
    sizes: Sizes,
    occasion: Occasion,
    policy: Partial<CompactionPolicy>,
    plan: object,
  ][] = [
    ["small: leave it", sizes(600), {}, {}, { type: "leave", flush: false, speculate: false }],
    ["over 60 %: save to memory", sizes(601), {}, {}, { type: "leave", flush: true, speculate: false }],
    ["over 65 %: begin a summary too", sizes(651), {}, {}, { type: "leave", flush: true, speculate: true }],
    ["at 80 %: not yet", sizes(800), {}, {}, { type: "leave" }],
    [
      "over 80 %: compact to the low-water mark",
      sizes(801),
      {},
      {},
      { type: "compact", depth: "full", forced: true, targetTokens: 400 },
    ],
    [
      "over a fixed number of tokens",
      sizes(301),
      {},
      { compactAtTokens: 300 },
      { type: "compact", forced: true, targetTokens: 120 },
    ],
    [
      "someone asks, however small",
      sizes(50),
      { asked: { focus: "the API" } },
      {},
      { type: "compact", forced: true, focus: "the API" },
    ],
    [
      "the provider refused what we thought would fit",
      sizes(500),
      { refused: true },
      {},
      { type: "compact", forced: true, targetTokens: 200 },
    ],
    [
      "a phase ends with much to carry",
      sizes(700),
      { phaseEnded: true },
      {},
      { type: "compact", depth: "full", forced: false },
    ],
    ["a phase ends with little", sizes(300), { phaseEnded: true }, {}, { type: "leave" }],
    [
      "one output over its limit",
      sizes(500, { toolOutputTokens: 301 }),
      {},
      { toolOutputTokens: 300 },
      { type: "compact", depth: "micro", forced: false },
    ],
    [
      "too many tool rounds",
      sizes(500, { toolRounds: 9 }),
      {},
      { toolRounds: 8 },
      { type: "compact", depth: "micro", forced: false },
    ],
    [
      "over 80 %, but the model has not read the newest results: while it fits, it goes out whole",
      sizes(980, { unreadTokens: 10 }),
      {},
      {},
      { type: "leave", flush: true, speculate: true },
    ],
    [
      "more than fits: old material down to the low-water mark, the unread results on top",
      sizes(1001, { unreadTokens: 250 }),
      {},
      {},
      { type: "compact", depth: "full", forced: true, targetTokens: 650 },
    ],
    [
      "large unread results: old material gives way to the next of them",
      sizes(1001, { unreadTokens: 350 }),
      {},
      {},
      { type: "compact", targetTokens: 650 },
    ],
    [
      "though not below half the mark",
      sizes(1001, { unreadTokens: 450 }),
      {},
      {},
      { type: "compact", targetTokens: 650 },
    ],
    [
      "unread results that leave less than the low-water mark: as much as fits",
      sizes(1500, { unreadTokens: 900 }),
      {},
      {},
      { type: "compact", targetTokens: 1000 },
    ],
    [
      "a fixed mark counts what was read already",
      sizes(500, { unreadTokens: 250 }),
      {},
      { compactAtTokens: 300 },
      { type: "leave" },
    ],
    [
      "a floor: shares are of what it leaves",
      sizes(940, { floorTokens: 700 }),
      {},
      {},
      { type: "leave", flush: true, speculate: true },
    ],
    [
      "one token over that: so is what is left of the history",
      sizes(941, { floorTokens: 700 }),
      {},
      {},
      { type: "compact", forced: true, targetTokens: 820 },
    ],
    [
      "never below the floor",
      sizes(351, { floorTokens: 350 }),
      {},
      { compactAtTokens: 300 },
      { type: "compact", targetTokens: 350 },
    ],
    [
      "a floor that cannot fit: refuse, and say by how much",
      sizes(900, { floorTokens: 1001 }),
      {},
      {},
      { type: "refuse", shortTokens: 1 },
    ],
  ]
  test.each(cases)("%s", (_why, given, occasion, policy, plan) => {
    expect(planContext(given, occasion, { ...defaultPolicy, ...policy })).toMatchObject(plan)
  })
})

describe("why it is compacted", () => {
  const cases: readonly [
    why: string,
    sizes: Sizes,
    occasion: Occasion,
    policy: Partial<CompactionPolicy>,
    reasons: object[],
  ][] = [
    ["its size", sizes(801), {}, {}, [{ trigger: "window-share", value: 801, limit: 800 }]],
    ["someone asked", sizes(50), { asked: {} }, {}, [{ trigger: "asked", value: 50, limit: 0 }]],
    [
      "the provider refused it",
      sizes(500),
      { refused: true },
      {},
      [{ trigger: "provider-refused", value: 500, limit: 1000 }],
    ],
    [
      "a fixed number of tokens",
      sizes(301),
      {},
      { compactAtTokens: 300 },
      [{ trigger: "absolute-tokens", value: 301, limit: 300 }],
    ],
    ["the end of a phase", sizes(700), { phaseEnded: true }, {}, [{ trigger: "phase-end", value: 700, limit: 600 }]],
    [
      "one output",
      sizes(500, { toolOutputTokens: 301 }),
      {},
      { toolOutputTokens: 300 },
      [{ trigger: "tool-output", value: 301, limit: 300 }],
    ],
    [
      "the number of tool rounds",
      sizes(500, { toolRounds: 9 }),
      {},
      { toolRounds: 8 },
      [{ trigger: "tool-rounds", value: 9, limit: 8 }],
    ],
    [
      "several reasons at once, forced ones first",
      sizes(900, { toolRounds: 9 }),
      { phaseEnded: true },
      { toolRounds: 8 },
      [{ trigger: "window-share" }, { trigger: "phase-end" }, { trigger: "tool-rounds" }],
    ],
  ]
  test.each(cases)("%s", (_why, given, occasion, policy, reasons) => {
    const plan = planContext(given, occasion, { ...defaultPolicy, ...policy })
    expect(plan.type === "compact" ? plan.reasons : []).toMatchObject(reasons)
    expect(plan.type === "compact" ? plan.reasons : []).toHaveLength(reasons.length)
  })

  test.each([
    ["a fixed number of tokens", sizes(300), {}, { compactAtTokens: 300 }],
    ["one output", sizes(500, { toolOutputTokens: 300 }), {}, { toolOutputTokens: 300 }],
    ["the number of tool rounds", sizes(500, { toolRounds: 8 }), {}, { toolRounds: 8 }],
    ["the end of a phase", sizes(600), { phaseEnded: true }, {}],
  ] as const)("not yet at the limit itself: %s", (_why, given, occasion, policy) => {
    expect(planContext(given, occasion, { ...defaultPolicy, ...policy }).type).toBe("leave")
  })

  test("someone who asks gets less than there is, also of what would fit", () => {
    expect(planContext(sizes(500), { asked: {} }, defaultPolicy)).toMatchObject({ targetTokens: 200 })
  })
})

test("the mark up to which a context is not compacted for its size agrees with the plan", () => {
  const policy = (more: Partial<CompactionPolicy>): CompactionPolicy => ({ ...defaultPolicy, ...more })
  const policies = [policy({}), policy({ compactAtTokens: 300 }), policy({ compactAt: 0.99 })]
  fc.assert(
    fc.property(fc.constantFrom(...policies), fc.boolean(), fc.nat(999), (chosen, isUnread, floorTokens) => {
      const at = (context: number): Plan["type"] =>
        planContext(sizes(context, { floorTokens, unreadTokens: isUnread ? 1 : 0 }), {}, chosen).type
      const mark = compactionMark(sizes(0, { floorTokens }), chosen, isUnread ? "unread" : "answered")
      expect(at(mark)).toBe("leave")
      // A fixed mark leaves out what is unread, here one token.
      expect(at(mark + (isUnread ? 2 : 1))).toBe("compact")
    }),
  )
  expect(compactionMark(sizes(0), policy({}), "answered")).toBe(800)
  expect(compactionMark(sizes(0), policy({}), "unread")).toBe(980)
  expect(compactionMark(sizes(0, { windowTokens: 50 }), policy({}), "answered")).toBe(0)
})

test("a larger context never asks for less, and the target fits the room and the floor", () => {
  const rank = (plan: Plan): number => (plan.type === "leave" ? Number(plan.flush) + Number(plan.speculate) : 3)
  fc.assert(
    fc.property(fc.nat(2000), fc.nat(2000), fc.nat(1000), (one, more, floorTokens) => {
      const [small, large] = [one, one + more].map((context) =>
        planContext(sizes(context, { floorTokens }), {}, defaultPolicy),
      )
      if (small === undefined || large === undefined) return
      expect(rank(large)).toBeGreaterThanOrEqual(rank(small))
      if (large.type === "compact") {
        expect(large.targetTokens).toBeGreaterThanOrEqual(floorTokens)
        expect(large.targetTokens).toBeLessThanOrEqual(1000)
      }
    }),
  )
})

describe("what is held free for the answer", () => {
  test.each([
    ["a short answer was asked for", 100_000, 0, 1000, undefined, 1000],
    ["of a narrow window a fifth at most", 56_000, 1000, 32_000, undefined, 11_200],
    ["beside a large stack a quarter of what it leaves", 56_000, 26_000, 32_000, undefined, 7500],
    ["and not less than usual", 30_000, 21_000, 32_000, undefined, 4096],
    ["of a wide window all that was asked for", 200_000, 25_000, 32_000, undefined, 32_000],
    ["of what hardly leaves anything a half", 5000, 1000, 32_000, undefined, 2000],
    ["answers are known to be short", 200_000, 25_000, 32_000, 700, 10_000],
    ["answers are known to be short, and there is little room", 30_000, 25_000, 32_000, 100, 1500],
    ["answers are known to be long", 200_000, 25_000, 32_000, 9000, 18_000],
  ])("%s", (_why, windowTokens, floorTokens, wantedTokens, longestAnswerTokens, held) => {
    const known = longestAnswerTokens === undefined ? {} : { longestAnswerTokens }
    expect(reserveFor({ windowTokens, floorTokens, wantedTokens, ...known })).toBe(held)
  })

  test("beside unread results no more than a usual answer, and never nothing", () => {
    const sizes = { windowTokens: 56_000, floorTokens: 25_000, wantedTokens: 32_000 }
    expect(reserveFor({ ...sizes, unreadTokens: 23_000 })).toBe(4096)
    expect(reserveFor({ ...sizes, unreadTokens: 500_000 })).toBe(4096)
  })

  test("a wider window never leaves less for the context, nor a lower mark or target", () => {
    const count = fc.integer({ min: 1, max: 300_000 })
    fc.assert(
      fc.property(
        count,
        count,
        count,
        count,
        fc.option(count),
        fc.nat(100_000),
        (one, more, wanted, floor, known, unread) => {
          const longest = known === null ? {} : { longestAnswerTokens: known }
          const [narrow, wide] = [one, one + more].map((windowTokens) => {
            const reserveTokens = reserveFor({
              windowTokens,
              floorTokens: floor,
              unreadTokens: unread,
              wantedTokens: wanted,
              ...longest,
            })
            const room = windowTokens - reserveTokens
            const floorTokens = Math.min(floor, room)
            const plan = planContext(
              sizes(1_000_000, { windowTokens, reserveTokens, floorTokens, unreadTokens: unread }),
              {},
              defaultPolicy,
            )
            return { room, target: plan.type === "compact" ? plan.targetTokens : Number.NaN }
          })
          if (narrow === undefined || wide === undefined) return
          expect(wide.room).toBeGreaterThanOrEqual(narrow.room)
          expect(wide.target).toBeGreaterThanOrEqual(narrow.target)
        },
      ),
    )
  })
})

describe("is a rewrite worth the cache that it destroys?", () => {
  const prices = { cacheRead: 0.3, cacheWrite: 3.75 }
  test.each([
    ["halving it, with many calls to come", 20_000, 100_000, 50_000, 20, true],
    ["halving it, with two calls to come", 20_000, 100_000, 50_000, 2, false],
    ["saving little of much", 20_000, 100_000, 95_000, 20, false],
    ["dropping the end and keeping the rest cached", 80_000, 100_000, 80_000, 2, true],
  ])("%s", (_why, keptTokens, beforeTokens, afterTokens, expectedCalls, pays) => {
    expect(weighRewrite({ keptTokens, beforeTokens, afterTokens, expectedCalls }, prices).pays).toBe(pays)
  })
  test("both ways are in dollars, and as many calls as break even do not pay yet", () => {
    const rewrite = { keptTokens: 0, beforeTokens: 2_000_000, afterTokens: 1_000_000, expectedCalls: 3 }
    expect(weighRewrite(rewrite, { cacheRead: 1, cacheWrite: 4 })).toEqual({
      leaveDollars: 6,
      rewriteDollars: 6,
      breakEvenCalls: 3,
      pays: false,
    })
  })
  test("one that saves nothing never breaks even", () => {
    const rewrite = { keptTokens: 10, beforeTokens: 100, expectedCalls: 9 }
    for (const afterTokens of [100, 120])
      expect(weighRewrite({ ...rewrite, afterTokens }, prices).breakEvenCalls).toBe(Number.POSITIVE_INFINITY)
    expect(weighRewrite({ ...rewrite, afterTokens: 100, keptTokens: 100 }, prices)).toMatchObject({
      breakEvenCalls: Number.POSITIVE_INFINITY,
      pays: false,
    })
  })
  test("it pays exactly when more calls are expected than it takes to break even", () => {
    const size = fc.integer({ min: 1, max: 1_000_000 })
    fc.assert(
      fc.property(
        size,
        size,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 200 }),
        (one, other, share, expectedCalls) => {
          const [afterTokens, beforeTokens] = [Math.min(one, other), Math.max(one, other) + 1]
          const weighed = weighRewrite(
            { keptTokens: Math.floor(afterTokens * share), beforeTokens, afterTokens, expectedCalls },
            prices,
          )
          if (Math.abs(weighed.breakEvenCalls - expectedCalls) > 1e-6)
            expect(weighed.pays).toBe(expectedCalls > weighed.breakEvenCalls)
        },
      ),
    )
  })
})

describe("the circuit breaker", () => {
  test("lets a compaction that got somewhere be followed by another", () => {
    expect(isTripped(noteCompaction(1000, 500), 600)).toBe(false)
  })
  test("stops one that got nowhere from being repeated", () => {
    expect(isTripped(noteCompaction(1000, 960), 980)).toBe(true)
  })
  test("tries again once there is something new", () => {
    expect(isTripped(noteCompaction(1000, 960), 1060)).toBe(false)
  })
  test("remembers only one that took off less than a twentieth", () => {
    expect(noteCompaction(1000, 951)).toEqual({ stuckAtTokens: 951 })
    expect(noteCompaction(1000, 950)).toEqual({})
    expect(noteCompaction(1000, 1100)).toEqual({ stuckAtTokens: 1100 })
    expect(noteCompaction(0, 0)).toEqual({ stuckAtTokens: 0 })
  })
  test("is open without one, and closed from a tenth more on", () => {
    expect(isTripped({}, 0)).toBe(false)
    expect(isTripped({ stuckAtTokens: 1000 }, 1099)).toBe(true)
    expect(isTripped({ stuckAtTokens: 1000 }, 1000 * (1 + regrowth))).toBe(false)
  })
})

describe("how long a provider is to keep what is marked", () => {
  const minutes = (...counts: readonly number[]): readonly number[] => counts.map((count) => count * 60_000)
  /** An hour costs 200 to write, five minutes 125, reading 10: an hour pays once three quarters of a written prefix are saved. */
  const cached = { input: 100, cacheRead: 10, cacheWrite: 125 }
  test.each<[why: string, gapsMs: readonly number[], expectedCalls: number, lifetime: "5m" | "1h"]>([
    ["nothing is known of the calls", [], 50, "5m"],
    ["calls follow one another", minutes(1, 2, 4), 50, "5m"],
    ["five minutes to the millisecond are not too late", minutes(5, 5, 5), 50, "5m"],
    ["every call comes too late for five minutes", minutes(6, 20, 59), 2, "1h"],
    ["an hour to the millisecond is not too late", minutes(60, 60), 2, "1h"],
    ["every call comes too late for an hour as well", minutes(61, 90), 50, "5m"],
    ["one call in four is late, and many follow", minutes(1, 1, 1, 30), 50, "1h"],
    ["one call in four is late, and few follow", minutes(1, 1, 1, 30), 2, "5m"],
    ["no further call is expected", minutes(30, 30), 0, "5m"],
    ["one in four is late for an hour, the others for five minutes", minutes(10, 10, 10, 90), 4, "1h"],
    ["both cost the same", minutes(30, 30, 30, 30), 75 / 115, "5m"],
  ])("%s", (_why, gapsMs, expectedCalls, lifetime) => {
    expect(lifetimeThatPays(gapsMs, expectedCalls, cached)).toBe(lifetime)
  })
})
