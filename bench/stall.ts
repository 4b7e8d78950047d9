import { mkdtemp, rm } from "node:fs/promises"
import { request } from "node:http"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { conditionsNow } from "./conditions.ts"
import { askChild, profiling, type Served, startChild } from "./gateway-servers.ts"
import type { Stalled } from "./stall-gateway-child.ts"
import { createRandom, writers } from "./texts.ts"

/** How long the event loop of a gateway stands still for the largest requests and answers, beside a bare passthrough: nobody else is served meanwhile. */
export type Options = { readonly quick?: boolean }

const paths = {
  chat: "/v1/chat/completions",
  anthropic: "/v1/messages",
  responses: "/v1/responses",
  gemini: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
}
type Format = keyof typeof paths

type Scenario = {
  readonly name: string
  readonly format: Format
  readonly body: () => Buffer
  readonly answer?: string
}
type Target = "bare" | "ours" | "guarded"
type Measured = Stalled & { readonly target: Target; readonly status: number | string; readonly ms: number }
export type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly scenarios: readonly { readonly name: string; readonly measured: readonly Measured[] }[]
}

const prose = (units: number): string => {
  const random = createRandom(7)
  let page = ""
  while (page.length < 100_000) page += writers.english?.(random) ?? "."
  return page.repeat(Math.ceil(units / page.length)).slice(0, units)
}
const base64 = (units: number): string => {
  const random = createRandom(9)
  const page = Buffer.from(Array.from({ length: 90_000 }, () => random(256))).toString("base64")
  return page.repeat(Math.ceil(units / page.length)).slice(0, units)
}
const json = (units: number): string => {
  const rows = Array.from({ length: 500 }, (_, n) => ({
    id: n,
    name: `row ${n}`,
    path: `/srv/data/${n}.json`,
    on: n % 2 === 0,
  }))
  const page = JSON.stringify(rows).slice(1, -1)
  return `[${Array<string>(Math.ceil(units / page.length))
    .fill(page)
    .join(",")}]`
}

const said = (content: string) => ({ model: "gpt-5.4", messages: [{ role: "user", content }] })
const called = { id: "call_1", type: "function", function: { name: "read_file", arguments: "{}" } }
const resulted = (content: string) => ({
  model: "gpt-5.4",
  messages: [
    { role: "user", content: "Read the file, and never delete it." },
    { role: "assistant", tool_calls: [called] },
    { role: "tool", tool_call_id: "call_1", content },
  ],
})
const asBody = (value: object): Buffer => Buffer.from(JSON.stringify(value))

const small: Readonly<Record<Format, object>> = {
  chat: { ...said("Write it down."), stream: true },
  anthropic: { model: "claude-sonnet-4-5", max_tokens: 1000, stream: true, messages: said("Write it down.").messages },
  responses: { model: "gpt-5.4", stream: true, input: "Write it down." },
  gemini: { contents: [{ role: "user", parts: [{ text: "Write it down." }] }] },
}

function scenariosOf(megabytes: number, events: number): readonly Scenario[] {
  const units = megabytes * 1e6
  const large = (name: string, body: () => object): Scenario => ({
    name,
    format: "chat",
    body: () => asBody(body()),
  })
  const streamed = (Object.keys(paths) as Format[]).flatMap((format) =>
    (["many", "single", "bytes"] as const).map((way) => ({
      name: `${way === "bytes" ? events / 10 : events} stream events, ${format}, ${way === "many" ? "large chunks" : way === "single" ? "a chunk each" : "a chunk for each byte"}`,
      format,
      body: () => asBody(small[format]),
      answer: `${format} text ${way === "bytes" ? events / 10 : events} ${way}`,
    })),
  )
  const argued = (Object.keys(paths) as Format[]).map((format) => ({
    name: `${megabytes / 5} MB of tool arguments in deltas, ${format}`,
    format,
    body: () => asBody(small[format]),
    answer: `${format} call ${units / 50} many`,
  }))
  return [
    large(`${megabytes} MB of one letter`, () => said("a".repeat(units))),
    large(`${megabytes} MB of one letter in a tool result`, () => resulted("a".repeat(units))),
    large(`${megabytes} MB of prose`, () => said(prose(units))),
    large(`${megabytes} MB of prose in a tool result`, () => resulted(prose(units))),
    large(`${megabytes} MB of base64`, () => said(base64(units))),
    large(`${megabytes} MB of base64 in a tool result`, () => resulted(base64(units))),
    large(`${megabytes} MB of JSON in a tool result`, () => resulted(json(units))),
    large(`${events / 5} tiny messages`, () => ({
      model: "gpt-5.4",
      messages: Array.from({ length: events / 5 }, (_, n) => ({
        role: n % 2 === 0 ? "user" : "assistant",
        content: "a",
      })),
    })),
    ...streamed,
    ...argued,
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

async function measure(upstream: Served, target: Target, scenario: Scenario, folder: string): Promise<Measured> {
  const args = {
    bare: ["bare", upstream.url],
    ours: ["ours", upstream.url, join(folder, `${Math.random()}.db`)],
    guarded: ["ours", upstream.url, join(folder, `${Math.random()}.db`), "-", "guard"],
  }[target]
  const server = await startChild("stall-gateway-child", args, target === "bare" ? [] : profiling)
  try {
    const body = scenario.body()
    for (const format of Object.keys(paths) as Format[]) {
      for (let n = 0; n < 3; n++)
        await send(server.url, { format, answer: `${format} text 20 many` }, asBody(small[format]))
    }
    await askChild<object>(server, { begin: true })
    const sent = await send(server.url, scenario, body)
    const stalled = await askChild<Stalled>(server, { begin: false })
    return { target, ...sent, ...stalled }
  } finally {
    await server.stop()
  }
}

export async function run({ quick = false }: Options = {}): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-stall-"))
  const upstream = await startChild("stall-upstream-child")
  const onlyAt = process.argv.indexOf("--only")
  const only = onlyAt < 0 ? "" : (process.argv[onlyAt + 1] ?? "")
  const loadBefore = loadavg()[0] ?? 0
  const scenarios: Report["scenarios"][number][] = []
  try {
    for (const scenario of scenariosOf(quick ? 10 : 50, quick ? 100_000 : 1_000_000)) {
      if (!scenario.name.includes(only)) continue
      console.error(`  stall: ${scenario.name}`)
      const targets: readonly Target[] = scenario.answer === undefined ? ["bare", "ours"] : ["bare", "ours", "guarded"]
      const measured: Measured[] = []
      for (const target of targets) measured.push(await measure(upstream, target, scenario, folder))
      scenarios.push({ name: scenario.name, measured })
    }
    return { conditions: { ...conditionsNow(), loadBefore, loadAfter: loadavg()[0] ?? 0 }, scenarios }
  } finally {
    await upstream.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const words: Readonly<Record<Target, string>> = {
  bare: "bare passthrough",
  ours: "holdfast",
  guarded: "holdfast, guarded",
}

export function print({ conditions, scenarios }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`stall: the longest that the event loop stood still (${told.join(", ")})`)
  for (const { name, measured } of scenarios) {
    console.log(`\n  ${name}`)
    for (const { target, longestMs, longestWorkMs, cpuMs, rssMb, ms, status } of measured)
      console.log(
        `    ${words[target].padEnd(18)} ${longestMs.toFixed(0).padStart(7)} ms   work ${longestWorkMs.toFixed(0).padStart(6)} ms   answer ${status} after ${ms.toFixed(0)} ms   processor ${cpuMs.toFixed(0)} ms   memory ${rssMb.toFixed(0)} MB`,
      )
  }
}
