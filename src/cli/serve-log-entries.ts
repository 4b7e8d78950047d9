import { relative } from "node:path"
import type { ExchangeRecord } from "../gateway/settings/gateway-options.ts"
import type { Upstream } from "../gateway/settings/upstream.ts"
import type { OperatorEvent } from "../guard/operator/judge-command.ts"
import { countPolicies } from "../guard/policy/templates.ts"
import { describe, HoldfastError, type Problem } from "../message/errors.ts"
import { present, sumOf } from "../message/present.ts"
import type { SessionEvent } from "../session/state/events.ts"
import { placeWords } from "./ask-store.ts"
import type { LogLevel } from "./config/resolved-config.ts"
import type { ServeResources } from "./serve-open.ts"
import type { AdminAccess } from "./serve-settings.ts"
import { clip, count, jsonLine, number, sentenceOf } from "./terminal/output.ts"
import { clientLines } from "./wrap-clients.ts"

/** Limit on the characters of names that come from outside. */
const maxName = 80

/** One entry of the log. */
export type ConsoleEntry = {
  readonly atMs: number
  readonly level: LogLevel
  readonly event: string
  /** For people. */
  readonly words: readonly string[]
  /** For programs. */
  readonly fields: object
}

export const missedEntry = (lines: number, atMs: number): ConsoleEntry => ({
  atMs,
  level: "warn",
  event: "lines-left-out",
  words: [`${lines} lines were left out, as nobody read them`],
  fields: { count: lines },
})

export const prunedEntry = (sessions: number, atMs: number): ConsoleEntry => ({
  atMs,
  level: "info",
  event: "sessions-pruned",
  words: [`${sessions} sessions were deleted, as the configuration says (retention)`],
  fields: { sessions },
})

const name = (text: string | undefined): string => clip(text ?? "", maxName)

function levelOf({ ending, status, how }: ExchangeRecord): LogLevel {
  if (ending === "upstream-failed" || ending === "upstream-cut" || status >= 500) return "warn"
  return how === "passed" || how === "answered" ? "debug" : "info"
}

export function recordEntry(record: ExchangeRecord): ConsoleEntry {
  const { id, tenant, session, agent, method, path, format, model, stream, upstream } = record
  const { how, ending, status, changed, usage, attempts, recalls, totalMs, problem } = record
  const { requestBytes, sentBytes, responseBytes, preparedMs, firstByteMs } = record
  return {
    atMs: record.atMs,
    level: levelOf(record),
    event: "exchange",
    words: [
      `${name(method)} ${name(pathOnly(path))}`,
      name(model),
      String(status),
      session === undefined ? "" : name(session),
      doneWords(record).join(", "),
      `${Math.round(totalMs)} ms`,
    ],
    fields: {
      ...{ id, tenant, method: name(method), path: name(pathOnly(path)), stream, how, ending, status, changed },
      ...present({ session, agent, format, model: model === undefined ? undefined : name(model), upstream, usage }),
      ...present({ stack: record.receipt?.stack?.hash }),
      ...present({ compacted: compactionIn(record), problem: problem?.code, firstByteMs }),
      ...{ denied: denialsIn(record), attempts, recalls, requestBytes, sentBytes, responseBytes, preparedMs, totalMs },
    },
  }
}

/** The path without the query, which may contain a key. */
const pathOnly = (path: string): string => path.replace(/[?#].*$/s, "")

/** An error's message may quote a conversation, so only its kind and its place are logged. */
export function faultEntry(error: unknown, atMs: number): ConsoleEntry {
  const kind = kindOf(error)
  const at = placeOf(error)
  return {
    atMs,
    level: "error",
    event: "fault",
    words: [`fault: ${kind}`, at ?? "", ...storeWords(error)],
    fields: { kind, ...present({ at }) },
  }
}

/** What is wrong with a store, and what to do about it. It contains no text of a conversation. */
const storeWords = (error: unknown): readonly string[] =>
  error instanceof HoldfastError && error.problem.code.startsWith("store-") ? [problemWords(error.problem)] : []

function problemWords(problem: Problem): string {
  const { sentence, next } = describe(problem)
  return `${sentence} ${next}`
}

function kindOf(error: unknown): string {
  if (error instanceof HoldfastError) return error.problem.code
  if (!(error instanceof Error)) return `a thrown ${typeof error}`
  return "code" in error && typeof error.code === "string"
    ? `${name(error.name)} ${name(error.code)}`
    : name(error.name)
}

/** The file and line of the innermost call, without folders. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof HoldfastError) return undefined
  const at = /\n {4}at [^\n]{0,300}?([\w.-]{1,80})(?:\?[^\s:)]{0,80})?(:\d{1,7}):\d{1,7}\)?(?:\n|$)/
  const [, file, line] = at.exec((error.stack ?? "").slice(-5000)) ?? []
  return file === undefined || line === undefined ? undefined : `${file}${line}`
}

/** The session events that an operator may have to act on. */
export function sessionEntry(event: SessionEvent): ConsoleEntry | undefined {
  const { atMs, session, type } = event
  const entry = (level: LogLevel, words: string, fields: object = {}): ConsoleEntry => ({
    atMs,
    level,
    event: type,
    words: [`session ${name(session)}`, words],
    fields: { session, ...fields },
  })
  if (type === "durability-degraded") {
    const { problem, unsaved } = event
    const waiting = `${count(unsaved, "entry", "entries")} wait in memory and would be lost in a crash`
    return entry("warn", `${waiting}. ${problemWords(problem)}`, { problem: problem.code, unsaved })
  }
  if (type === "durability-restored") return entry("info", "the store has everything again")
  if (type === "stack-installed")
    return entry("info", `prompt stack ${event.hash.slice(0, 12)} is sent from here on (${event.reason})`, {
      hash: event.hash,
      layers: event.layers,
      reason: event.reason,
    })
  if (type === "stack-changed") {
    const sections = event.changes.map((change) => ("section" in change ? change.section : `the layer ${change.layer}`))
    const when = event.effect === "now" ? "with this request" : "with the next compaction"
    return entry("info", `the prompt stack changed in ${name(sections.join(", "))}; it takes effect ${when}`, {
      changes: event.changes,
      effect: event.effect,
    })
  }
  if (type === "stack-refused")
    return entry(
      "warn",
      `the prompt stack's sources cannot be used (${event.problem.code}); what was sent is sent on`,
      {
        problem: event.problem.code,
      },
    )
  if (type === "background-failed")
    return entry("warn", `${event.work} failed: ${event.problem.code}`, { problem: event.problem.code })
  return undefined
}

export function operatorEntry(event: OperatorEvent): ConsoleEntry {
  const entry = (level: LogLevel, words: string, fields: object): ConsoleEntry => ({
    atMs: event.atMs,
    level,
    event: `operator-${event.type}`,
    words: [`operator: ${words}`],
    fields,
  })
  switch (event.type) {
    case "rules-changed":
      return entry("info", `${event.added.length} rules more, ${event.removed.length} less`, {
        added: event.added.length,
        removed: event.removed.length,
      })
    case "command-accepted":
      return entry("info", `command ${event.line.number} is in force`, { number: event.line.number })
    case "command-refused":
      return entry("warn", `a command was refused: ${event.reason}`, { reason: event.reason })
    case "policy-rejected":
      return entry("error", `the policy directory is faulty (${event.problem.code}); what stood stays`, {
        problem: event.problem.code,
      })
    case "refresh-failed":
      return entry("warn", `it could not be looked at (${event.problem.code}); what stood stays`, {
        problem: event.problem.code,
      })
  }
}

/** A compaction in an exchange: the whole context before and after, in the provider's own tokens. */
type Compaction = { readonly beforeTokens: number; readonly afterTokens: number }

function compactionIn({ trace }: Pick<ExchangeRecord, "trace">): Compaction | undefined {
  const installed = trace.findLast((event) => event.type === "remedy-installed")
  if (installed === undefined || installed.remedy === "pins") return undefined
  return { beforeTokens: installed.beforeTokens, afterTokens: installed.afterTokens }
}

const denialsIn = ({ judged }: Pick<ExchangeRecord, "judged">): number =>
  judged.filter(({ enforced, verdict, approved }) => enforced && verdict.decision !== "allow" && approved !== true)
    .length

/** Number of allowed calls that a policy in observe mode would have stopped. */
const observedIn = ({ judged }: Pick<ExchangeRecord, "judged">): number =>
  judged.filter(
    ({ verdict }) =>
      (verdict.decision === "allow" && verdict.reasons.length > 0) || (verdict.observed ?? []).length > 0,
  ).length

/** A number in few digits: 182k, 1.2M, 950. */
function short(count: number): string {
  if (count < 1000) return String(Math.round(count))
  if (count < 9950) return `${(count / 1000).toFixed(1)}k`
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** What was done in an exchange, without any text of a client. */
function doneWords(record: ExchangeRecord): readonly string[] {
  const { how, ending, attempts, recalls, problem, usage } = record
  const compaction = compactionIn(record)
  const denials = denialsIn(record)
  const observed = observedIn(record)
  const pins = sumOf(record.trace, (event) => (event.type === "pins-reasserted" ? event.pins.length : 0))
  return [
    ...(how === "prepared" || how === "at-once" ? [] : [how]),
    ...(compaction === undefined
      ? []
      : [`compacted ${number(compaction.beforeTokens)} → ${number(compaction.afterTokens)}`]),
    ...(pins > 0 ? [`${pins} ${pins === 1 ? "rule" : "rules"} said again`] : []),
    ...(denials > 0 ? [`${denials} ${denials === 1 ? "call" : "calls"} denied`] : []),
    ...(observed > 0 ? [`${observed} ${observed === 1 ? "call" : "calls"} would have been denied or asked about`] : []),
    ...(recalls > 0 ? [`${recalls} recalled`] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(usage === undefined ? [] : [`${short(usage.inputTokens)} in, ${short(usage.cacheReadTokens)} of it cached`]),
    ...(ending === "complete" || ending === how ? [] : [ending]),
    ...(problem === undefined ? [] : [problem.code]),
  ]
}

/** Facts about a gateway that has started to listen. */
export type StartedGateway = {
  readonly url: string
  readonly version: string
  readonly ground: Pick<ServeResources, "place" | "operator" | "directory" | "admin">
  readonly upstreams: readonly Pick<Upstream, "name" | "baseUrl" | "apiKey">[]
  readonly config?: string
  readonly wantsToken: boolean
  readonly isDemo: boolean
  /** Instructions for moving a store out of the working folder. */
  readonly moving?: string
}

/** The host of an upstream: the rest of its address may be confidential. */
const hostOf = ({ baseUrl }: Pick<Upstream, "baseUrl">): string => new URL(baseUrl).host

const shorter = (path: string): string => {
  const near = relative(process.cwd(), path)
  return near !== "" && near.length < path.length ? near : path
}

/** The start message for people. */
export function welcomeText({
  url,
  version,
  ground,
  upstreams,
  config,
  wantsToken,
  isDemo,
  moving,
}: StartedGateway): string {
  const { operator, directory, admin, place } = ground
  const refusal = operator.refusal()
  const facts: readonly (readonly [string, string | undefined])[] = [
    ...clientLines(url).map(({ program, line }) => [program, line] as const),
    ["token", wantsToken ? "every request has to carry it as x-holdfast-token" : undefined],
    ["config", config],
    ["store", placeWords(place).replace(/^the (?:store )?/, "")],
    ["note", moving],
    [
      "upstreams",
      upstreams
        .map(
          (upstream) =>
            `${upstream.name} (${hostOf(upstream)}, ${upstream.apiKey === undefined ? "the client's key" : "its own key"})`,
        )
        .join(", "),
    ],
    ["operator", refusal === undefined ? operatorWords(operator, directory) : problemWords(refusal)],
    ["inspector", admin.token === undefined ? undefined : `${url}/  (holdfast open signs in)`],
    ["admin", adminWords(admin)],
    ["demo", isDemo ? "a scripted agent is shown; holdfast demo plays it alone" : undefined],
  ]
  const lines = facts.flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${name.padEnd(9)}  ${sentenceOf(text)}`],
  )
  return `holdfast ${version} listens at ${url}. Ctrl-C ends it.\n\n${lines.join("\n")}\n\n`
}

/** The operator's rules and policies in words. The directory is watched even if it does not exist yet. */
function operatorWords(operator: ServeResources["operator"], directory: string): string {
  const { rules, policies } = operator.standing()
  if (rules.length + policies.length === 0) return `no rules yet; ${shorter(directory)} is watched for some`
  const policyCount = countPolicies(policies)
  const many = policyCount === 0 ? "" : ` and ${count(policyCount, "policy", "policies")}`
  return `${count(rules.length, "rule")}${many} in ${shorter(directory)}`
}

const adminWords = ({ token, file }: AdminAccess): string => {
  if (token === undefined) return "off: a store in PostgreSQL has no place for a token; name one in admin.token"
  return file === undefined ? "on, with the token of the configuration" : `on, its token is in ${shorter(file)}`
}

/** The start message for programs, in one line, without secrets. */
export const welcomeLine = (started: StartedGateway, atMs: number): string => {
  const { url, version, ground, upstreams, config, wantsToken, isDemo } = started
  return jsonLine({
    time: new Date(atMs).toISOString(),
    level: "info",
    event: "listening",
    ...{ url, version, store: placeWords(ground.place), token: wantsToken, demo: isDemo },
    upstreams: upstreams.map((upstream) => ({
      name: upstream.name,
      host: hostOf(upstream),
      ownKey: upstream.apiKey !== undefined,
    })),
    admin: { on: ground.admin.token !== undefined, ...present({ tokenFile: ground.admin.file }) },
    ...present({ config }),
    operatorRules: ground.operator.standing().rules.length,
    ...present({ refuses: ground.operator.refusal()?.code }),
  })
}
