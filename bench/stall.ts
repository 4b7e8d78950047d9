import { mkdtemp, rm } from "node:fs/promises"
import { request } from "node:http"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { conditionsNow } from "./conditions.ts"
import { askChild, type BenchProcess, profiling, startChild } from "./gateway-servers.ts"
import type { StallReport } from "./stall-gateway-child.ts"
import { createRandom, type Random, writers } from "./texts.ts"

/**
 * The longest single piece of work that a gateway does on its serving thread for the largest requests and responses, and which functions do
 * it: no other request is served meanwhile.
 */
export type Options = { readonly quick?: boolean }

const paths = {
  chat: "/v1/chat/completions",
  anthropic: "/v1/messages",
  responses: "/v1/responses",
  gemini: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
}
type Format = keyof typeof paths
const formats = ["chat", "anthropic", "responses", "gemini"] as const

type Scenario = {
  readonly name: string
  readonly format: Format
  /** Returns the body of a conversation that no run had before. */
  readonly body: (run: number) => Buffer
  readonly answer?: string
  /** Window of the model; by default, that of the model table. */
  readonly windowTokens?: number
}
type Measured = StallReport & { readonly status: number | string; readonly ms: number }
type Row = { readonly name: string; readonly best: Measured; readonly runs: number }
export type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly rows: readonly Row[]
}

/** Returns `units` characters from a writer, repeated page by page. */
function pages(units: number, seed: number, write: (random: Random) => string): string {
  const random = createRandom(seed)
  let page = ""
  while (page.length < 100_000) page += write(random)
  return page.repeat(Math.ceil(units / page.length)).slice(0, units)
}

const writer = (name: string): ((random: Random) => string) => writers[name] ?? (() => ".")

/** Texts of a size in bytes, each hard in a different way. */
const texts: Readonly<Record<string, (bytes: number) => string>> = {
  "one letter": (bytes) => "a".repeat(bytes),
  prose: (bytes) => pages(bytes, 7, writer("english")),
  JSON: (bytes) => `[${pages(bytes, 8, writer("json"))}0]`,
  CJK: (bytes) => pages(bytes / 3, 9, writer("chinese")),
  "one line": (bytes) => pages(bytes, 10, (random) => writer("code")(random).replace(/\s+/g, "")),
}

/** Returns words in base 36, all different, so that no token count can come from a cache. */
function differentWords(units: number, seed: number): string {
  const words: string[] = []
  for (let n = seed * 1e6, length = 0; length < units; n++) {
    const word = ((n * 2_654_435_761) >>> 0).toString(36)
    words.push(word)
    length += word.length + 1
  }
  return words.join(" ")
}

const said = (content: string, run: number) => ({
  model: "gpt-5.4",
  messages: [{ role: "user", content: `Conversation ${run}. ${content}` }],
})
const asBody = (value: object): Buffer => Buffer.from(JSON.stringify(value))

/** Returns a conversation of tool rounds: each reads a file of some pages, and the user asks for the next one. */
function history(bytes: number, run: number): object {
  const random = createRandom(run)
  const rounds = Math.ceil(bytes / 40_000)
  const messages = Array.from({ length: rounds }, (_, n) => {
    const call = {
      id: `call_${n}`,
      type: "function",
      function: { name: "read_file", arguments: `{"path":"src/${n}.ts"}` },
    }
    const page = Array.from({ length: 400 }, () => writer(["code", "logs", "english", "json"][n % 4] ?? "code")(random))
    return [
      { role: "user", content: `Look at src/${n}.ts in conversation ${run}; never change file ${n} without a test.` },
      { role: "assistant", content: "I read it.", tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: page.join("").repeat(3).slice(0, 39_500) },
      { role: "assistant", content: `File ${n} has the reader. ${writer("english")(random)}` },
    ]
  })
  return { model: "gpt-5.4", messages: [...messages.flat(), { role: "user", content: "And now?" }] }
}

const tools = (bytes: number) =>
  Array.from({ length: Math.ceil(bytes / 20_000) }, (_, n) => ({
    type: "function",
    function: {
      name: `tool_${n}`,
      description: pages(19_500, n, writer("english")),
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
  }))

const small: Readonly<Record<Format, object>> = {
  chat: { ...said("Write it down.", 0), stream: true },
  anthropic: { model: "claude-sonnet-4-5", max_tokens: 1000, stream: true, messages: said("Write.", 0).messages },
  responses: { model: "gpt-5.4", stream: true, input: "Write it down." },
  gemini: { contents: [{ role: "user", parts: [{ text: "Write it down." }] }] },
}

/** Scenarios whose requests have to be compacted use a gateway with a smaller window. */
const smallWindow = 100_000

function scenariosOf(quick: boolean): readonly Scenario[] {
  const events = quick ? 50_000 : 1_000_000
  const chosen = (all: readonly Format[]): readonly Format[] => (quick ? all.slice(0, 1) : all)
  const large = (name: string, body: (run: number) => object, windowTokens?: number): Scenario => ({
    name,
    format: "chat",
    body: (run) => asBody(body(run)),
    ...(windowTokens === undefined ? {} : { windowTokens }),
  })
  const streamed = (name: string, format: Format, answer: string): Scenario => ({
    name: `${name}, ${format}`,
    format,
    body: () => asBody(small[format]),
    answer: `${format} ${answer}`,
  })
  return [
    ...Object.entries(texts).map(([kind, text]) => large(`10 MB of ${kind}`, (run) => said(text(1e7), run))),
    // Just below the size from which tokens are counted by samples.
    large("3.5 MB of words that are all different", (run) => said(differentWords(3.5e6, run), run)),
    ...(quick ? Object.entries(texts).slice(0, 1) : Object.entries(texts)).map(([kind, text]) =>
      large(`50 MB of ${kind}`, (run) => said(text(5e7), run)),
    ),
    large("10,000 messages", (run) => ({
      model: "gpt-5.4",
      messages: Array.from({ length: 10_000 }, (_, n) => ({
        role: n % 2 === 0 ? "user" : "assistant",
        content: `${run}: message ${n}`,
      })),
    })),
    large("20 MB of tools", (run) => ({ ...said("Write it down.", run), tools: tools(2e7) })),
    ...formats
      .slice(0, quick ? 2 : 4)
      .map((format) => streamed(`${events} stream events`, format, `text ${events} many`)),
    ...chosen(formats).map((format) => streamed(`${events} stream events with code`, format, `code ${events} many`)),
    ...chosen(formats).map((format) => streamed("20000 events, a chunk for each byte", format, "text 20000 bytes")),
    ...formats.slice(0, quick ? 2 : 4).map((format) => streamed("2 MB of tool arguments", format, "call 20000 many")),
    ...(quick ? [1, 8, 32] : [1, 2, 4, 8, 16, 32]).map((megabytes) =>
      large(`${megabytes} MB history to compact`, (run) => history(megabytes * 0.98e6, run), smallWindow),
    ),
  ]
}

type Sent = { readonly status: number | string; readonly ms: number }

function send(url: string, { format, answer }: Pick<Scenario, "format" | "answer">, body: Buffer): Promise<Sent> {
  const { promise, resolve } = Promise.withResolvers<Sent>()
  const startMs = performance.now()
  const end = (status: number | string): void => resolve({ status, ms: performance.now() - startMs })
  const headers = { "content-type": "application/json", ...(answer === undefined ? {} : { "x-bench-answer": answer }) }
  const sent = request(`${url}${paths[format]}`, { method: "POST", headers, agent: false }, (response) => {
    response.resume()
    response.on("end", () => end(response.statusCode ?? 0))
    response.on("error", () => end("cut"))
  })
  sent.on("error", () => end("failed"))
  sent.end(body)
  return promise
}

let runs = 0

async function measure(server: BenchProcess, scenario: Scenario): Promise<Measured> {
  const body = scenario.body(++runs)
  await askChild<object>(server, { begin: true })
  const sent = await send(server.url, scenario, body)
  const stalled = await askChild<StallReport>(server, { begin: false })
  return { ...sent, ...stalled }
}

/** A first run this short is not repeated. */
const shortMs = 90

async function best(server: BenchProcess, scenario: Scenario, repeats: number): Promise<Row> {
  let found = await measure(server, scenario)
  let count = 1
  for (; count < repeats && found.longestMs > shortMs; count++) {
    const next = await measure(server, scenario)
    if (next.longestMs < found.longestMs) found = next
  }
  return { name: scenario.name, best: found, runs: count }
}

async function startGateway(
  upstream: BenchProcess,
  folder: string,
  windowTokens: number | undefined,
): Promise<BenchProcess> {
  const store = join(folder, `${windowTokens ?? "any"}.db`)
  const args = [upstream.url, store, String(windowTokens ?? "-"), "guard"]
  const server = await startChild("stall-gateway-child", args, profiling)
  for (const format of formats)
    for (let n = 0; n < 5; n++)
      await send(
        server.url,
        { format, answer: `${format} ${n % 2 === 0 ? "text" : "call"} 200 many` },
        asBody(small[format]),
      )
  return server
}

export async function run({ quick = false }: Options = {}): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-stall-"))
  const upstream = await startChild("stall-upstream-child")
  const onlyAt = process.argv.indexOf("--only")
  const only = onlyAt < 0 ? "" : (process.argv[onlyAt + 1] ?? "")
  const loadBefore = loadavg()[0] ?? 0
  const servers = new Map<number | undefined, BenchProcess>()
  const rows: Row[] = []
  try {
    for (const scenario of scenariosOf(quick)) {
      if (!scenario.name.includes(only)) continue
      const { windowTokens } = scenario
      const server = servers.get(windowTokens) ?? (await startGateway(upstream, folder, windowTokens))
      servers.set(windowTokens, server)
      const row = await best(server, scenario, quick ? 2 : 3)
      console.error(line(row))
      rows.push(row)
    }
    return { conditions: { ...conditionsNow(), loadBefore, loadAfter: loadavg()[0] ?? 0 }, rows }
  } finally {
    for (const server of servers.values()) await server.stop()
    await upstream.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Number of innermost functions shown for a piece of work. */
const shownSteps = 6

const rounded = (value: number, width: number): string => value.toFixed(0).padStart(width)

function line({ name, best: { longestMs, awayMs, pieces, ms, cpuMs, rssMb, status }, runs: count }: Row): string {
  const [first = "", ...others] = pieces.map(({ steps }) => steps.slice(-shownSteps).join(" > "))
  const figures = `${rounded(longestMs, 6)} ms ${rounded(awayMs, 6)} ms ${rounded(ms, 7)} ms ${rounded(cpuMs, 7)} ms ${rounded(rssMb, 5)} MB`
  const also = others.map((steps, n) => `\n  ${"".padEnd(46)} ${rounded(pieces[n + 1]?.ms ?? 0, 6)} ms  ${steps}`)
  return `  ${name.padEnd(46)} ${figures}  ${status} (${count})  ${first}${also.join("")}`
}

export function print({ conditions, rows }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`stall: the longest piece of work on the serving thread, best of the runs (${told.join(", ")})`)
  console.log(
    `  ${"".padEnd(46)} ${"longest".padStart(9)} ${"by clock".padStart(9)} ${"answered".padStart(10)} ${"CPU".padStart(10)} ${"memory".padStart(8)}  status (runs)  who did it`,
  )
  for (const row of rows) console.log(line(row))
}
