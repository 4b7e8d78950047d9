import type { ExchangeRecord } from "../exchange-record.ts"
import { createLabelValues } from "./label-values.ts"
import type { Registry } from "./registry.ts"

/** A request that asks a model ends within minutes; one that is passed on or refused within milliseconds. */
const requestSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** What we add to it is milliseconds, unless a summary is waited for. */
const prepareSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
/** From a short question to the largest window there is. */
const contextSizes = [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 200_000, 400_000, 1_000_000, 2_000_000]

const statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const
const statusClass = (status: number): string => statusClasses[Math.trunc(status / 100)] ?? "none"

/** Counts what is in a record. Sessions, tenants and paths are never labels: there is no end to them. */
export function countExchanges(registry: Registry): (record: ExchangeRecord) => void {
  const parts = [countRequests(registry), countTokens(registry), countGuard(registry)]
  return (record) => {
    for (const count of parts) count(record)
  }
}

function countRequests({ counter, histogram }: Registry): (record: ExchangeRecord) => void {
  const requests = counter({
    name: "holdfast_requests_total",
    help: "Requests, by wire format, how they were dealt with, how they ended, and the class of the status that the client got.",
    labels: ["format", "how", "ending", "status_class"],
  })
  const seconds = (name: string, help: string, bounds: readonly number[]) => histogram({ name, help, bounds })
  const duration = seconds(
    "holdfast_request_duration_seconds",
    "From a request to the end of its answer.",
    requestSeconds,
  )
  const prepare = seconds("holdfast_prepare_seconds", "From a request to when it was sent on.", prepareSeconds)
  const firstByte = seconds(
    "holdfast_time_to_first_byte_seconds",
    "From a request to the first byte of its answer.",
    requestSeconds,
  )
  const attempts = counter({
    name: "holdfast_upstream_attempts_total",
    help: "Requests sent upstream, those that were sent again included.",
    labels: ["upstream"],
  })
  const bytes = counter({
    name: "holdfast_bytes_total",
    help: "Bytes of bodies: received from clients, sent upstream, sent to clients.",
    labels: ["direction"],
  })
  const recalls = counter({ name: "holdfast_recalls_total", help: "Times that a model got back what was cut." })
  const upstreamNames = createLabelValues()
  return (record) => {
    const { format = "none", how, ending, upstream, firstByteMs } = record
    requests.add(1, format, how, ending, statusClass(record.status))
    duration.observe(record.totalMs / 1000)
    if (record.attempts > 0) prepare.observe(record.preparedMs / 1000)
    if (firstByteMs !== undefined) firstByte.observe(firstByteMs / 1000)
    if (upstream !== undefined) attempts.add(record.attempts, upstreamNames(upstream))
    bytes.add(record.requestBytes, "received")
    bytes.add(record.sentBytes, "upstream")
    bytes.add(record.responseBytes, "answered")
    recalls.add(record.recalls)
  }
}

function countTokens({ counter, histogram, measured }: Registry): (record: ExchangeRecord) => void {
  const used = counter({
    name: "holdfast_tokens_total",
    help: "Tokens as the providers report them; input has all that was read, cached or not.",
    labels: ["kind", "model"],
  })
  const context = histogram({
    name: "holdfast_context_tokens",
    help: "Sizes of the contexts that were sent, by our count.",
    bounds: contextSizes,
  })
  const [sums, modelNames] = [{ input: 0, cacheRead: 0 }, createLabelValues()]
  measured(
    {
      name: "holdfast_cache_read_share",
      help: "Of all input tokens so far, the share that was read from the providers' caches.",
    },
    () => (sums.input > 0 ? sums.cacheRead / sums.input : undefined),
  )
  return ({ usage, receipt, model }) => {
    if (receipt !== undefined) context.observe(receipt.contextTokens)
    // A model that nobody has used is just a word of the client's, and takes nobody's place among the names.
    if (usage === undefined) return
    const name = model === undefined ? "none" : modelNames(model)
    used.add(usage.inputTokens, "input", name)
    used.add(usage.outputTokens, "output", name)
    used.add(usage.cacheReadTokens, "cache_read", name)
    used.add(usage.cacheWriteTokens, "cache_write", name)
    sums.input += usage.inputTokens
    sums.cacheRead += usage.cacheReadTokens
  }
}

function countGuard({ counter }: Registry): (record: ExchangeRecord) => void {
  const judged = counter({
    name: "holdfast_guard_calls_total",
    help: "Tool calls that were judged, by decision, whether it was given effect, and tool.",
    labels: ["decision", "enforced", "tool"],
  })
  const approvals = counter({
    name: "holdfast_approvals_total",
    help: "Tool calls that a person was asked about, by what came of it.",
    labels: ["outcome"],
  })
  const reasserted = counter({
    name: "holdfast_pins_reasserted_total",
    help: "Rules that the history no longer said and that were put back.",
  })
  const toolNames = createLabelValues()
  return (record) => {
    for (const { verdict, enforced, tool, approved } of record.judged) {
      judged.add(1, verdict.decision, enforced ? "true" : "false", toolNames(tool))
      if (approved !== undefined) approvals.add(1, approved ? "approved" : "refused")
    }
    for (const event of record.trace) if (event.type === "pins-reasserted") reasserted.add(event.pins.length)
  }
}
