import { expect, test } from "vitest"
import { allClients } from "./all-clients.ts"
import { claude } from "./claude.ts"
import type { Client } from "./client.ts"
import { codexOfOpenai } from "./codex.ts"
import { describeClients } from "./describe-clients.ts"
import { goOn, inTwoHalves } from "./in-two-halves.ts"
import { laterRequestsWithout, requestsWithout } from "./rule-check.ts"
import { runTask, type TaskRun } from "./run-task.ts"
import { finalText, rule } from "./task.ts"

/** A second rule, stated once by the user after the client compacted. */
const laterRule = "Never delete a file below backups/ without asking me first."

const goOnWithRule = `${goOn} ${laterRule}`

/** Its first compaction comes after a few steps and the next a few steps later, whatever the size of its system prompt and tools. */
const ownLimitTokens = ({ stackTokens }: Client): number => Math.max(22_000, stackTokens + 14_000)

/** Returns the number of requests outside the conversation, not counting the one for a title. */
const summariesIn = ({ requests, client }: TaskRun): number =>
  requests.filter(({ json }) => !client.isMain(json)).length - (client.asksForTitle === true ? 1 : 0)

/** Returns the number of summaries before the second rule is stated, and after it. */
function summariesAround(run: TaskRun): readonly [before: number, after: number] {
  const stated = run.requests.findIndex(({ body }) => Buffer.from(body).includes(laterRule))
  const before = summariesIn({ ...run, requests: run.requests.slice(0, Math.max(0, stated)) })
  return [before, summariesIn(run) - before]
}

/** The scripted model's summaries never mention the rules: it is the gateway that states them again. */
describeClients("the client compacts its own history", () => {
  test("claude, by command: both rules stand in every later request, and it is one session", async () => {
    const compact = { prompt: "/compact", continues: true }
    const errands = [{}, compact, { prompt: goOnWithRule, continues: true }, compact, { prompt: goOn, continues: true }]
    const situation = "client's own compaction"
    const script = inTwoHalves(claude, 8)
    const run = await runTask(claude, { situation, steps: 8, stepBytes: 6000, script, errands })
    expect(run.failures).toEqual([])
    expect(run.runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expect([run.runs[2], run.runs[4]].map((ran) => ran?.stdout.includes(finalText))).toEqual([true, true])
    expect(run.requests.filter(({ json }) => JSON.stringify(json).includes("being continued from"))).not.toEqual([])
    expect(requestsWithout(run, rule)).toEqual([])
    expect(laterRequestsWithout(run, laterRule)).toEqual([])
    expect(run.account.sessions).toHaveLength(1)
  })

  const byUsage = [...allClients, codexOfOpenai].filter(({ compacts }) => compacts === "by-usage")
  const cases = [
    ...byUsage.map((client) => ({ client, keepsNoTurn: false, how: "by the usage it is told" })),
    ...byUsage
      .filter(({ mayKeepNoTurn }) => mayKeepNoTurn === true)
      .map((client) => ({ client, keepsNoTurn: true, how: "keeping no turn" })),
  ]
  test.each(cases)("$client.name, $how: both rules stand in every later request", async ({ client, keepsNoTurn }) => {
    const limit = { ownLimitTokens: ownLimitTokens(client), keepsNoTurn }
    const errands = [limit, { ...limit, prompt: goOnWithRule, continues: true }]
    const situation = `client's own compaction${keepsNoTurn ? ", no turn kept" : ""}`
    const script = inTwoHalves(client, 20)
    const run = await runTask(client, { situation, steps: 20, stepBytes: 9000, script, errands })
    expect(run.failures).toEqual([])
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([
      [0, true],
      [0, true],
    ])
    const [before, after] = summariesAround(run)
    expect(before).toBeGreaterThan(0)
    expect(after).toBeGreaterThan(0)
    expect(requestsWithout(run, rule)).toEqual([])
    expect(laterRequestsWithout(run, laterRule)).toEqual([])
    // The conversation is one session, which may include summary requests.
    expect(run.account.sessions[0]).toBeGreaterThanOrEqual(run.account.turns)
  })
})
