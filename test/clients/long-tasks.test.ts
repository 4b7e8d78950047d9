import { expect, test } from "vitest"
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { describeClients } from "./installed.ts"
import { createPi } from "./pi.ts"
import { runTask } from "./run-task.ts"
import { finalText } from "./task.ts"

const clients = [
  claude,
  codex,
  createPi("anthropic-messages"),
  createPi("openai-chat"),
  createPi("openai-responses"),
  createPi("gemini"),
]

const windowTokens = 45_000

describeClients("twelve large tool turns on a model of 45,000 tokens", () => {
  test.each(clients)("$name finishes, and the model refuses nothing", async (client) => {
    const run = await runTask(client, {
      situation: "12 turns, window given",
      steps: 12,
      stepBytes: 12_000,
      windowTokens,
      gateway: { windowTokens },
    })
    const { runs, failures, account } = run
    expect(failures).toEqual([])
    expect(runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
    expect(account).toMatchObject({ turns: 13, refusedUpstream: 0, refusedForClient: 0, sessions: [13] })
    expect(account.compactions).toBeGreaterThan(0)
  })
})
