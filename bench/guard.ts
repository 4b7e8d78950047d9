import { createRequire } from "node:module"
import { createGuard, type Guard } from "../src/guard/guard.ts"
import type { PolicyInput } from "../src/guard/policy/templates.ts"
import { conditionsNow } from "./conditions.ts"
import { quantile } from "./quantile.ts"

/**
 * What judging a tool call costs, with few and many policies and on small and large calls of several kinds, compared with one bare question
 * to the policy engine in the same run; and what creating and holding a guard costs.
 */
export type Options = { readonly quick?: boolean }

type Call = { readonly tool: string; readonly input: unknown }
type Row = {
  readonly policies: number
  readonly size: string
  readonly calls: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  /** The same over the fastest of three runs of each call, which excludes the effect of other load on the machine. */
  readonly p99BestMs: number
  /** The median divided by that of one bare question over the same policies. */
  readonly timesBare: number
}
type Making = {
  readonly policies: number
  readonly makeMs: number
  readonly bareMs: number
  readonly megabytes: number
}
type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly coldMs: number
  readonly making: readonly Making[]
  readonly rows: readonly Row[]
}

const templates: readonly PolicyInput[] = [
  { template: "email-domains", domains: ["acme.example"] },
  { template: "spend-limit", amount: 500 },
  { template: "channel-routing", media: ["slack"] },
  { template: "region-standard", regions: ["eu-west-1", "us-west-2"] },
  { template: "language-policy", languages: ["en"] },
  { template: "no-production-destruction" },
  { template: "no-secrets" },
  { template: "no-personal-data" },
  { template: "keep-security-controls" },
  { template: "protected-paths", paths: ["/etc", "~/.ssh"], access: "any" },
]

/** Returns rules as people write them, each about something else. */
const written = (n: number): string => {
  const kinds = [
    `forbid(principal, action == Holdfast::Action::"delete", resource) when { context.paths.contains("/srv/data-${n}") };`,
    `forbid(principal, action, resource) when { context.hosts.contains("host-${n}.example") };`,
    `forbid(principal, action, resource == Holdfast::Tool::"tool_${n}") when { context.changes };`,
    `forbid(principal, action == Holdfast::Action::"send", resource) when { context.text like "* codename ${n} *" };`,
    `forbid(principal, action, resource) when { context.commands.contains("program-${n}") && context.network };`,
  ]
  return `@rule("Rule ${n} of the house.")\n${kinds[n % kinds.length]}`
}

const policySet = (count: number): readonly PolicyInput[] => [
  ...templates.slice(0, count),
  ...Array.from({ length: Math.max(0, count - templates.length) }, (_, n) => written(n)),
]

const sentences = [
  "The build was green this morning, and every test on the list has passed.",
  "We moved the meeting to the afternoon because two people are on the train until noon.",
  "I have read the change and left some remarks beside the lines that I did not understand.",
  "Please have a look at the second chart, where the slower runs stand out from the others.",
  "Nobody has seen the error again since the cache was made smaller on Tuesday.",
  "Thank you for the quick answer, it saved us most of the day.",
  "There is still a question about the names of the fields, which we should settle before we go on.",
]

function prose(length: number, seed: number): string {
  const said: string[] = []
  for (let size = 0, n = seed; size < length; n++) {
    const sentence = sentences[(n * 3 + (n >> 3)) % sentences.length] ?? ""
    said.push(sentence)
    size += sentence.length + 1
  }
  return said.join(" ").slice(0, length)
}

const code = (length: number, seed: number): string =>
  Array.from(
    { length: Math.ceil(length / 60) },
    (_, n) => `  const value${seed + n} = read("src/file-${n}.ts", { line: ${n} })`,
  )
    .join("\n")
    .slice(0, length)

/** Returns ordinary calls of about `bytes` bytes, all different. */
function callsOf(bytes: number, count: number): readonly Call[] {
  const room = Math.max(20, bytes - 120)
  const kinds: readonly ((n: number) => Call)[] = [
    (n) => ({ tool: "send_email", input: { to: `ann${n}@acme.example`, subject: "Hello", body: prose(room, n) } }),
    (n) => ({
      tool: "bash",
      input: { command: `grep -rn "value${n}" src | head -20 # ${prose(room, n).replace(/\s+/g, " ")}` },
    }),
    (n) => ({ tool: "write_file", input: { path: `src/file-${n}.ts`, content: code(room, n) } }),
    (n) => ({
      tool: "query_database",
      input: { sql: `SELECT id, name FROM orders WHERE id = ${n} AND note = '${prose(room, n)}'` },
    }),
    (n) => ({
      tool: "update_ticket",
      input: { id: n, fields: { title: "Build", text: prose(room, n), labels: ["a", "b"] } },
    }),
    (n) => ({
      tool: "buy",
      input: { item: `paper ${n}`, amount: 12 + (n % 9), currency: "USD", note: prose(room, n) },
    }),
  ]
  return Array.from({ length: count }, (_, n) => kinds[n % kinds.length]?.(n) ?? { tool: "none", input: {} })
}

function timesOf(count: number, work: (n: number) => unknown): readonly number[] {
  return Array.from({ length: count }, (_, n) => {
    const start = performance.now()
    work(n)
    return performance.now() - start
  })
}

type Cedar = typeof import("@cedar-policy/cedar-wasm/nodejs")

/** Returns one question over the same policies, with the smallest context that they can all read. */
function bareQuestion(cedar: Cedar, guard: Guard, name: string): () => void {
  const staticPolicies = Object.fromEntries(guard.policies.map(({ id, text }) => [id, text]))
  const parsed = cedar.preparsePolicySet(name, {
    staticPolicies: { ...staticPolicies, all: "permit(principal, action, resource);" },
  })
  if (parsed.type !== "success") throw new Error("the policies do not parse")
  const lists = [
    "actions",
    "recipients",
    "recipientDomains",
    "hosts",
    "linkedHosts",
    "paths",
    "changedPaths",
    "secretPaths",
    "sqlVerbs",
    "sqlTargets",
    "commands",
    "effects",
    "destructive",
    "environments",
    "currencies",
    "regions",
    "media",
    "languages",
    "personal",
    "secrets",
    "controlsOff",
    "marks",
    "matches",
  ]
  const flags = ["changes", "unresolvedRecipients", "suspectAddresses", "network", "sqlUnbounded", "amountNamed"]
  const context = {
    ...Object.fromEntries(lists.map((list) => [list, []])),
    ...Object.fromEntries(flags.map((flag) => [flag, false])),
    spend: 0,
    spent: 0,
    text: " some words ",
    tool: "send_email",
  }
  return () => {
    const answer = cedar.statefulIsAuthorized({
      principal: { type: "Holdfast::Agent", id: "agent" },
      action: { type: "Holdfast::Action", id: "send" },
      resource: { type: "Holdfast::Tool", id: "send_email" },
      context,
      preparsedPolicySetId: name,
      entities: [],
    })
    if (answer.type !== "success" || answer.response.diagnostics.errors.length > 0)
      throw new Error("the bare question failed")
  }
}

const sizes = { "200 B": 200, "4 kB": 4_096, "100 kB": 100_000 } as const

const memoryNow = (): number => {
  globalThis.gc?.()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return (heapUsed + external + arrayBuffers) / 1_048_576
}

export async function run({ quick = false }: Options = {}): Promise<Report> {
  const before = performance.now()
  createGuard(policySet(1)).judge({ tool: "send_email", input: { to: "ann@acme.example", body: "hello" } })
  const coldMs = performance.now() - before
  const cedar: Cedar = createRequire(import.meta.url)("@cedar-policy/cedar-wasm/nodejs")
  const making: Making[] = []
  const rows: Row[] = []
  for (const policies of [1, 10, 100]) {
    const empty = memoryNow()
    const start = performance.now()
    const guard = createGuard(policySet(policies))
    const makeMs = performance.now() - start
    const ask = bareQuestion(cedar, guard, `bare-${policies}`)
    timesOf(100, ask)
    const bareMs = quantile(timesOf(quick ? 300 : 2_000, ask), 0.5)
    for (const [size, bytes] of Object.entries(sizes)) {
      console.error(`  guard: ${policies} policies, calls of ${size}`)
      const warm = callsOf(bytes, 120)
      timesOf(warm.length, (n) => guard.judge(warm[n] ?? { tool: "", input: {} }))
      const count = (bytes > 50_000 ? 300 : 3_000) / (quick ? 5 : 1)
      const calls = callsOf(bytes, count)
      const judge = (n: number): void => {
        const verdict = guard.judge(calls[n] ?? { tool: "", input: {} })
        if (verdict.decision !== "allow")
          throw new Error(`an ordinary call was refused: ${JSON.stringify(verdict.reasons)}`)
      }
      const times = timesOf(count, judge)
      const again = [times, timesOf(count, judge), timesOf(count, judge)]
      const best = times.map((_, n) => Math.min(...again.map((list) => list[n] ?? Number.POSITIVE_INFINITY)))
      const p50Ms = quantile(times, 0.5)
      rows.push({
        policies,
        size,
        calls: count,
        p50Ms,
        p95Ms: quantile(times, 0.95),
        p99Ms: quantile(times, 0.99),
        p99BestMs: quantile(best, 0.99),
        timesBare: p50Ms / bareMs,
      })
    }
    making.push({ policies, makeMs, bareMs, megabytes: memoryNow() - empty })
  }
  return { conditions: conditionsNow(), coldMs, making, rows }
}

const ms = (value: number): string => value.toFixed(3).padStart(8)

export function print({ conditions, coldMs, making, rows }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`guard: judging a tool call (${told.join(", ")})`)
  console.log(`\n  first guard and first verdict of a process: ${coldMs.toFixed(0)} ms`)
  for (const { policies, makeMs, bareMs, megabytes } of making)
    console.log(
      `  ${String(policies).padStart(3)} policies: made in ${makeMs.toFixed(1)} ms, ${megabytes.toFixed(1)} MB; one bare question ${bareMs.toFixed(3)} ms`,
    )
  console.log("\n  policies  call      p50 ms   p95 ms   p99 ms  p99 best of 3   p50 beside a bare question")
  for (const { policies, size, p50Ms, p95Ms, p99Ms, p99BestMs, timesBare } of rows)
    console.log(
      `  ${String(policies).padStart(8)}  ${size.padEnd(7)} ${ms(p50Ms)} ${ms(p95Ms)} ${ms(p99Ms)}       ${ms(p99BestMs)}   ${timesBare.toFixed(2)}x`,
    )
}
