import { expect, test } from "vitest"
import { sessionsOf } from "./account.ts"
import { allClients, oneOfEach } from "./all-clients.ts"
import { describeClients } from "./describe-clients.ts"
import { requestsWithout } from "./rule-check.ts"
import { runTask, type TaskRun } from "./run-task.ts"
import { finalText, rule } from "./task.ts"

const windowTokens = 45_000

/** Expects the same end as without a gateway, no failures, and no lost rule. */
function expectFinished(run: TaskRun, turns: number): void {
  expect(run.failures).toEqual([])
  expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
  expect(run.account).toMatchObject({ turns, refusedForClient: 0, sessions: sessionsOf(run.client, turns) })
  expect(requestsWithout(run, rule)).toEqual([])
}

const twelve = { steps: 12, stepBytes: 13_000, windowTokens }

describeClients("twelve large tool turns on a model of 45,000 tokens", () => {
  test.each(allClients)("$name finishes, and the model refuses nothing", async (client) => {
    const run = await runTask(client, { ...twelve, situation: "12 turns, window given", gateway: { windowTokens } })
    expectFinished(run, 13)
    expect(run.account.refusedUpstream).toBe(0)
    expect(run.account.compactions).toBeGreaterThan(0)
  })

  test.each(allClients)("$name finishes where the gateway has to learn the window from a refusal", async (client) => {
    const run = await runTask(client, { ...twelve, situation: "12 turns, window learned" })
    expectFinished(run, 13)
    expect(run.account.refusedUpstream).toBeGreaterThan(0)
    expect(run.account.refusedUpstream).toBeLessThanOrEqual(2)
  })

  test.each(oneOfEach)("$name finishes, though the model counts a fifth more than the gateway does", async (client) => {
    const other = { situation: "12 turns, other count", tokenScale: 1.2, gateway: { windowTokens } }
    const run = await runTask(client, { ...twelve, ...other })
    expectFinished(run, 13)
    expect(run.account.refusedUpstream).toBe(0)
  })
})

describeClients("a hundred tool turns on a model of 45,000 tokens", () => {
  test.each(allClients)(
    "$name finishes, and the model refuses nothing",
    async (client) => {
      const hundred = { steps: 100, stepBytes: 3000, windowTokens, gateway: { windowTokens } }
      const run = await runTask(client, { ...hundred, situation: "100 turns, window given" })
      expectFinished(run, 101)
      expect(run.account.refusedUpstream).toBe(0)
      expect(run.account.compactions).toBeGreaterThan(1)
    },
    900_000,
  )
})
