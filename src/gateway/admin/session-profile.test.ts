import { expect, test } from "vitest"
import { tokens } from "../../message/message.ts"
import { runSteps } from "../../message/steps.ts"
import { chainEntries } from "../../session/log/chain.ts"
import type { EntryBody } from "../../session/log/entry.ts"
import { openStore } from "../../store/open-store.ts"
import { createProfiles } from "./session-profile.ts"
import { totalsOf } from "./session-summary.ts"

const opened: EntryBody = { type: "session-opened", agent: "a", secret: "0".repeat(32) }

const call = (inputTokens: number): EntryBody => ({
  type: "usage-reported",
  model: "m",
  estimatedTokens: 0,
  usage: {
    inputTokens: tokens(inputTokens),
    outputTokens: tokens(5),
    cacheReadTokens: tokens(0),
    cacheWriteTokens: tokens(0),
  },
})

const compacted = (beforeTokens: number, afterTokens: number): EntryBody => ({
  type: "checkpoint-installed",
  node: 1,
  base: 0,
  items: [],
  standing: [],
  remedy: "summary",
  beforeTokens,
  afterTokens,
  trace: "[]",
})

async function turnsOf(...bodies: readonly EntryBody[]): Promise<readonly number[]> {
  const store = await openStore("memory")
  const { entries, payloads } = runSteps(chainEntries({ seq: 0, hash: "" }, [opened, ...bodies], 0))
  await store.append("s", { after: 0, entries, payloads, tenant: "t", agent: "a" })
  const { compactions } = await createProfiles(store).read("s")
  await store.close()
  return compactions.map(({ turn }) => turn)
}

const cases: readonly (readonly [string, readonly EntryBody[], readonly number[]])[] = [
  ["made before a request: that one is the first smaller one", [call(900), compacted(1000, 300), call(310)], [1]],
  [
    "made beside requests that were on their way: the first smaller one counts",
    [call(990), compacted(1000, 300), call(1005), call(1010), call(320)],
    [3],
  ],
  ["no request since: the next one", [call(990), compacted(1000, 300)], [1]],
  ["every request since is as large: the log's own place", [compacted(100, 30), ...Array(20).fill(call(100))], [0]],
  ["hardly smaller: the log's own place", [call(990), compacted(1000, 980), call(1000), call(400)], [1]],
  [
    "two in a row: each before the next",
    [call(990), compacted(1000, 300), call(1001), compacted(1001, 200), call(210)],
    [2, 2],
  ],
]
test.each(cases)("a compaction %s", async (_why, bodies, turns) => {
  expect(await turnsOf(...bodies)).toEqual(turns)
})

test("a request whose model was asked six times has the size of one call and the cost of six", async () => {
  const store = await openStore("memory")
  const report = (calls?: number): EntryBody => ({
    ...{ type: "usage-reported", model: "claude-sonnet-4-5", estimatedTokens: 0 },
    usage: {
      ...{ inputTokens: tokens(26_000 * (calls ?? 1)), outputTokens: tokens(0) },
      ...{ cacheReadTokens: tokens(24_000 * (calls ?? 1)), cacheWriteTokens: tokens(0) },
    },
    ...(calls === undefined ? {} : { calls }),
  })
  const { entries, payloads } = runSteps(chainEntries({ seq: 0, hash: "" }, [opened, report(), report(6)], 0))
  await store.append("s", { after: 0, entries, payloads, tenant: "t", agent: "a" })
  const profile = await createProfiles(store).read("s")
  await store.close()
  expect(profile.turns).toMatchObject([
    { contextTokens: 26_000, cacheReadTokens: 24_000, calls: 1 },
    { contextTokens: 26_000, cacheReadTokens: 24_000, calls: 6 },
  ])
  const [once = 0, sixTimes = 0] = profile.turns.map(({ dollars }) => dollars)
  expect(sixTimes).toBeCloseTo(6 * once, 10)
  expect(totalsOf([profile], { fromMs: 0 })).toMatchObject({ tokens: 7 * 26_000, cachedTokens: 7 * 24_000, turns: 2 })
})
