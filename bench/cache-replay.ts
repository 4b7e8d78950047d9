import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { Format } from "../src/message/message.ts"
import { parseJson, textAt } from "../test/model-server/json.ts"
import { listen, readBody } from "../test/model-server/loopback.ts"
import { createMeasure } from "../test/model-server/measure.ts"
import { startModelServer } from "../test/model-server/model-server.ts"
import { startTestGateway } from "../test/support/gateway.ts"
import { added, type Charged, charge, nothingCharged } from "./cache-cost.ts"

/** Real traces and recorded requests, sent through a gateway and directly: what a provider would charge for either. */
export type ReplayReport = {
  readonly name: string
  readonly sequences: number
  readonly requests: number
  /** Number of requests that were forwarded changed, and whether one was compacted. */
  readonly changed: number
  readonly compacted: number
  readonly direct: Charged
  readonly through: Charged
  /** Sequences that cost more through the gateway. */
  readonly dearer: readonly string[]
}

type RecordedRequest = {
  readonly format: Format
  readonly model: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** What the model answered in the recording, if known. */
  readonly answer?: string
}
type Sequence = { readonly id: string; readonly asked: readonly RecordedRequest[] }

const linesIn = (file: string): readonly string[] => gunzipSync(readFileSync(file)).toString().trim().split("\n")
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl.gz"))
    .sort()

type TraceMessage = { readonly role: string }

/** Returns the requests of a trace: one before each of the model's messages, which is its answer. */
function traceSequence(line: string): Sequence {
  const { id, messages }: { readonly id: string; readonly messages: readonly TraceMessage[] } = JSON.parse(line)
  const model = "gpt-5.4"
  const texts = messages.map((message) => JSON.stringify(message))
  const asked = messages.flatMap((message, n): readonly RecordedRequest[] => {
    if (message.role !== "assistant" || n === 0) return []
    const body = Buffer.from(`{"model":"${model}","messages":[${texts.slice(0, n).join(",")}]}`)
    const choices = `[{"index":0,"message":${texts[n]},"finish_reason":"stop"}]`
    const answer = `{"id":"chatcmpl-${n}","object":"chat.completion","created":1,"model":"${model}","choices":${choices}}`
    const headers = { authorization: "Bearer bench", "x-session-id": id }
    return [{ format: "openai-chat", model, path: "/v1/chat/completions", headers, body, answer }]
  })
  return { id, asked }
}

const formatOf = (path: string): Format => {
  if (path.startsWith("/v1/messages")) return "anthropic-messages"
  if (path.startsWith("/v1/chat")) return "openai-chat"
  return path.startsWith("/v1/responses") ? "openai-responses" : "gemini"
}

const isCall = (path: string): boolean =>
  /^\/v1\/(?:messages|chat\/completions|responses)(?:\?|$)|:(?:streamG|g)enerateContent/.test(path)

/** Headers that describe the client's connection and are not sent on another. */
const connectionHeaders: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "accept-encoding",
  "transfer-encoding",
])

function recordedSequence(file: string, id: string): Sequence {
  const asked = linesIn(file).flatMap((line): readonly RecordedRequest[] => {
    const { path, headers }: Pick<RecordedRequest, "path" | "headers"> = JSON.parse(line)
    if (!isCall(path)) return []
    const start = line.indexOf(',"body":') + ',"body":'.length
    const body = line.slice(start, line.lastIndexOf("}"))
    const kept = Object.entries(headers).filter(
      ([name]) => !connectionHeaders.has(name.toLowerCase()) && name.toLowerCase() !== "content-encoding",
    )
    const model = textAt(parseJson(body), "model") ?? /models\/([^:]+):/.exec(path)?.[1] ?? ""
    return [{ format: formatOf(path), model, path, headers: Object.fromEntries(kept), body: Buffer.from(body) }]
  })
  return { id, asked }
}

/** Starts an upstream that records every body it gets, whatever it answers. */
async function startRecorder(): Promise<{
  readonly url: string
  readonly bodies: Buffer[]
  readonly next: (answer: string | undefined) => void
  readonly close: () => Promise<void>
}> {
  const model = await startModelServer({ script: () => ({ text: "I look into it." }) })
  const bodies: Buffer[] = []
  let answer: string | undefined
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      bodies.push(Buffer.from(body))
      if (answer !== undefined) {
        response.writeHead(200, { "content-type": "application/json" }).end(answer)
        return
      }
      const said = await fetch(`${model.url}${request.url}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      })
      response.writeHead(said.status, { "content-type": said.headers.get("content-type") ?? "application/json" })
      response.end(Buffer.from(await said.arrayBuffer()))
    })
  })
  const { url, close } = await listen(server)
  return {
    url,
    bodies,
    next: (said) => {
      answer = said
    },
    close: async () => {
      await close()
      await model.close()
    },
  }
}

/** Returns what reading these prompts one after the other would cost; each sequence has its own cache. */
function costOf(asked: readonly RecordedRequest[], bodies: readonly (readonly Buffer[])[]): Charged {
  const measure = createMeasure({ simulateCache: true })
  let total = nothingCharged
  for (const [n, { format, model }] of asked.entries()) {
    for (const body of bodies[n] ?? []) {
      const cache = measure(format, model, body)?.cache
      if (cache !== undefined) total = added(total, charge(model, cache))
    }
  }
  return total
}

async function send(
  sequence: Sequence,
): Promise<{ readonly got: readonly (readonly Buffer[])[]; readonly compacted: number }> {
  const recorder = await startRecorder()
  const gateway = await startTestGateway(recorder.url)
  const got: (readonly Buffer[])[] = []
  for (const { path, headers, body, answer } of sequence.asked) {
    recorder.next(answer)
    recorder.bodies.length = 0
    const own = { ...headers, "content-type": "application/json" }
    const said = await fetch(`${gateway.url}${path}`, { method: "POST", headers: own, body: new Uint8Array(body) })
    await said.arrayBuffer()
    got.push([...recorder.bodies])
  }
  const compacted = gateway.records.filter(({ receipt }) => receipt?.checkpoint !== undefined).length
  await gateway.close()
  await recorder.close()
  return { got, compacted }
}

async function replay(name: string, sequences: readonly Sequence[]): Promise<ReplayReport> {
  let report: ReplayReport = {
    name,
    sequences: sequences.length,
    requests: 0,
    changed: 0,
    compacted: 0,
    direct: nothingCharged,
    through: nothingCharged,
    dearer: [],
  }
  for (const sequence of sequences) {
    const { got, compacted } = await send(sequence)
    const bodies = sequence.asked.map(({ body }) => [body])
    const changed = got.filter(
      (sent, n) => sent.length !== 1 || sent[0]?.equals(sequence.asked[n]?.body ?? sent[0]) !== true,
    )
    const direct = costOf(sequence.asked, bodies)
    const through = changed.length === 0 ? direct : costOf(sequence.asked, got)
    report = {
      ...report,
      requests: report.requests + sequence.asked.length,
      changed: report.changed + changed.length,
      compacted: report.compacted + compacted,
      direct: added(report.direct, direct),
      through: added(report.through, through),
      dearer: through.dollars > direct.dollars ? [...report.dearer, sequence.id] : report.dearer,
    }
  }
  return report
}

/** Measures each file of traces and each kind of recorded client; one report for each. */
export async function measureReplays(corpus: string, quick: boolean): Promise<readonly ReplayReport[]> {
  const found: ReplayReport[] = []
  for (const file of filesIn(join(corpus, "traces"))) {
    console.error(`  cache: ${file}`)
    const lines = linesIn(join(corpus, "traces", file))
    found.push(await replay(file.replace(".jsonl.gz", ""), (quick ? lines.slice(0, 5) : lines).map(traceSequence)))
  }
  const recorded = filesIn(join(corpus, "requests"))
  const clients = Map.groupBy(recorded, (file) => file.split(".")[0]?.replace(/-\d+$/, "") ?? file)
  for (const [client, files] of clients) {
    console.error(`  cache: ${client}`)
    const sequences = files.map((file) => recordedSequence(join(corpus, "requests", file), file))
    found.push(await replay(client, sequences))
  }
  return found
}
