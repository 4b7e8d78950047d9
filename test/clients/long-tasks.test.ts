import { expect, test } from "vitest"
import { allClients } from "./all-clients.ts"
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { areLongWanted, describeClients } from "./describe-clients.ts"
import { requestsWithout } from "./rule-check.ts"
import { runTask, type TaskRun } from "./run-task.ts"
import { finalText, rule } from "./task.ts"

const windowTokens = 45_000

/** It ended as it does without a gateway, and on the way nothing broke and no rule was lost. */
function expectFinished(run: TaskRun, turns: number): void {
  expect(run.failures).toEqual([])
  expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
  expect(run.account).toMatchObject({ turns, refusedForClient: 0, sessions: [turns] })
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
})

/** Longer than this a run of a hundred turns takes with these; they run when long runs are asked for. */
const slow = [claude, codex]

describeClients("a hundred tool turns on a model of 45,000 tokens", () => {
  const wanted = allClients.filter((client) => areLongWanted || !slow.includes(client))
  test.each(wanted)(
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
