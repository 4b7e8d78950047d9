import { turn } from "../src/adapter/turn.ts"
import type { StackDefinition } from "../src/compact/stack/stack.ts"
import { type Format, formats } from "../src/message/message.ts"
import { createHoldfast } from "../src/session/holdfast.ts"
import type { StackOptions } from "../src/session/stack/stack-options.ts"
import { decodeRequest } from "../src/wire/decode.ts"
import { parseJson } from "../test/model-server/json.ts"
import { type ModelServer, startModelServer } from "../test/model-server/model-server.ts"
import type { Script } from "../test/model-server/script.ts"
import { startTestGateway } from "../test/support/gateway.ts"
import { createAgent, type Stack } from "./cache-agent.ts"
import { added, type Charged, charge, nothingCharged } from "./cache-cost.ts"
import { createRandom, type Random, writers } from "./texts.ts"

/**
 * One long session in which an agent consults fifty pages of documents: they are in the prompt stack, or the agent reads their files by
 * tool whenever the page it needs is not in its context. The agent and the provider's cache are simulated.
 */
export type StackSession = {
  readonly format: Format
  readonly door: "library" | "gateway"
  readonly documents: "stack" | "tools"
  /** Steps of work; reading documents takes further requests. */
  readonly steps: number
  readonly requests: number
  readonly compactions: number
  /** Requests that the gateway forwarded before its session processed them. */
  readonly atOnce: number
  readonly refused: number
  /** Number of different system parts among all requests, ignoring cache markers: 1 if the stack never changed. */
  readonly systemParts: number
  /** Requests that contain every text of the stack, byte for byte. */
  readonly withStack: number
  /** Share of the tokens of system and tools read from the cache, over all requests. */
  readonly stackReadShare: number
  readonly charged: Charged
}

const windowTokens = 100_000
const documentCount = 10
const pagesPerDocument = 5
/** About 650 tokens: a page of a printed specification. */
const pageUnits = 3300
/** About 2,000 tokens of a log. */
const resultUnits = 4800

const fill = (random: Random, kind: string, units: number): string => {
  let text = ""
  while (text.length < units) text += writers[kind]?.(random) ?? "."
  return text
}

/** Returns what an agent looks for on a page. */
const clause = (page: number): string => `Clause C-${page} holds in every case.`

const pathOf = (document: number): string => `spec/part-${document}.md`

const documentTexts: ReadonlyMap<string, string> = new Map(
  Array.from({ length: documentCount }, (_, document) => {
    const random = createRandom(100 + document)
    const pages = Array.from({ length: pagesPerDocument }, (__, n) => {
      const page = document * pagesPerDocument + n
      return `## Page ${page}\n\n${fill(random, "english", pageUnits)}\n\n${clause(page)}`
    })
    return [pathOf(document), pages.join("\n\n")]
  }),
)

const instructions: StackDefinition = [
  { layer: "base", name: "identity", source: "You are a careful engineer who works by the specification." },
  { layer: "task", name: "task", source: "Bring the code in line with the specification, part by part." },
]

/** The same instructions, with or without the documents. */
const stacks: Readonly<Record<StackSession["documents"], StackOptions>> = {
  tools: { sections: instructions },
  stack: {
    sections: [
      ...instructions,
      ...[...documentTexts].map(([name, source], order) => ({
        layer: "context" as const,
        name,
        source,
        document: true,
        order,
      })),
    ],
  },
}

const own: Stack = {
  system: "You work with the tools that you are given.",
  tools: ["read_file", "read_document"].map((name) => ({ name, description: `${name} by its path.` })),
  goal: "Bring the code in line with the specification in spec/.",
}

const pages = documentCount * pagesPerDocument
const answersEvery = 10

type Progress = { step: number }

/** Each step needs one page. If it is not in the context, the file that has it is read first. */
const scriptOf =
  (progress: Progress, steps: number): Script =>
  ({ index, body }) => {
    if (progress.step >= steps) return { text: "All is done." }
    const page = (progress.step * 7) % pages
    if (!JSON.stringify(body).includes(clause(page)))
      return { calls: [{ tool: "read_document", input: { path: pathOf(Math.floor(page / pagesPerDocument)) } }] }
    progress.step++
    return progress.step % answersEvery === 0
      ? { text: `Step ${progress.step} is done.` }
      : { text: `By page ${page}:`, calls: [{ tool: "read_file", input: { path: `src/file-${index}.ts` } }] }
  }

const outputOf = (random: Random, path: string): string => documentTexts.get(path) ?? fill(random, "logs", resultUnits)

/** Far more requests than any of these sessions takes. */
const maxRequests = 400

type Counts = Pick<StackSession, "compactions" | "atOnce">
type Run = { readonly model: ModelServer; readonly progress: Progress; readonly steps: number; readonly format: Format }

/** Runs an agent that sends its whole history, through a gateway that inserts the stack. */
async function throughGateway({ model, progress, steps, format }: Run, stack: StackOptions): Promise<Counts> {
  const gateway = await startTestGateway(model.url, {
    windowTokens,
    sessions: { windowTokens },
    stacks: [{ stack }],
  })
  const random = createRandom(11)
  const agent = createAgent(format, own)
  const headers = { "content-type": "application/json", authorization: "Bearer bench", "x-session-id": "stack" }
  for (let n = 0; n < maxRequests && progress.step < steps; n++) {
    const answer = await fetch(`${gateway.url}${agent.path}`, { method: "POST", headers, body: agent.body() })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${format}: ${answer.status} ${text.slice(0, 300)}`)
    const asked = /"path(?:\\?)": ?(?:\\?)"([^"\\]+)/.exec(text)?.[1] ?? ""
    agent.take(parseJson(text), outputOf(random, asked), "Go on with the next part.")
  }
  const { records, faults } = gateway
  await gateway.close()
  if (faults.length > 0) throw faults[0]
  return {
    compactions: new Set(records.flatMap(({ receipt }) => receipt?.checkpoint ?? [])).size,
    atOnce: records.filter(({ how }) => how === "at-once").length,
  }
}

/** Runs an agent on the library: `turn()` over a session that has the stack. */
async function throughLibrary({ model, progress, steps, format }: Run, stack: StackOptions): Promise<Counts> {
  const holdfast = createHoldfast({ store: "memory", windowTokens, stack })
  const session = holdfast.session("stack")
  let compactions = 0
  holdfast.subscribe(({ type }) => {
    if (type === "compaction-installed") compactions++
  })
  const random = createRandom(11)
  const { model: name } = createAgent(format, own)
  const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
  const run = async ({ path }: { readonly path: string }): Promise<string> => outputOf(random, path)
  const tools = own.tools.map((tool) => ({ ...tool, inputSchema, run }))
  const where = { format, baseUrl: model.url, apiKey: "bench", model: name, maxOutputTokens: 4000 }
  for (let turns = 0; turns < maxRequests && progress.step < steps; turns++) {
    const inputs = turns === 0 ? own.goal : "Go on with the next part."
    await turn({
      agent: { model: where, instructions: own.system },
      inputs,
      tools,
      session,
      maxIterations: maxRequests,
    })
  }
  await holdfast.close()
  return { compactions, atOnce: 0 }
}

const withoutMarkers = (text: string): string => text.replace(/,"cache_control":\{[^}]*\}/g, "")

/** Returns the system part of a body in its wire form. */
function systemPart(format: Format, body: string): string {
  const { layout, messages, wire } = decodeRequest(format, body)
  if (layout.system !== undefined) return withoutMarkers(wire.slice(layout.system.start, layout.system.end))
  return JSON.stringify(messages.filter(({ role }) => role === "system").map((message) => message.wire))
}

const stackTexts = (): readonly string[] => [...documentTexts.values()].map((text) => JSON.stringify(text).slice(1, -1))

export async function measureStackSession(
  format: Format,
  door: StackSession["door"],
  documents: StackSession["documents"],
  steps: number,
): Promise<StackSession> {
  const progress: Progress = { step: 0 }
  const model = await startModelServer({ script: scriptOf(progress, steps), windowTokens, simulateCache: true })
  const run: Run = { model, progress, steps, format }
  const stack = stacks[documents]
  const counts = await (door === "gateway" ? throughGateway(run, stack) : throughLibrary(run, stack))
  const bodies = model.requests.map(({ body }) => Buffer.from(body).toString())
  const readings = model.requests.flatMap(({ measured }) => (measured?.cache === undefined ? [] : [measured.cache]))
  const name = createAgent(format, own).model
  await model.close()
  return {
    format,
    door,
    documents,
    steps: progress.step,
    requests: bodies.length,
    ...counts,
    refused: model.requests.filter(({ measured }) => measured?.tooLong !== undefined).length,
    systemParts: new Set(bodies.map((body) => systemPart(format, body))).size,
    withStack: bodies.filter((body) => stackTexts().every((text) => body.includes(text))).length,
    stackReadShare:
      readings.reduce((sum, { stackReadShare }) => sum + stackReadShare, 0) / Math.max(1, readings.length),
    charged: readings.map((reading) => charge(name, reading)).reduce(added, nothingCharged),
  }
}

export async function measureStackSessions(steps: number): Promise<readonly StackSession[]> {
  const found: StackSession[] = []
  for (const format of formats)
    for (const door of ["gateway", "library"] as const)
      for (const documents of ["stack", "tools"] as const) {
        console.error(`  cache: documents in ${documents}, ${door}, ${format}`)
        found.push(await measureStackSession(format, door, documents, steps))
      }
  return found
}
