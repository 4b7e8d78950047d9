import { join } from "node:path"
import type { ExchangeRecord } from "../../src/gateway/settings/gateway-options.ts"
import type { Exchange } from "../model-server/exchange.ts"
import { startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"
import { builtInGuard } from "../support/built-in-guard.ts"
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { type Account, accountOf, writeAccount } from "./account.ts"
import type { Client, RunOptions } from "./client.ts"
import { startTap } from "./tap.ts"
import { prompt, taskScript } from "./task.ts"
import { openWorkplace, type ProcessResult } from "./workplace.ts"

export type Task = {
  readonly situation: string
  readonly steps: number
  readonly stepBytes: number
  /** The model's own window. */
  readonly windowTokens?: number
  /** Number of tokens that the model counts where we count one. */
  readonly tokenScale?: number
  readonly gateway?: TestGatewayOptions
  /** The model's answers; by default it goes through the steps. */
  readonly script?: Script
  /** The same for a script that needs the folder in which the client works. */
  readonly scriptIn?: (folder: string) => Script
  /** The runs of the client, one after another; by default one with the task. */
  readonly errands?: readonly Partial<RunOptions>[]
  /** Number of clients that do this at the same time in the same folder, each with its own home. */
  readonly atOnce?: number
  /** Further results of the run. */
  readonly results?: (sent: readonly Uint8Array[]) => { readonly filesSeen: string }
}

export type TaskRun = {
  readonly client: Client
  readonly runs: readonly ProcessResult[]
  /** As the model received them. */
  readonly requests: readonly Exchange[]
  readonly records: readonly ExchangeRecord[]
  /** The bodies of the client's requests, as it sent them to the gateway. */
  readonly sent: readonly Uint8Array[]
  /** The first bytes of each connection to the gateway. */
  readonly openings: readonly string[]
  /** Failures of the model or the gateway. */
  readonly failures: readonly unknown[]
  readonly account: Account
}

/** Runs one client on one task, with a separate gateway and scripted model. */
export async function runTask(client: Client, task: Task): Promise<TaskRun> {
  const { situation, steps, stepBytes, windowTokens, tokenScale = 1, errands = [{}] } = task
  const place = openWorkplace(steps, stepBytes)
  const script = task.scriptIn?.(place.folder) ?? task.script ?? taskScript(client, steps)
  const server = await startModelServer({
    script,
    strict: !(client.resendsResults === true && errands.some(({ continues }) => continues)),
    simulateCache: true,
    tokenScale,
    ...(windowTokens === undefined ? {} : { windowTokens }),
  })
  const guard = builtInGuard(join(place.folder, ".holdfast"))
  const sessions = { guard: { guard }, ...task.gateway?.sessions }
  const gateway = await startTestGateway(server.url, { guard, ...task.gateway, sessions })
  const tap = await startTap(gateway.url)
  const walk = async (_: unknown, who: number): Promise<readonly ProcessResult[]> => {
    const runs: ProcessResult[] = []
    for (const errand of errands) runs.push(await place.run(client, { url: tap.url, prompt, ...errand }, who))
    return runs
  }
  try {
    const runs = (await Promise.all(Array.from({ length: task.atOnce ?? 1 }, walk))).flat()
    await gateway.holdfast.idle()
    const { records } = gateway
    const { requests } = server
    const seconds = runs.reduce((sum, ran) => sum + ran.seconds, 0)
    const account = accountOf(client, situation, { requests, records, seconds })
    const sent = tap.bodies()
    writeAccount({ ...account, ...task.results?.(sent) })
    const failures = [...server.failures, ...gateway.faults]
    return { client, runs, requests, records, sent, openings: tap.openings, failures, account }
  } finally {
    await gateway.close()
    await tap.close()
    await server.close()
    place.close()
  }
}
