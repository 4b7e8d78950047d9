import { expect, test } from "vitest"
import { exampleRecord } from "../../test/fixtures/cli/example-record.ts"
import { codePoints, fc } from "../../test/support/property.ts"
import type { ExchangeRecord } from "../gateway/settings/gateway-options.ts"
import { HoldfastError } from "../message/errors.ts"
import type { LogFormat, LogLevel } from "./config/resolved-config.ts"
import { createLog, type LogSink } from "./serve-command.ts"

/** What is written when a log is told some things. */
function logged(
  tell: (log: LogSink) => void,
  { level = "debug", format = "text" }: { level?: LogLevel; format?: LogFormat } = {},
): string {
  const said: string[] = []
  const write = async (text: string): Promise<void> => void said.push(text)
  tell(createLog({ level, format, write, now: () => 0, mask: (text) => text.replaceAll("hunter22", "[key]") }))
  return said.join("")
}

const record = (changed: Partial<ExchangeRecord>): ExchangeRecord => ({ ...exampleRecord, ...changed })

const lines: [why: string, changed: Partial<ExchangeRecord>, line: string][] = [
  [
    "one that was compacted",
    {},
    "09:12:04 POST /v1/messages  claude-sonnet-4-5  200  desk-7  compacted 182,300 → 70,900, 71k in, 12k of it cached  842 ms\n",
  ],
  [
    "one that went as it came",
    { how: "at-once", trace: [] },
    "09:12:04 POST /v1/messages  claude-sonnet-4-5  200  desk-7  71k in, 12k of it cached  842 ms\n",
  ],
  [
    "one that is no model call",
    { how: "passed", trace: [], path: "/v1/models?key=hunter2#x" },
    "09:12:04 debug: POST /v1/models  claude-sonnet-4-5  200  desk-7  passed, 71k in, 12k of it cached  842 ms\n",
  ],
  [
    "one that failed",
    {
      ending: "upstream-failed",
      status: 502,
      attempts: 3,
      trace: [],
      problem: { code: "upstream-error", type: "x", message: "what someone said" },
    },
    "09:12:04 warn: POST /v1/messages  claude-sonnet-4-5  502  desk-7  3 attempts, 71k in, 12k of it cached, upstream-failed, upstream-error  842 ms\n",
  ],
  [
    "one with rules that the client had lost",
    { trace: [{ type: "pins-reasserted", pins: ["a", "b"] }] },
    "09:12:04 POST /v1/messages  claude-sonnet-4-5  200  desk-7  2 rules said again, 71k in, 12k of it cached  842 ms\n",
  ],
]
test.each(lines)("%s, in one line for people", (_why, changed, line) => {
  expect(logged((log) => log.record(record(changed)))).toBe(line)
})

test("a model without a name and a session without one leave no gap", () => {
  const { model: _model, session: _session, usage: _usage, ...bare } = exampleRecord
  expect(logged((log) => log.record({ ...bare, trace: [] }))).toBe("09:12:04 POST /v1/messages  200  842 ms\n")
})

const levels: [level: LogLevel, count: number][] = [
  ["error", 1],
  ["warn", 2],
  ["info", 3],
  ["debug", 4],
]
test.each(levels)("at level %s only what matters as much is written", (level, count) => {
  const text = logged(
    (log) => {
      log.fault(new Error("x"))
      log.record(record({ ending: "upstream-cut" }))
      log.record(record({}))
      log.record(record({ how: "answered" }))
    },
    { level },
  )
  expect(text.trim().split("\n")).toHaveLength(count)
})

test("a fault is told by its kind and place, without its words", () => {
  expect(logged((log) => log.fault(new TypeError("what someone said")))).toMatch(
    /^00:00:00 error: fault: TypeError {2}serve-log\.test\.ts:\d+\n$/,
  )
  const problem = new HoldfastError({ code: "store-full", store: "sqlite" })
  expect(logged((log) => log.fault(problem))).toMatch(
    /^00:00:00 error: fault: store-full {2}.*no room left on its disk.* Free some space.*\n$/,
  )
  expect(logged((log) => log.fault("what someone said"))).toBe("00:00:00 error: fault: a thrown string\n")
})

test("a store that takes nothing is told with its cause and the next step, once a minute for each session", () => {
  const problem = { code: "store-full", store: "sqlite" } as const
  const degraded = (session: string, atMs: number) =>
    ({ type: "durability-degraded", session, atMs, problem, unsaved: 3 }) as const
  const text = logged((log) => {
    for (const atMs of [0, 1000, 59_999, 60_000]) log.sessionEvent(degraded("s", atMs))
    log.sessionEvent(degraded("other", 1000))
    log.sessionEvent({ type: "durability-restored", session: "s", atMs: 61_000, saved: 3 })
    log.sessionEvent(degraded("s", 62_000))
  })
  const lines = text.trim().split("\n")
  expect(lines.map((line) => line.slice(0, 14))).toEqual([
    "00:00:00 warn:",
    "00:01:00 warn:",
    "00:00:01 warn:",
    "00:01:01 sessi",
    "00:01:02 warn:",
  ])
  expect(lines[0]).toMatch(/session s {2}3 entries wait in memory.*no room left on its disk.*Free some space/)
})

test("what happens beside requests is told where someone may have to act", () => {
  const text = logged((log) => {
    log.sessionEvent({
      type: "background-failed",
      session: "s",
      atMs: 0,
      work: "summary",
      problem: { code: "store-full", store: "sqlite" },
    })
    log.sessionEvent({ type: "summary-ready", session: "s", atMs: 0, key: "k" })
    log.operatorEvent({ type: "rules-changed", atMs: 0, version: "1", added: ["a"], removed: [] })
    log.operatorEvent({ type: "policy-rejected", atMs: 0, problem: { code: "store-full", store: "sqlite" } })
  })
  expect(text).toBe(
    "00:00:00 warn: session s  summary failed: store-full\n" +
      "00:00:00 operator: 1 rules more, 0 less\n" +
      "00:00:00 error: operator: the policy directory is faulty (store-full); what stood stays\n",
  )
})

test("whatever a request calls itself, it is one line that acts on no terminal, and JSON stays JSON", () => {
  const odd = fc.string({ unit: codePoints, maxLength: 200 })
  fc.assert(
    fc.property(odd, odd, odd, fc.constantFrom<LogFormat>("text", "json"), (path, model, session, format) => {
      const text = logged((log) => log.record(record({ path, model, session, agent: session, upstream: model })), {
        format,
      })
      expect(text).toMatch(/^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]+\n$/u)
      if (format === "json") expect(JSON.parse(text)).toMatchObject({ event: "exchange", session, status: 200 })
    }),
  )
})

test("a secret in a name is hidden, and what it stands in stays JSON", () => {
  expect(JSON.parse(logged((log) => log.record(record({ session: 'a"hunter22"' })), { format: "json" }))).toMatchObject(
    { session: 'a"[key]"' },
  )
})

test("nobody who reads slowly fills the memory: what is left out is counted", async () => {
  const said: string[] = []
  const { promise: read, resolve } = Promise.withResolvers<void>()
  const log = createLog({
    level: "info",
    format: "text",
    write: (text) => {
      said.push(text)
      return read
    },
    now: () => 0,
    mask: (text) => text,
  })
  for (let n = 0; n < 1500; n++) log.record(exampleRecord)
  expect(said).toHaveLength(1000)
  resolve()
  await new Promise((done) => setImmediate(done))
  log.record(exampleRecord)
  expect(said).toHaveLength(1002)
  expect(said[1000]).toContain("500 lines were left out")
})
