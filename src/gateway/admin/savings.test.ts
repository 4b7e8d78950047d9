import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { tokens } from "../../message/message.ts"
import { runSteps } from "../../message/steps.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import { chainEntries } from "../../session/log/chain.ts"
import type { EntryBody } from "../../session/log/entry.ts"
import { openStore } from "../../store/open-store.ts"
import { playWhatIf } from "./compaction-routes.ts"
import { savedPerTurn, savingsSince, sessionCost, withoutCompaction } from "./savings.ts"
import { createProfiles, type Profile } from "./session-profile.ts"
import { totalsOf } from "./session-summary.ts"

const model = "claude-sonnet-4-5"

/** What happens in a made-up session: a turn that grows it, a compaction, one taken back, and a client that begins its history anew. */
type Happening =
  | { readonly type: "turn"; readonly grows: number; readonly isCached: boolean }
  | { readonly type: "compacted"; readonly to: number }
  | { readonly type: "undone" }
  | { readonly type: "begun-anew" }

function logOf(happenings: readonly Happening[]): readonly EntryBody[] {
  const bodies: EntryBody[] = [{ type: "session-opened", agent: "a", secret: "0".repeat(32) }]
  let [parent, base, context, before] = [0, 0, 5000, 0]
  const say = (role: "user" | "assistant"): void => {
    const message = { message: { role, parts: [{ type: "text" as const, text: `words ${bodies.length}` }] } }
    bodies.push({ type: "message-appended", parent, key: `k${bodies.length}`, message })
    parent = bodies.length
  }
  for (const happening of happenings) {
    if (happening.type === "turn") {
      say("user")
      context += happening.grows
      const read = happening.isCached ? Math.min(before, context) : 0
      const usage = {
        inputTokens: tokens(context),
        outputTokens: tokens(100),
        cacheReadTokens: tokens(read),
        cacheWriteTokens: tokens(context - read),
      }
      bodies.push({ type: "usage-reported", model, estimatedTokens: context, usage })
      say("assistant")
      before = context
    } else if (happening.type === "compacted" && parent > 0) {
      const afterTokens = Math.floor(context * happening.to)
      const made = { node: parent, base, items: [], standing: [], remedy: "summary", beforeTokens: context }
      bodies.push({ type: "checkpoint-installed", ...made, afterTokens, trace: "[]", tookMs: 40 })
      ;[base, context, before] = [bodies.length, afterTokens, Math.min(before, 1000)]
    } else if (happening.type === "undone" && base > 0) {
      bodies.push({ type: "checkpoint-undone", checkpoint: base })
      base = 0
    } else if (happening.type === "begun-anew") [parent, base, context, before] = [0, 0, 5000, 0]
  }
  return bodies
}

async function readLog(bodies: readonly EntryBody[]) {
  const store = await openStore("memory")
  const { entries, payloads } = runSteps(chainEntries({ seq: 0, hash: "" }, bodies, 1000))
  await store.append("s", { after: 0, entries, payloads, tenant: "t", agent: "a" })
  return { profile: await createProfiles(store).read("s"), close: () => store.close() }
}

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("turn" as const),
      grows: fc.nat(9000),
      isCached: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("compacted" as const), to: fc.double({ min: 0.1, max: 0.9 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "undone" as const }) },
  { weight: 1, arbitrary: fc.constant({ type: "begun-anew" as const }) },
)

const sum = (figures: readonly number[]): number => figures.reduce((total, one) => total + one, 0)

test("for any session, what it saved is one number: by turns, by compactions, in the day's sums and in the list", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (happenings) => {
      const { profile, close } = await readLog(logOf(happenings))
      const saved = sum(savedPerTurn(profile).map(({ dollars }) => dollars))
      const byCompaction = sum(profile.compactions.map((one) => savingsSince(profile, one).dollars ?? 0))
      expect(byCompaction).toBeCloseTo(saved, 8)
      expect(sessionCost(profile)?.savedDollars ?? 0).toBeCloseTo(saved, 8)
      expect(totalsOf([profile], { fromMs: 0 }).savedDollars).toBeCloseTo(saved, 8)
      await close()
    }),
  )
})

test("for any session, a turn that no compaction made smaller is the same without compactions, and the others were smaller", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (happenings) => {
      const { profile, close } = await readLog(logOf(happenings))
      for (const [n, whole] of withoutCompaction(profile).entries()) {
        const turn = profile.turns[n]
        if (turn === undefined || profile.compactedIn(turn.turn).length === 0) expect(whole).toBe(turn)
        else expect(whole.contextTokens).toBeGreaterThanOrEqual(turn.contextTokens)
      }
      await close()
    }),
  )
})

const turn = (grows: number): Happening => ({ type: "turn", grows, isCached: true })

async function profileOf(...happenings: readonly Happening[]): Promise<Profile> {
  const { profile, close } = await readLog(logOf(happenings))
  await close()
  return profile
}

test("what an earlier compaction took out is still not sent after a later one", async () => {
  const half = { type: "compacted", to: 0.5 } as const
  const { compactions, removedIn } = await profileOf(turn(5000), half, turn(5000), half, turn(1000))
  expect(compactions.map(({ beforeTokens, afterTokens }) => [beforeTokens, afterTokens])).toEqual([
    [10_000, 5000],
    [10_000, 5000],
  ])
  expect([1, 2, 3].map(removedIn)).toEqual([0, 5000, 10_000])
})

test("a client that begins its history anew saves nothing by what was compacted before", async () => {
  const profile = await profileOf(turn(5000), { type: "compacted", to: 0.5 }, { type: "begun-anew" }, turn(1000))
  expect(profile.removedIn(2)).toBe(0)
  expect(sessionCost(profile)?.savedDollars).toBe(0)
})

test.each([30, 400])(
  "what if, over %i turns: the session as it was costs what the list says, and without compactions that and what was saved",
  { timeout: 60_000 },
  async (turns) => {
    const happenings = Array.from(
      { length: turns },
      (_, n): Happening => (n % 12 === 11 ? { type: "compacted", to: 0.4 } : turn(800)),
    )
    const { profile, close } = await readLog(logOf(happenings))
    const asked = { windowTokens: 30_000, compactAt: 0.8, strategy: "staged" } as const
    const told = await playWhatIf(profile, asked, new AbortController().signal)
    const cost = sessionCost(profile)
    expect(cost?.savedDollars).toBeGreaterThan(0)
    expect(told.asItWas.totals.dollars).toBeCloseTo(cost?.dollars ?? Number.NaN, 8)
    expect(told.noCompaction.totals.dollars).toBeCloseTo((cost?.dollars ?? 0) + (cost?.savedDollars ?? 0), 8)
    await close()
  },
)

test("the day's sums say how long its compactions took, and how many nobody waited for", async () => {
  const profile = await profileOf(turn(5000), { type: "compacted", to: 0.5 }, turn(100), { type: "compacted", to: 0.5 })
  expect(totalsOf([profile], { fromMs: 0 })).toMatchObject({ compactions: 2, ahead: 0, medianMs: 40 })
})

test("a compaction of a request that was sent already is one that nobody waited for; any other is not", async () => {
  const store = await openStore("memory")
  for (const [name, isSent] of [
    ["sent", { isSent: true }],
    ["waited", {}],
  ] as const) {
    const holdfast = createHoldfast({ store, format: "openai-chat", windowTokens: 6000 })
    const session = holdfast.session(name)
    for (let n = 0; n < 40; n++)
      await session.append([
        { role: n % 2 === 0 ? "user" : "assistant", content: `Part ${n}. ${"words of it ".repeat(60)}` },
      ])
    await session.prepare({ model: "gpt-5", ...isSent })
    await holdfast.close()
    const { compactions } = await createProfiles(store).read(name)
    expect(compactions.length).toBeGreaterThan(0)
    for (const { ahead, tookMs } of compactions) {
      expect(ahead).toBe(name === "sent" ? true : undefined)
      expect(tookMs).toBeGreaterThanOrEqual(0)
    }
  }
})

test("rules that a compaction had no room for are not counted as held", async () => {
  const trace = JSON.stringify([{ type: "pins-left-out", pins: ["e2"], budgetTokens: 10 }])
  const rule = (text: string): EntryBody => ({
    type: "rule-pinned",
    text,
    channel: "user",
    by: "asked",
    kind: "prohibition",
  })
  const log = logOf([turn(5000), { type: "compacted", to: 0.5 }, turn(100)])
  const [opened, ...rest] = log.map((body) => (body.type === "checkpoint-installed" ? { ...body, trace } : body))
  if (opened === undefined) throw new Error("there is a log")
  const { profile, close } = await readLog([
    opened,
    ...rest,
    rule("Never A."),
    rule("Never B."),
    ...logOf([turn(5)]).slice(1),
  ])
  await close()
  expect(totalsOf([profile], { fromMs: 0, rulesOf: () => ({ rules: 5, operatorRules: 3 }) }).rules).toEqual({
    inForce: 5,
    operator: 3,
    leftOut: 1,
  })
})
