import { expect, test } from "vitest"
import { field } from "../model-server/json.ts"
import { sessionsOf } from "./account.ts"
import { allClients } from "./all-clients.ts"
import { describeClients } from "./describe-clients.ts"
import { geminiCli } from "./gemini-cli.ts"
import { goOn, inTwoHalves } from "./in-two-halves.ts"
import { requestsWithout } from "./rule-check.ts"
import { runTask } from "./run-task.ts"
import { finalText, rule } from "./task.ts"

describeClients("one conversation is one session", () => {
  test.each(allClients)("$name, stopped and taken up again", async (client) => {
    const errands = [{}, { prompt: goOn, continues: true }]
    const script = inTwoHalves(client, 6)
    const run = await runTask(client, { situation: "taken up again", steps: 6, stepBytes: 2000, script, errands })
    expect(run.failures).toEqual([])
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([
      [0, true],
      [0, true],
    ])
    expect(run.account.sessions).toEqual(sessionsOf(client, 8))
    expect(requestsWithout(run, rule)).toEqual([])
  })

  test("gemini-cli, taken up again with other instructions", async () => {
    // It lists its skills in the order in which the disk returns them, so they may differ between runs even without a new one.
    const errands = [{}, { prompt: goOn, continues: true, hasSkill: true }]
    const script = inTwoHalves(geminiCli, 6)
    const run = await runTask(geminiCli, {
      situation: "other instructions",
      steps: 6,
      stepBytes: 2000,
      script,
      errands,
    })
    expect(run.failures).toEqual([])
    expect(new Set(run.requests.map(({ json }) => JSON.stringify(field(json, "systemInstruction")))).size).toBe(2)
    expect(run.account.sessions).toEqual(sessionsOf(geminiCli, 8))
    expect(requestsWithout(run, rule)).toEqual([])
  })

  test("gemini-cli, which also asks whether it goes round in circles: that is no turn of the conversation", async () => {
    // It asks from its thirtieth turn on, with the last twenty messages, another model and another system prompt.
    const errands = [{ checksForLoops: true }]
    const run = await runTask(geminiCli, { situation: "checks for loops", steps: 34, stepBytes: 500, errands })
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
    expect(run.requests.filter(({ json }) => !geminiCli.isMain(json))).not.toEqual([])
    expect(run.account).toMatchObject({ turns: 35 })
    expect(run.account.sessions[0]).toBe(35)
  })

  // With Gemini's format, no field that every client sends back identifies them, and their messages are identical.
  const told = allClients.filter(({ format }) => format !== "gemini")
  test.each(told)("$name, three of them at the same time in the same words", async (client) => {
    const task = { situation: "three at a time", steps: 4, stepBytes: 2000, atOnce: 3 }
    const run = await runTask(client, task)
    expect(run.failures).toEqual([])
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([
      [0, true],
      [0, true],
      [0, true],
    ])
    expect(run.account.sessions).toEqual(sessionsOf(client, 5, 5, 5))
  })
})
