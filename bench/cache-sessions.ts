import { type Format, formats } from "../src/message/message.ts"
import { parseJson } from "../test/model-server/json.ts"
import { type ModelServer, startModelServer } from "../test/model-server/model-server.ts"
import type { Output } from "../test/model-server/script.ts"
import { startTestGateway } from "../test/support/gateway.ts"
import { createAgent, type Stack } from "./cache-agent.ts"
import { added, type Charged, charge, nothingCharged, readShare } from "./cache-cost.ts"
import { makeAsk } from "./sessions.ts"
import { createRandom, type Random, writers } from "./texts.ts"

/** One long session of an agent on each wire format, through a gateway whose window is too small for it, and directly. */
export type SessionReport = {
  readonly format: Format
  readonly turns: number
  readonly compactions: number
  /** Requests that the model refused as too long with the gateway, and the turn at which the session without it ended. */
  readonly refused: number
  readonly withoutEndsAt: number | undefined
  readonly charged: Charged
  readonly readShare: number
  /** Share of the stack's tokens (system and tools) read from the cache, over all requests. */
  readonly stackReadShare: number
  /** Share read from the cache of each request, in order. */
  readonly shares: readonly number[]
}

export const windowTokens = 45_000
/** About 1,200 tokens of a log; 160 of them fill four windows. */
const resultUnits = 2800
const systemUnits = 9000
const toolUnits = 500

const fill = (random: Random, kind: string, units: number): string => {
  let text = ""
  while (text.length < units) text += writers[kind]?.(random) ?? "."
  return text
}

const stackOf = (random: Random): Stack => ({
  system: fill(random, "english", systemUnits),
  tools: ["read_file", "write_file", "bash", "search", "list_files", "fetch"].map((name) => ({
    name,
    description: fill(random, "english", toolUnits),
  })),
  goal: makeAsk(random, 400),
})

/** The agent calls a tool nine times, then answers with text. */
const answersEvery = 10

const scriptOf = (random: Random): Output[] =>
  Array.from({ length: 50 }, (_, n) =>
    n % answersEvery === answersEvery - 1
      ? { text: fill(random, "english", 500) }
      : {
          text: fill(random, "english", 80),
          calls: [{ tool: "read_file", input: { path: `src/part-${random(900)}/file-${n}.ts` } }],
        },
  )

const startModel = (seed: number): Promise<ModelServer> => {
  const outputs = scriptOf(createRandom(seed))
  return startModelServer({
    script: ({ index }) => outputs[index % outputs.length] ?? {},
    windowTokens,
    simulateCache: true,
  })
}

/** Sends requests for `turns` turns; returns the turn at which the model refused, if it did. */
async function converse(url: string, format: Format, turns: number): Promise<number | undefined> {
  const random = createRandom(11)
  const agent = createAgent(format, stackOf(random))
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer bench",
    "x-session-id": `cache-${format}`,
  }
  for (let turn = 0; turn < turns; turn++) {
    const answer = await fetch(`${url}${agent.path}`, { method: "POST", headers, body: agent.body() })
    const text = await answer.text()
    if (answer.status !== 200) return turn
    agent.take(parseJson(text), fill(random, "logs", resultUnits), makeAsk(random, 200))
  }
  return undefined
}

async function measureOne(format: Format, turns: number): Promise<SessionReport> {
  const bare = await startModel(5)
  const withoutEndsAt = await converse(bare.url, format, turns)
  await bare.close()
  const model = await startModel(5)
  const gateway = await startTestGateway(model.url, { windowTokens, sessions: { windowTokens } })
  const endedAt = await converse(gateway.url, format, turns)
  await gateway.close()
  const readings = model.requests.flatMap(({ measured }) => (measured?.cache === undefined ? [] : [measured.cache]))
  const name = createAgent(format, stackOf(createRandom(11))).model
  const each = readings.map((reading) => charge(name, reading))
  const charged = each.reduce(added, nothingCharged)
  const checkpoints = gateway.records.flatMap(({ receipt }) => receipt?.checkpoint ?? [])
  await model.close()
  return {
    format,
    turns: endedAt ?? turns,
    compactions: new Set(checkpoints).size,
    refused: model.requests.filter(({ measured }) => measured?.tooLong !== undefined).length,
    withoutEndsAt,
    charged,
    readShare: readShare(charged),
    stackReadShare:
      readings.reduce((sum, { stackReadShare }) => sum + stackReadShare, 0) / Math.max(1, readings.length),
    shares: each.map(readShare),
  }
}

export async function measureSessions(turns: number): Promise<readonly SessionReport[]> {
  const found: SessionReport[] = []
  for (const format of formats) {
    console.error(`  cache: ${turns} turns on ${format}`)
    found.push(await measureOne(format, turns))
  }
  return found
}
