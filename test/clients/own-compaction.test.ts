import { expect, test } from "vitest"
import { allClients } from "./all-clients.ts"
import { claude } from "./claude.ts"
import { codexOfOpenai } from "./codex.ts"
import { describeClients } from "./describe-clients.ts"
import { goOn, inTwoHalves } from "./in-two-halves.ts"
import { requestsWithout } from "./rule-check.ts"
import { runTask } from "./run-task.ts"
import { finalText, rule } from "./task.ts"

/** No summary of the scripted model ever tells the rule: what it is told again for is the gateway's doing. */
describeClients("the client compacts its own history", () => {
  test("claude, by command: the rule stands in every later request, and it is one session", async () => {
    const errands = [{}, { prompt: "/compact", continues: true }, { prompt: goOn, continues: true }]
    const situation = "client's own compaction"
    const script = inTwoHalves(claude, 8)
    const run = await runTask(claude, { situation, steps: 8, stepBytes: 6000, script, errands })
    expect(run.failures).toEqual([])
    expect(run.runs.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(run.runs[2]?.stdout).toContain(finalText)
    expect(run.requests.filter(({ json }) => JSON.stringify(json).includes("being continued from"))).not.toEqual([])
    expect(requestsWithout(run, rule)).toEqual([])
    expect(run.account.sessions).toHaveLength(1)
  })

  const byUsage = [...allClients, codexOfOpenai].filter(({ compacts }) => compacts === "by-usage")
  test.each(byUsage)("$name, by the usage it is told: the rule stands in every later request", async (client) => {
    const errands = [{ ownLimitTokens: 22_000 }]
    const situation = "client's own compaction"
    const run = await runTask(client, { situation, steps: 12, stepBytes: 9000, errands })
    expect(run.failures).toEqual([])
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
    const summaries = run.requests.filter(({ json }) => !client.isMain(json))
    expect(summaries).not.toEqual([])
    expect(requestsWithout(run, rule)).toEqual([])
  })
})
