import { expect, test } from "vitest"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { openDesk } from "../governance/desk.ts"
import type { Output, Script } from "../model-server/script.ts"
import { sessionsOf } from "./account.ts"
import { allClients } from "./all-clients.ts"
import type { Client } from "./client.ts"
import { describeClients } from "./describe-clients.ts"
import { runTask } from "./run-task.ts"
import { finalText, taskScript } from "./task.ts"
import { secret } from "./workplace.ts"

const policies = '[{"template":"protected-paths","paths":["**/vault/**","vault/**"],"access":"any"}]'

/** In its first turn the model also asks for what the operator forbids, or only for that. */
function forbiddenFirst(client: Client, alone: boolean): Script {
  const script = taskScript(client, 3)
  return (turn) => {
    const told = script(turn)
    if (turn.rounds > 0 || !client.isMain(turn.body)) return told
    const forbidden: Output = { calls: [client.shell("cat vault/secret.txt")] }
    return alone
      ? [{ text: "I will look into the vault." }, forbidden]
      : [forbidden, ...(Array.isArray(told) ? told : [told])]
  }
}

async function run(client: Client, alone: boolean) {
  const desk = openDesk({ "policies.json": policies })
  const store = createMemoryStore()
  const operator = await desk.operator(store, false)
  const situation = alone ? "only a denied call" : "a denied call beside an allowed one"
  const script = forbiddenFirst(client, alone)
  return runTask(client, { situation, steps: 3, stepBytes: 500, script, gateway: { store, operator } })
}

describeClients("the operator's policy denies a call", () => {
  test.each(allClients)("$name runs the other call, goes on and finishes", async (client) => {
    const { runs, requests, records, failures, account } = await run(client, false)
    expect(failures).toEqual([])
    expect(runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
    expect(account).toMatchObject({ turns: 4, refusedForClient: 0 })
    expect(requests.filter(({ body }) => Buffer.from(body).includes(secret))).toEqual([])
    expect(records.flatMap(({ judged }) => judged.map(({ verdict }) => verdict.decision))).toContain("deny")
  })

  test.each(allClients)("$name goes on and finishes, though it was all that the model asked for", async (client) => {
    const { runs, requests, failures, account } = await run(client, true)
    expect(failures).toEqual([])
    expect(runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
    // The model learns of the refusal in a separate round that the client does not see.
    expect(account).toMatchObject({ turns: 5, sessions: sessionsOf(client, 4), refusedForClient: 0 })
    expect(requests.filter(({ body }) => Buffer.from(body).includes(secret))).toEqual([])
  })
})
