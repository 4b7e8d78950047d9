import { expect, test } from "vitest"
import { type Fault, faultsFirst, type Script } from "../model-server/script.ts"
import { sessionsOf } from "./account.ts"
import { oneOfEach, piAnthropic } from "./all-clients.ts"
import type { Client } from "./client.ts"
import { codex } from "./codex.ts"
import { describeClients } from "./describe-clients.ts"
import { runTask } from "./run-task.ts"
import { finalText, taskScript } from "./task.ts"

const faults: readonly (readonly [name: string, faults: readonly Fault[]])[] = [
  ["429 twice", [{ type: "http-429" }, { type: "http-429" }]],
  ["529 twice", [{ type: "http-529" }, { type: "http-529" }]],
  ["500 twice", [{ type: "http-500" }, { type: "http-500" }]],
  ["a stream cut at its beginning", [{ type: "cut-early" }]],
  ["a stream cut inside the arguments of a call", [{ type: "cut-mid" }]],
  ["an error inside the stream", [{ type: "in-stream-error" }]],
]

/** Applies the faults only to the conversation's own requests. */
function faultyTask(client: Client, list: readonly Fault[]): Script {
  const task = taskScript(client, 2)
  const faulty = faultsFirst(list, task)
  let index = 0
  return (turn) => (client.isMain(turn.body) ? faulty({ ...turn, index: index++ }) : task(turn))
}

const cases = faults.flatMap(([name, list]) =>
  [...oneOfEach, piAnthropic].map((client) => ({ client, name, list, who: client.name })),
)

describeClients("a fault behind the gateway", () => {
  test.each(cases)("$who comes through $name as it does without a gateway", async ({ client, name, list }) => {
    const script = faultyTask(client, list)
    const run = await runTask(client, { situation: name, steps: 2, stepBytes: 500, script })
    expect(run.failures).toEqual([])
    const isCut = list.some(({ type }) => type === "cut-early" || type === "cut-mid")
    const ending = isCut && client.endsWhenCut === true ? [1, false] : [0, true]
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([ending])
    expect(run.account.sessions).toHaveLength(sessionsOf(client, 1).length)
  })

  test("codex, told to use a WebSocket, falls back to plain requests", async () => {
    const task = { situation: "WebSocket", steps: 2, stepBytes: 500, errands: [{ webSocket: true }] }
    const run = await runTask(codex, task)
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
    expect(run.openings.filter((opening) => /^upgrade: *websocket/im.test(opening))).not.toEqual([])
    expect(run.requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST"])
  })
})
