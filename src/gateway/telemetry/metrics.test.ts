import { describe, expect, test } from "vitest"
import { judgedCall, sampleRecord, secretWords, usage } from "../../../test/fixtures/gateway/sample-record.ts"
import { codePoints, fc } from "../../../test/support/property.ts"
import type { NewEvent } from "../../session/state/events.ts"
import { createMetrics, type Metrics, watchProcess } from "./metrics.ts"

const linesOf = (metrics: Metrics): readonly string[] => metrics.render().split("\n")
const open = (): Metrics => createMetrics({ now: () => 5000, version: "1.2.3" })

describe("of an exchange", () => {
  test.each([
    'holdfast_requests_total{format="anthropic-messages",how="prepared",ending="complete",status_class="2xx"} 1',
    'holdfast_request_duration_seconds_bucket{le="2.5"} 0',
    'holdfast_request_duration_seconds_bucket{le="5"} 1',
    "holdfast_request_duration_seconds_sum 2.6",
    'holdfast_prepare_seconds_bucket{le="0.005"} 1',
    'holdfast_time_to_first_byte_seconds_bucket{le="1"} 1',
    'holdfast_upstream_attempts_total{upstream="main"} 2',
    'holdfast_bytes_total{direction="received"} 4000',
    'holdfast_bytes_total{direction="upstream"} 3000',
    'holdfast_bytes_total{direction="answered"} 2000',
    "holdfast_recalls_total 1",
    'holdfast_tokens_total{kind="input",model="claude-test"} 30000',
    'holdfast_tokens_total{kind="output",model="claude-test"} 400',
    'holdfast_tokens_total{kind="cache_read",model="claude-test"} 24000',
    'holdfast_tokens_total{kind="cache_write",model="claude-test"} 1000',
    'holdfast_context_tokens_bucket{le="32000"} 1',
    "holdfast_cache_read_share 0.8",
    'holdfast_guard_calls_total{decision="deny",enforced="true",tool="buy_boat"} 1',
    "holdfast_pins_reasserted_total 2",
    `holdfast_build_info{version="1.2.3",node="${process.version}"} 1`,
  ])("it is told: %s", (line) => {
    const metrics = open()
    metrics.observe(sampleRecord())
    expect(linesOf(metrics)).toContain(line)
  })

  test("a request refused before reading has almost no fields", () => {
    const {
      format: _,
      model: __,
      upstream: ___,
      usage: ____,
      receipt: _____,
      firstByteMs: ______,
      ...bare
    } = sampleRecord({ how: "refused", ending: "refused", status: 0, judged: [], trace: [], attempts: 0 })
    const metrics = open()
    metrics.observe(bare)
    const lines = linesOf(metrics)
    expect(lines).toContain(
      'holdfast_requests_total{format="none",how="refused",ending="refused",status_class="none"} 1',
    )
    expect(lines.filter((line) => /^holdfast_(tokens|guard|cache_read|upstream)/.test(line))).toEqual([])
    expect(lines).toContain("holdfast_prepare_seconds_count 0")
    expect(lines).toContain("holdfast_time_to_first_byte_seconds_count 0")
  })

  test("the outcome of an approval is counted", () => {
    const metrics = open()
    const judged = [
      judgedCall("pay", "ask", { approved: true }),
      judgedCall("pay", "deny", { approved: false }),
      judgedCall("pay", "ask", { enforced: false }),
    ]
    metrics.observe(sampleRecord({ judged }))
    const lines = linesOf(metrics)
    expect(lines).toContain('holdfast_approvals_total{outcome="approved"} 1')
    expect(lines).toContain('holdfast_approvals_total{outcome="refused"} 1')
    expect(lines).toContain('holdfast_guard_calls_total{decision="ask",enforced="false",tool="pay"} 1')
  })

  test("invented names do not displace the models that respond", () => {
    const metrics = open()
    for (let at = 0; at < 500; at += 1) {
      const { usage: _, ...failed } = sampleRecord({ model: `made-up-${at}`, status: 404 })
      metrics.observe(failed)
    }
    metrics.observe(sampleRecord({ model: "real", usage: usage(7, 1) }))
    expect(linesOf(metrics)).toContain('holdfast_tokens_total{kind="input",model="real"} 7')
    for (let at = 0; at < 500; at += 1) metrics.observe(sampleRecord({ model: `m-${at}`, usage: usage(1, 1) }))
    const inputs = linesOf(metrics).filter((line) => line.startsWith('holdfast_tokens_total{kind="input"'))
    expect(inputs).toHaveLength(101)
    expect(inputs).toContain('holdfast_tokens_total{kind="input",model="other"} 401')
  })
})

describe("of sessions", () => {
  const tell = (metrics: Metrics, session: string, event: NewEvent): void =>
    metrics.sessionEvent({ session, atMs: 1, ...event })
  const away = { code: "store-unavailable", store: "sqlite", reason: "secret host" } as const

  test("compactions, rules and background work are counted", () => {
    const metrics = open()
    const compaction = { type: "compaction-installed", checkpoint: "c", beforeTokens: 90, afterTokens: 30 } as const
    tell(metrics, "s", { ...compaction, remedy: "micro" })
    tell(metrics, "s", { ...compaction, remedy: "micro", afterTokens: 100 })
    tell(metrics, "s", { type: "compaction-undone", checkpoint: "c" })
    tell(metrics, "s", { type: "rules-found", pins: ["p1", "p2"], rules: [] })
    tell(metrics, "s", { type: "summary-failed", key: "k", reason: "secret" })
    tell(metrics, "s", { type: "background-failed", work: "flush", problem: away })
    const lines = linesOf(metrics)
    expect(lines).toContain('holdfast_compactions_total{remedy="micro"} 2')
    expect(lines).toContain("holdfast_compaction_tokens_removed_total 60")
    expect(lines).toContain("holdfast_compactions_undone_total 1")
    expect(lines).toContain("holdfast_rules_found_total 2")
    expect(lines).toContain('holdfast_summaries_total{outcome="failed"} 1')
    expect(lines).toContain('holdfast_background_failures_total{work="flush"} 1')
    expect(metrics.render()).not.toContain("secret")
  })

  test("durability is degraded while one session waits for the store", () => {
    const metrics = open()
    const said = (): string | undefined =>
      linesOf(metrics).find((line) => line.startsWith("holdfast_store_durability_degraded "))
    expect(said()).toMatch(/ 0$/)
    for (const session of ["a", "b"]) tell(metrics, session, { type: "durability-degraded", problem: away, unsaved: 1 })
    tell(metrics, "a", { type: "durability-restored", saved: 1 })
    expect(said()).toMatch(/ 1$/)
    expect(linesOf(metrics)).toContain("holdfast_sessions_unsaved 1")
    tell(metrics, "b", { type: "entries-appended", entries: ["e"], durable: false })
    expect(said()).toMatch(/ 1$/)
    tell(metrics, "b", { type: "entries-appended", entries: ["e"], durable: true })
    expect(said()).toMatch(/ 0$/)
  })
})

test("gauges show their last value, and the uptime follows the clock", () => {
  let nowMs = 1000
  const metrics = createMetrics({ now: () => nowMs })
  nowMs = 3500
  expect(metrics.render()).not.toContain("\nholdfast_store_up ")
  metrics.requestsInFlight(3)
  metrics.requestsInFlight(2)
  metrics.pendingApprovals(1)
  metrics.storeUp(false)
  const lines = linesOf(metrics)
  expect(lines).toContain("holdfast_requests_in_flight 2")
  expect(lines).toContain("holdfast_approvals_pending 1")
  expect(lines).toContain("holdfast_store_up 0")
  expect(lines).toContain("holdfast_uptime_seconds 2.5")
})

test("process figures are shown if the process is watched", () => {
  const watch = watchProcess()
  const metrics = createMetrics({ readProcess: watch.read })
  const text = metrics.render()
  watch.stop()
  expect(text).toMatch(/\nholdfast_memory_bytes\{kind="resident"\} \d{7,}\n/)
  expect(text).toMatch(/\nholdfast_event_loop_lag_seconds\{quantile="0.99"\} [\d.e-]+\n/)
  expect(open().render()).not.toContain("holdfast_memory_bytes")
})

/** Every line is a comment or a sample, and no series occurs twice; a server would refuse all of it. */
const sample = /^holdfast_\w+(\{(\w+="([^"\\\n]|\\[\\n"])*",?)+\})? ([\d.e+-]+|NaN|[+-]Inf)$/

test("for any names the text is valid, and contains no session, tenant or path", () => {
  const name = fc.oneof(fc.string({ unit: codePoints }), fc.constantFrom("a\ud800", "a\ud801", "\udc00", "a\0", "a\n"))
  const call = judgedCall("x", "allow")
  const exchange = fc.record({ model: name, upstream: name, tool: name, status: fc.integer() })
  fc.assert(
    fc.property(fc.array(exchange, { maxLength: 20 }), (exchanges) => {
      const metrics = open()
      for (const { tool, ...more } of exchanges) metrics.observe(sampleRecord({ ...more, judged: [{ ...call, tool }] }))
      const text = metrics.render()
      const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("# "))
      expect(lines.filter((line) => !sample.test(line))).toEqual([])
      expect(text.isWellFormed()).toBe(true)
      const series = lines.map((line) => line.slice(0, line.lastIndexOf(" ")))
      expect(new Set(series).size).toBe(series.length)
      for (const word of Object.values(secretWords)) expect(text).not.toContain(word)
    }),
  )
})
