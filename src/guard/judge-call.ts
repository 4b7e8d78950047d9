import type { Channel, ModelResponse, ToolResultPart } from "../message/message.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import { runInSteps, type Steps } from "../message/steps.ts"
import { factsOf, type ToolCall } from "./facts/facts.ts"
import type { FoundCall } from "./find-call.ts"
import type { Guard, Verdict, VerdictReason } from "./guard.ts"
import { verdictSteps } from "./join-guards.ts"
import type { AttributeValue, Circumstances } from "./policy/condition.ts"
import { spentNames } from "./policy/schema.ts"
import { refuseGiven } from "./policy/template.ts"

export type JudgedCall = {
  readonly callId: string
  readonly tool: string
  readonly verdict: Verdict
  /** True if the verdict takes effect: not if the guard only observes, nor if the provider has already run the call. */
  readonly enforced: boolean
  /** True if a person approved the call, false if it needed approval and did not get it. */
  readonly approved?: boolean
  /** Text that replaces the result of a withheld call. */
  readonly result?: string
}

const unread = (why: string): VerdictReason => ({
  policy: "guard:unread",
  rule: "The call could not be read in full.",
  decision: "deny",
  instead: "Make the call smaller and plainer, or ask the user.",
  facts: { why: [why] },
})

/** Verdict on a call that needed approval and did not get it; the earlier reasons stay. */
export function unapproved(verdict: Verdict, why: string, note?: string): Verdict {
  const reason: VerdictReason = {
    policy: "guard:approval",
    rule: "The call needs approval.",
    decision: "deny",
    instead: note ?? "Ask the user to see to its approval, and go on with what needs none.",
    facts: { why: [why] },
  }
  return { ...verdict, decision: "deny", reasons: [...verdict.reasons, reason] }
}

export const nobodyToAsk = "there was nobody to ask"

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 300)

/** Verdict that denies a call which no guard could judge. */
export function unreadVerdict(tool: string, why: string): Verdict {
  return { decision: "deny", reasons: [unread(why)], facts: factsOf({ tool, input: undefined }), errors: [why] }
}

/** Judges a call found in a response. Never throws: a call that cannot be read, or a guard that fails, is a denial. */
export function* verdictOn(
  { tool, input, unread: why }: Omit<FoundCall, "callId" | "providerRun">,
  guard: Guard,
  { circumstances }: GuardUse,
): Steps<Verdict> {
  if (why !== undefined) return unreadVerdict(tool, why)
  try {
    return yield* verdictSteps(guard, { tool, input }, circumstances)
  } catch (error) {
    return unreadVerdict(tool, `the guard failed: ${messageOf(error)}`)
  }
}

/** Asks a person to approve a call, up to a timeout. Anything but a timely `true` is a denial with its reason. */
export async function approvedVerdict(
  call: ToolCall,
  verdict: Verdict,
  use: GuardUse,
  stop?: AbortSignal,
): Promise<Verdict | "approved"> {
  const no = (why: string): Verdict => unapproved(verdict, why)
  const { approve, askTimeoutMs = usualAskTimeoutMs } = use
  if (approve === undefined) return no(nobodyToAsk)
  const controller = new AbortController()
  const late = Promise.withResolvers<{ readonly why: string }>()
  const timer = setTimeout(() => late.resolve({ why: `nobody answered within ${askTimeoutMs} ms` }), askTimeoutMs)
  const stopped = (): void => late.resolve({ why: "the work was stopped" })
  stop?.addEventListener("abort", stopped, { once: true })
  if (stop?.aborted === true) stopped()
  try {
    const answer = Promise.resolve().then(() => approve(call, verdict, controller.signal))
    const said = await Promise.race([late.promise, answer])
    if (typeof said === "object")
      return "note" in said ? unapproved(verdict, "a person refused it", said.note) : no(said.why)
    return said === true ? "approved" : no("it was not approved")
  } catch (error) {
    return no(`asking failed: ${messageOf(error)}`)
  } finally {
    clearTimeout(timer)
    stop?.removeEventListener("abort", stopped)
    controller.abort()
  }
}

/** Combines a call and its verdict: a refused call gets a result text, unless it has already run or the guard only observes. */
export function judgedCall(
  { callId, tool, providerRun }: Pick<FoundCall, "callId" | "tool" | "providerRun">,
  verdict: Verdict,
  { mode }: GuardUse,
  approved?: boolean,
): JudgedCall {
  const enforced = mode !== "observe" && !providerRun
  const refused = verdict.decision !== "allow" && approved !== true
  const result = enforced && refused ? deniedResult(verdict) : undefined
  return { callId, tool, verdict, enforced, ...present({ approved, result }) }
}

/** Judges a call including a person's approval, which is not asked for a call that is only observed or has already run. */
export async function judgeCall(found: FoundCall, guard: Guard, use: GuardUse): Promise<JudgedCall> {
  const verdict = await runInSteps(verdictOn(found, guard, use), use.pause)
  if (verdict.decision !== "ask" || use.mode === "observe" || found.providerRun) return judgedCall(found, verdict, use)
  const said = await approvedVerdict({ tool: found.tool, input: found.input }, verdict, use)
  return said === "approved" ? judgedCall(found, verdict, use, true) : judgedCall(found, said, use, false)
}

/** Maximum number of values shown per attribute, and maximum length of each in characters: enough to see what it was about. */
const maxShown = 5
const maxValueLength = 64

/** Quotes a value from a call's arguments, reduced to the characters of names and addresses so that it cannot carry instructions. */
function quoted(value: string): string {
  const plain = value.slice(0, maxValueLength).replace(/[^\w.@:/~+*-]/g, "_")
  return `"${plain}${value.length > maxValueLength ? "..." : ""}"`
}

function shownValue(value: AttributeValue): string {
  if (typeof value !== "object") return typeof value === "string" ? quoted(value) : String(value)
  const shown = value.slice(0, maxShown).map(quoted).join(", ")
  return value.length > maxShown ? `${shown} and ${value.length - maxShown} more` : shown
}

/** Sanitizes a reason text, because it may contain the name of a program from the call. */
const plainWords = (text: string): string => text.slice(0, 200).replace(/[^\w .,:'-]/g, "_")

/** Puts a rule on one line: the operator wrote it, but it must not break the layout. */
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 1_000)

/** Labels of attributes for people; attributes without a label are left out. */
const factWords: Readonly<Record<string, string>> = {
  recipients: "recipient",
  recipientDomains: "recipient at",
  hosts: "host",
  paths: "file",
  changedPaths: "file",
  secretPaths: "secret file",
  sqlTargets: "table",
  sqlVerbs: "statement",
  commands: "program",
  environments: "environment",
  destructive: "takes away",
  spend: "hundredths",
  currencies: "currency",
  regions: "region",
  languages: "language",
  media: "by",
  rooms: "room",
  personal: "personal data",
  secrets: "secret",
  controlsOff: "switches off",
  tool: "tool",
}

/** Labels of the attributes that hold earlier spending. */
const spentWords: Readonly<Record<string, string>> = {
  spent: "spent before",
  agentSpent: "spent before by the agent",
  agentSpentToday: "spent today by the agent",
  tenantSpent: "spent before in all sessions",
  tenantSpentToday: "spent today in all sessions",
}

/** Describes in a few words what in a call a rule applied to; attributes only policies use are left out. */
function metWords({ facts }: VerdictReason): string {
  return Object.entries(facts)
    .flatMap(([name, value]) => {
      if (/^(?:within|outside|inside):/.test(name)) return [shownValue(value)]
      if (name === "spend" && typeof value === "number") return [`a sum of ${(value / 100).toFixed(2)}`]
      const before = spentWords[name]
      if (before !== undefined && typeof value === "number") return [`${(value / 100).toFixed(2)} ${before}`]
      const label = factWords[name]
      return label === undefined ? [] : [`${label} ${shownValue(value)}`]
    })
    .join(", ")
}

/** Explanations of the marks under which a call could not be read. */
const unreadWords: Readonly<Record<string, string>> = {
  "too-large": "it has more than 500,000 characters",
  "too-deep": "its values are nested too deeply",
  "too-many": "it has more values, commands or statements than are read, or more than 100,000 characters of SQL",
  unparsable: "a part of it is nothing that a tool can be given",
}

const whyIn = ({ facts: { why } }: VerdictReason): readonly string[] =>
  (typeof why === "object" ? why.slice(0, maxShown) : typeof why === "string" ? [why] : []).map(
    (word) => unreadWords[word] ?? plainWords(word),
  )

const unresolvedIn = ({ facts }: VerdictReason): readonly string[] =>
  typeof facts.unresolved === "object" ? facts.unresolved.map(plainWords) : []

/** Text that the model gets instead of the result of a denied call: the rule, what it applied to, what to do instead. */
export function deniedResult({ decision, reasons, facts }: Verdict): string {
  const tool = quoted(facts.tool)
  const first =
    decision === "ask"
      ? `The call of ${tool} was held back: it needs the approval of a person. It was not run.`
      : `The call of ${tool} was refused. It was not run; nothing was sent, read or changed by it.`
  const seen = new Set<string>()
  const lines = reasons.flatMap((reason) => {
    const { rule, instead } = reason
    const met = metWords(reason)
    const known = seen.has(rule)
    seen.add(rule)
    return [
      ...(known ? [] : [`Rule: ${oneLine(rule)}`]),
      ...(met === "" ? [] : [`What it met: ${met}`]),
      ...whyIn(reason).map((why) => `Why: ${why}.`),
      ...unresolvedIn(reason).map((why) => `The call may break it; that cannot be told: ${why}.`),
      ...(known || instead === undefined ? [] : [`Instead: ${oneLine(instead)}`]),
    ]
  })
  return [
    first,
    ...lines,
    "The rule holds however the call is written; do not try to reach the same by another way.",
  ].join("\n")
}

/**
 * Results for withheld calls, so that the model can continue: the next request contains the response as the model gave it, all calls
 * included, and then these beside the results of the calls that ran. `response` is the response before it was guarded.
 */
export function deniedResults(judged: readonly JudgedCall[], { messages }: ModelResponse): readonly ToolResultPart[] {
  const results = new Map(
    judged.flatMap(({ callId, result }) => (result === undefined ? [] : [[callId, result] as const])),
  )
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part): readonly ToolResultPart[] => {
      const text = part.type === "tool-call" && part.kind !== "provider" ? results.get(part.callId) : undefined
      if (text === undefined || part.type !== "tool-call") return []
      const { callId, kind, tool } = part
      return [{ type: "tool-result", callId, kind, tool, content: [{ type: "text", text }], failed: true }]
    }),
  )
}

/** Whose words a rule is, by the channel that it was stated in. */
const ownerWords: Readonly<Record<Channel, string>> = {
  operator: "the operator's",
  system: "the system prompt's",
  user: "the user's",
  assistant: "the model's",
  memory: "a memory's",
  document: "a document's",
  tool: "a tool result's",
}

const ownerOf = ({ policy, speaker = "operator" }: VerdictReason): string =>
  /^(?:guard|holdfast):/.test(policy) ? "Holdfast's own" : ownerWords[speaker]

/**
 * Text that replaces a withheld call, for the user and, when the message comes back, for the model: the rule, whose it is, and what to do.
 */
export function withheldText({ verdict, tool: called }: JudgedCall): string {
  const { reasons, facts } = verdict
  const tool = quoted(called === "" ? facts.tool : called)
  const reason = reasons.find(({ decision }) => decision === "deny") ?? reasons[0]
  const approval = reasons.find(({ policy }) => policy === "guard:approval")
  const main = reasons.find(({ policy }) => policy !== "guard:approval") ?? reason
  if (main === undefined) return `[Withheld by policy: ${tool} was not run.]`
  const met = metWords(main)
  const open = unresolvedIn(main)[0]
  const why = [
    ...(open === undefined ? [] : [`it cannot be told whether the call keeps it, because ${open}`]),
    ...(main === approval ? [] : whyIn(main)),
    ...(met === "" ? [] : [`the call has ${met}`]),
    ...(approval === undefined ? [] : [`it needs a person's approval, and ${plainWords(String(approval.facts.why))}`]),
  ]
  const said = `${tool} was not run, by ${ownerOf(main)} rule: ${oneLine(main.rule).replace(/[.!]$/, "")}`
  const next = approval?.instead ?? main.instead
  return `[Withheld by policy: ${said}${why.length === 0 ? "" : ` (${why.join("; ")})`}.${next === undefined ? "" : ` ${oneLine(next)}`}]`
}

/** Largest amount in a purchase call, in hundredths; 0 for any other call. */
export function costOf({ facts }: Pick<Verdict, "facts">): number {
  if (!facts.actions.has("purchase")) return 0
  return facts.amounts.reduce((most, { minor }) => Math.max(most, minor), 0)
}

/** Hundredths spent by the calls that were let through. */
export const spentWith = (judged: readonly JudgedCall[]): number =>
  judged.reduce((sum, { verdict, result }) => sum + (result === undefined ? costOf(verdict) : 0), 0)

/** Adds `minor` to what was already spent, so that the calls of one response share one limit. */
export function withSpent(use: GuardUse, minor: number): GuardUse {
  if (minor === 0) return use
  const { spentMinor = 0, spentByMinor = {}, ...rest } = use.circumstances ?? {}
  const more = Object.fromEntries(
    spentNames.flatMap((name) => (name === "spent" ? [] : [[name, (spentByMinor[name] ?? 0) + minor]])),
  )
  return { ...use, circumstances: { ...rest, spentMinor: spentMinor + minor, spentByMinor: more } }
}

/** A person's refusal with a note on what the agent should do instead. */
export type RefusedWithNote = { readonly note: string }

/** Asks a person about a call that needs approval. Anything but `true` in time is a refusal. */
export type Approve = (
  call: ToolCall,
  verdict: Verdict,
  signal: AbortSignal,
) => Promise<boolean | RefusedWithNote> | boolean | RefusedWithNote

/** How a guard is applied to the calls of a response. */
export type GuardUse = {
  /** `enforce` (the default) withholds refused calls; `observe` changes nothing and only reports what would have happened. */
  readonly mode?: "enforce" | "observe"
  /** Without it, a call that needs approval is refused. */
  readonly approve?: Approve
  readonly askTimeoutMs?: number
  readonly circumstances?: Circumstances
  /** Called between the steps of judging a large call, so that a server can handle other requests meanwhile. */
  readonly pause?: () => Promise<void> | undefined
}

/** A guard with how it is used, as the value of another function's option. */
export type Guarding = GuardUse & { readonly guard: Guard }

/** A session's `guard` option may be passed on unchanged, so its names are accepted here; only sessions use `fromRules`. */
const guardingNames = optionNames<Guarding & { readonly onJudged?: unknown; readonly fromRules?: unknown }>()(
  "guard mode approve askTimeoutMs circumstances pause onJudged fromRules",
)

/** Throws for unknown names in an option `guard`, or in the options of a function of the guard itself. */
export const checkGuardNames = (guarding: Partial<Guarding>, owner: string, within?: "guard"): void =>
  checkOptionNames(guarding, guardingNames, owner, within)

/** Default time for a person to approve a call: two minutes, about as long as clients keep a silent connection open. */
export const usualAskTimeoutMs = 120_000

/** Longest delay that a timer accepts (2^31 - 1 ms). */
const longestMs = 2_147_483_647

/** Throws for invalid values: a misspelled mode must not let calls through. */
export function checkGuardUse({ mode, approve, askTimeoutMs }: GuardUse, prefix = ""): void {
  const wrong = (option: string, expected: string, found: unknown): never =>
    refuseGiven(`${prefix}${option}`, expected, found)
  if (mode !== undefined && mode !== "enforce" && mode !== "observe") wrong("mode", "enforce or observe", mode)
  if (approve !== undefined && typeof approve !== "function") wrong("approve", "a function", approve)
  const sound = Number.isSafeInteger(askTimeoutMs) && Number(askTimeoutMs) >= 1 && Number(askTimeoutMs) <= longestMs
  if (askTimeoutMs !== undefined && !sound) wrong("askTimeoutMs", `a whole number from 1 to ${longestMs}`, askTimeoutMs)
}
