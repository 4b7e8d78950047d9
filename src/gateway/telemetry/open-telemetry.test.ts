import { execFile } from "node:child_process"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { afterEach, describe, expect, test, vi } from "vitest"
import { type Collector, startCollector } from "../../../test/fixtures/gateway/collector.ts"
import { judgedCall, sampleRecord, secretWords } from "../../../test/fixtures/gateway/sample-record.ts"
import { present } from "../../message/present.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"
import { type OpenTelemetryOptions, openTelemetry, type Telemetry } from "./open-telemetry.ts"

const opened: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ close }) => close()))
})

async function collector(manner?: "answers" | "hangs" | "refuses"): Promise<Collector> {
  const started = await startCollector(manner)
  opened.push(started)
  return started
}

async function open(endpoint: string, more: Partial<OpenTelemetryOptions> = {}): Promise<Telemetry> {
  const upstreams = [{ name: "main", baseUrl: "https://api.example.com/v1" }]
  const telemetry = await openTelemetry({ endpoint, upstreams, onFault: () => {}, ...more })
  if (telemetry === undefined) throw new Error("not opened")
  return telemetry
}

/** All values with this name at any depth, in order. */
function allOf(body: unknown, name: string): readonly unknown[] {
  if (typeof body !== "object" || body === null) return []
  return Object.entries(body).flatMap(([key, value]: [string, unknown]) => [
    ...(key === name && Array.isArray(value) ? value : []),
    ...allOf(value, name),
  ])
}

const bodiesAt = ({ received }: Collector, path: string): readonly unknown[] =>
  received.filter((one) => one.path.endsWith(path)).map(({ body }) => body)
const spansAt = (at: Collector): readonly unknown[] =>
  bodiesAt(at, "/v1/traces").flatMap((body) => allOf(body, "spans"))
const attribute = (key: string, value: unknown) => expect.objectContaining({ key, value })
const attributes = (...pairs: readonly (readonly [string, unknown])[]) =>
  expect.arrayContaining(pairs.map(([key, value]) => attribute(key, value)))

async function sent(records: readonly ExchangeRecord[], traceparent?: string): Promise<Collector> {
  const at = await collector()
  const telemetry = await open(at.url, { headers: { "x-key": "k" }, serviceName: "mill", serviceVersion: "9" })
  for (const record of records) telemetry.observe({ ...record, ...present({ traceparent }) })
  await telemetry.close()
  return at
}

test("without an endpoint there is no telemetry", async () => {
  expect(await openTelemetry({ onFault: () => {} })).toBeUndefined()
  expect(await openTelemetry({ endpoint: "", onFault: () => {} })).toBeUndefined()
})

test.each(["localhost", "ftp://user:password@host", "not a url"])(
  "%s is not a valid endpoint, and is not quoted",
  async (endpoint) => {
    const error = await openTelemetry({ endpoint, onFault: () => {} }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ problem: { code: "option-invalid" } })
    expect(String(error)).not.toContain("password")
  },
)

describe("a collector on loopback", () => {
  test("gets a span with the attributes of the conventions and our own", async () => {
    const at = await sent([sampleRecord()])
    expect(at.received.find(({ path }) => path === "/v1/traces")?.headers["x-key"]).toBe("k")
    const resource = allOf(bodiesAt(at, "/v1/traces")[0], "resourceSpans")[0]
    expect(resource).toMatchObject({
      resource: {
        attributes: attributes(["service.name", { stringValue: "mill" }], ["service.version", { stringValue: "9" }]),
      },
    })
    const [span, ...others] = spansAt(at)
    expect(others).toEqual([])
    expect(span).toMatchObject({
      name: "chat claude-test",
      kind: 3,
      startTimeUnixNano: "1700000000000000000",
      endTimeUnixNano: "1700000002600000000",
      status: { code: 0 },
      attributes: attributes(
        ["gen_ai.operation.name", { stringValue: "chat" }],
        ["gen_ai.provider.name", { stringValue: "anthropic" }],
        ["gen_ai.request.model", { stringValue: "claude-test" }],
        ["gen_ai.conversation.id", { stringValue: "session-of-ada" }],
        ["gen_ai.usage.input_tokens", { intValue: 30_000 }],
        ["gen_ai.usage.cache_read.input_tokens", { intValue: 24_000 }],
        ["gen_ai.response.time_to_first_chunk", { doubleValue: 0.7 }],
        ["http.response.status_code", { intValue: 200 }],
        ["server.address", { stringValue: "api.example.com" }],
        ["holdfast.trace_id", { stringValue: "hf-1" }],
        ["holdfast.changed", { boolValue: true }],
        ["holdfast.compaction.remedy", { stringValue: "micro" }],
        ["holdfast.guard.denied", { intValue: 1 }],
      ),
    })
  })

  test("gets compactions and denied calls as events at their times", async () => {
    const [span] = spansAt(await sent([sampleRecord()]))
    expect(span).toMatchObject({
      events: [
        {
          name: "holdfast.compaction",
          timeUnixNano: "1700000000003000000",
          attributes: attributes(["holdfast.compaction.after_tokens", { intValue: 30_000 }]),
        },
        {
          name: "holdfast.call-denied",
          timeUnixNano: "1700000002600000000",
          attributes: attributes(
            ["gen_ai.tool.name", { stringValue: "buy_boat" }],
            ["holdfast.guard.policy", { stringValue: "no-paying" }],
          ),
        },
      ],
    })
  })

  test("gets the metrics of the conventions with their boundaries, and ours", async () => {
    const at = await sent([sampleRecord(), sampleRecord({ status: 529, ending: "upstream-failed" })])
    const metrics = bodiesAt(at, "/v1/metrics").flatMap((body) => allOf(body, "metrics"))
    const tokens = [
      1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
    ]
    const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
    const point = (explicitBounds: readonly number[], more: object) =>
      expect.objectContaining({ explicitBounds, ...more })
    expect(metrics).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: "gen_ai.client.token.usage",
          unit: "{token}",
          histogram: expect.objectContaining({
            dataPoints: [
              point(tokens, {
                count: 2,
                sum: 60_000,
                attributes: attributes(["gen_ai.token.type", { stringValue: "input" }]),
              }),
              point(tokens, {
                count: 2,
                sum: 800,
                attributes: attributes(["gen_ai.token.type", { stringValue: "output" }]),
              }),
            ],
          }),
        }),
        expect.objectContaining({
          name: "gen_ai.client.operation.duration",
          histogram: expect.objectContaining({
            dataPoints: [
              point(seconds, { count: 1 }),
              point(seconds, { count: 1, attributes: attributes(["error.type", { stringValue: "529" }]) }),
            ],
          }),
        }),
        expect.objectContaining({ name: "gen_ai.client.operation.time_to_first_chunk" }),
        expect.objectContaining({ name: "holdfast.guard.calls" }),
        expect.objectContaining({ name: "holdfast.context.tokens" }),
      ]),
    )
  })

  test("gets no text of the conversation, of a rule, of a tenant, or of a path", async () => {
    const problem = { code: "upstream-error", type: "bad words", message: "words of an answer" } as const
    const at = await sent([sampleRecord(), sampleRecord({ problem, status: 400 })])
    const all = JSON.stringify(at.received.map(({ body }) => body))
    expect(all).toContain("upstream-error")
    expect(all).not.toMatch(/words/i)
    for (const word of [secretWords.tenant, secretWords.path]) expect(all).not.toContain(word)
  })
})

describe("the client's own trace", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c"
  const spanId = "b7ad6b7169203331"

  test("is the parent of the span", async () => {
    const [span] = spansAt(await sent([sampleRecord()], `00-${traceId}-${spanId}-01`))
    expect(span).toMatchObject({ traceId, parentSpanId: spanId })
  })

  test("is not exported if the client does not record it", async () => {
    expect(spansAt(await sent([sampleRecord()], `00-${traceId}-${spanId}-00`))).toEqual([])
  })

  test("is ignored if it is invalid", async () => {
    const [span] = spansAt(await sent([sampleRecord()], "00-not-a-trace"))
    expect(span).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(span).not.toHaveProperty("parentSpanId", expect.anything())
  })
})

test("an error marks the span without its text, and a call without a model is a server span", async () => {
  const problem = { code: "floor-exceeds-window", floorTokens: 2, windowTokens: 1, largest: "words" } as const
  const refused = sampleRecord({ how: "refused", ending: "refused", status: 413, attempts: 0, problem })
  const [span] = spansAt(await sent([refused]))
  expect(span).toMatchObject({
    kind: 2,
    status: { code: 2 },
    attributes: attributes(["error.type", { stringValue: "floor-exceeds-window" }]),
  })
})

const denied = judgedCall("x", "deny")

test("hundreds of denied calls and long names do not make a span large", async () => {
  const tool = "t".repeat(1_000_000)
  const judged = Array.from({ length: 500 }, () => ({ ...denied, tool }))
  const [span] = spansAt(await sent([sampleRecord({ judged, model: "m\ud800".repeat(100_000) })]))
  expect(allOf(span, "events")).toHaveLength(1 + 16)
  expect(JSON.stringify(span).length).toBeLessThan(30_000)
})

describe("an endpoint that", () => {
  test("hangs does not delay closing for long", async () => {
    const at = await collector("hangs")
    // Longer than the test's timeout: the test ends only because closing is limited.
    const telemetry = await open(at.url, { sendLimitMs: 600_000 })
    telemetry.observe(sampleRecord())
    await telemetry.close()
    telemetry.observe(sampleRecord())
    await telemetry.close()
    expect(spansAt(at)).toHaveLength(1)
  }, 15_000)

  test("is slower than the calls gets what fits the queue, and later spans once there is room", async () => {
    const at = await collector()
    const telemetry = await open(at.url)
    for (let count = 0; count < 5000; count += 1) telemetry.observe(sampleRecord())
    // One batch was being sent, and the queue was full.
    await vi.waitFor(() => expect(bodiesAt(at, "/v1/traces")).toHaveLength(1 + 2048 / 64), { timeout: 10_000 })
    telemetry.observe(sampleRecord({ model: "last" }))
    await telemetry.close()
    expect(spansAt(at)).toHaveLength(2048 + 64 + 1)
    expect(spansAt(at).at(-1)).toMatchObject({ name: "chat last" })
  }, 15_000)

  test("is down is reported once, by its host only, even to a listener that throws", async () => {
    const gone = await startCollector()
    await gone.close()
    const faults: string[] = []
    const told = Promise.withResolvers<void>()
    const onFault = (error: unknown): void => {
      faults.push(String(error))
      told.resolve()
      throw new Error("a listener of the user's")
    }
    const telemetry = await open(gone.url.replace("//", "//user:password@"), { onFault, sendLimitMs: 100 })
    for (let count = 0; count < 300; count += 1) telemetry.observe(sampleRecord())
    await told.promise
    await telemetry.close()
    expect(faults).toEqual([expect.stringContaining(gone.url.slice(7))])
    expect(faults[0]).not.toContain("password")
  })

  test("refuses data is reported once", async () => {
    const at = await collector("refuses")
    const faults: unknown[] = []
    const telemetry = await open(at.url, { onFault: (error) => void faults.push(error) })
    telemetry.observe(sampleRecord())
    await telemetry.close()
    expect(faults).toMatchObject([{ problem: { code: "upstream-unreachable", host: at.url.slice(7) } }])
  })

  test("has a path keeps it", async () => {
    const at = await collector()
    const telemetry = await open(`${at.url}/otlp/`)
    telemetry.observe(sampleRecord())
    await telemetry.close()
    expect(at.received.map(({ path }) => path).sort()).toEqual(["/otlp/v1/metrics", "/otlp/v1/traces"])
  })
})

const packages = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/exporter-metrics-otlp-http",
] as const
test.each(packages)("without %s the problem says what to install", async (name) => {
  const file = JSON.stringify(pathToFileURL(`${import.meta.dirname}/open-telemetry.ts`).href)
  const script = `
    import { registerHooks } from "node:module"
    registerHooks({ resolve(from, context, next) {
      if (from === ${JSON.stringify(name)})
        throw Object.assign(new Error("Cannot find package '${name}' imported from here"), { code: "ERR_MODULE_NOT_FOUND" })
      return next(from, context)
    } })
    const { openTelemetry } = await import(${file})
    await openTelemetry({ endpoint: "http://127.0.0.1:1", onFault() {} }).then(
      () => console.log("opened"), ({ problem }) => console.log(JSON.stringify(problem)))`
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])
  expect(JSON.parse(stdout)).toEqual({ code: "package-missing", package: name, purpose: "telemetry" })
})
