import { writeFileSync } from "node:fs"
import { expect, test } from "vitest"
import type { Output, Script } from "../model-server/script.ts"
import { claude } from "./claude.ts"
import type { Client } from "./client.ts"
import { codex } from "./codex.ts"
import { describeClients } from "./describe-clients.ts"
import { goOn, inTwoHalves } from "./in-two-halves.ts"
import { runTask, type TaskRun } from "./run-task.ts"
import { finalText, lastStep, rule, taskScript } from "./task.ts"

const digestStart = '<summary by=\\"holdfast\\"'
const folder = "release-7731"
const madeFolder = `mkdir -p ${folder}`

/** The same steps, one of which also changes something. */
function withAct(script: Script, at: number): Script {
  const print = `cat step-${at}.txt`
  const acting = (output: Output): Output => ({
    ...output,
    ...(output.calls === undefined
      ? {}
      : {
          calls: output.calls.map(({ tool, input }) => ({
            tool,
            input: JSON.parse(JSON.stringify(input).replace(print, `${madeFolder} && ${print}`)),
          })),
        }),
  })
  return (turn) => {
    const said = script(turn)
    return "map" in said ? said.map(acting) : acting(said)
  }
}

const mainRequests = ({ requests, client }: TaskRun): readonly string[] =>
  requests.flatMap(({ json, response }) =>
    response.status === 200 && client.isMain(json) ? [JSON.stringify(json)] : [],
  )

/** The scripted model's summaries mention neither what was done nor what the user wants. */
describeClients("after the client's own compaction", () => {
  const limit = { ownLimitTokens: 22_000 }
  const compact = { prompt: "/compact", continues: true }
  const cases: readonly { readonly client: Client; readonly errands: Parameters<typeof runTask>[1]["errands"] }[] = [
    { client: claude, errands: [{}, compact, { prompt: goOn, continues: true }] },
    { client: codex, errands: [limit, { ...limit, prompt: goOn, continues: true }] },
  ]
  test.each(cases)("$client.name: what its summary lost stands beside it", async ({ client, errands = [] }) => {
    const steps = 12
    const script = withAct(inTwoHalves(client, steps), 2)
    const run = await runTask(client, {
      situation: "handoff beside a summary",
      steps,
      stepBytes: 9000,
      script,
      errands,
    })
    expect(run.failures).toEqual([])
    expect(run.runs.at(-1)?.stdout).toContain(finalText)
    const all = mainRequests(run)
    const acted = all.findIndex((body) => body.includes(madeFolder))
    expect(acted).toBeGreaterThan(0)
    // From then on every request contains it, whoever compacted what, and the user's words as well.
    expect(all.slice(acted).filter((body) => !body.includes(folder))).toEqual([])
    expect(all.filter((body) => !body.includes("Go through the steps of this project one by one"))).toEqual([])
    const beside = all.filter((body) => body.includes(digestStart) && body.includes(folder))
    expect(beside.length).toBeGreaterThan(0)
  })
})

const handleIn = /recall=\\"(hf-[\w-]+)\\"/

/** Matches signs that the model has fetched it: its own call, or what remains of it. */
const fetched = /find\\*":\s?\\*"step-3|Fetched from the record/

/** Once a digest has a handle, the model recalls what it stands for, and then continues. */
const recalling =
  (client: Client, steps: number): Script =>
  (turn) => {
    const text = JSON.stringify(turn.body)
    const handle = handleIn.exec(text)?.[1]
    const isMain = client.isMain(turn.body)
    if (!isMain || handle === undefined || fetched.test(text) || lastStep(turn.body) >= steps)
      return taskScript(client, steps)(turn)
    return { calls: [{ tool: "holdfast_recall", input: { handle, find: "step-3.txt" } }] }
  }

const windowTokens = 45_000

describeClients("recall after a summary", () => {
  test.each([{ client: claude }, { client: codex }])(
    "$client.name: the tool is offered, and what was fetched stays",
    async ({ client }) => {
      const steps = 16
      const gateway = { windowTokens, recall: true, sessions: { recall: true } }
      const task = { steps, stepBytes: 13_000, windowTokens, gateway }
      const run = await runTask(client, {
        ...task,
        situation: "recall after a summary",
        script: recalling(client, steps),
      })
      expect(run.failures).toEqual([])
      expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
      const all = mainRequests(run)
      const summarized = all.filter((body) => handleIn.test(body))
      expect(summarized.length).toBeGreaterThan(0)
      expect(summarized.filter((body) => !body.includes("holdfast_recall"))).toEqual([])
      const recalls = run.records.filter(({ recalls: count = 0 }) => count > 0)
      expect(recalls.length).toBeGreaterThan(0)
      // The client never saw the call; its next requests contain the recalled text all the same.
      expect(all.filter((body) => body.includes("Fetched from the record")).length).toBeGreaterThan(1)
    },
  )
})

describeClients("165 turns on a model of 30,000 tokens", () => {
  test.each([{ client: codex }])(
    "$client.name: the last request still says what is wanted, what was done and where it stopped",
    async ({ client }) => {
      const narrow = 30_000
      const steps = 164
      const task = { steps, stepBytes: 3000, windowTokens: narrow, gateway: { windowTokens: narrow } }
      const script = withAct(taskScript(client, steps), 3)
      const run = await runTask(client, { ...task, situation: "165 turns on 30k", script })
      expect(run.failures).toEqual([])
      expect(run.account).toMatchObject({ turns: 165, refusedForClient: 0, refusedUpstream: 0 })
      const last = mainRequests(run).at(-1) ?? ""
      if (process.env.HOLDFAST_LAST_REQUEST !== undefined) writeFileSync(process.env.HOLDFAST_LAST_REQUEST, last)
      expect(last).toContain(rule)
      expect(last).toContain("Say when you are done.")
      expect(last).toContain(madeFolder)
      expect(last).toContain(`cat step-${steps}.txt`)
    },
    900_000,
  )
})
