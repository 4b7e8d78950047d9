import type { ModelResponse, ToolResultPart } from "../message/message.ts"
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
  /** The verdict was given effect: not where the guard only observes, nor where the provider has run the call already. */
  readonly enforced: boolean
  /** A person was asked, and said so. */
  readonly approved?: boolean
  /** What stands for the result of a call that was withheld. */
  readonly result?: string
}

const unread = (why: string): VerdictReason => ({
  policy: "guard:unread",
  rule: "The call could not be read in full.",
  decision: "deny",
  instead: "Make the call smaller and plainer, or ask the user.",
  facts: { why: [why] },
})

/** The call needed the approval of a person and did not get it; what was found before stays. */
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

/** The verdict on a call that no guard was asked about. */
export function unreadVerdict(tool: string, why: string): Verdict {
  return { decision: "deny", reasons: [unread(why)], facts: factsOf({ tool, input: undefined }), errors: [why] }
}

/** Judge a call that was found. Never throws: what cannot be read, and a guard that fails, is a refusal. */
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

/** Ask a person, for a while. Anything but a clear and timely yes is a refusal that says what it was. */
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

/** A call and its verdict, put together: what is refused has its result, unless it cannot be prevented or nobody means to. */
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

/** Judge a call to the end, a person's word included. A call that is only observed or has run already is no one's to approve. */
export async function judgeCall(found: FoundCall, guard: Guard, use: GuardUse): Promise<JudgedCall> {
  const verdict = await runInSteps(verdictOn(found, guard, use), use.pause)
  if (verdict.decision !== "ask" || use.mode === "observe" || found.providerRun) return judgedCall(found, verdict, use)
  const said = await approvedVerdict({ tool: found.tool, input: found.input }, verdict, use)
  return said === "approved" ? judgedCall(found, verdict, use, true) : judgedCall(found, said, use, false)
}

/** Values of one kind that are shown, and characters of each: enough to see what it was about. */
const maxShown = 5
const maxValueLength = 64

/** A value out of a call's arguments with nothing in it that could speak: plain signs of names and addresses, in quotes. */
function quoted(value: string): string {
  const plain = value.slice(0, maxValueLength).replace(/[^\w.@:/~+*-]/g, "_")
  return `"${plain}${value.length > maxValueLength ? "..." : ""}"`
}

function shownValue(value: AttributeValue): string {
  if (typeof value !== "object") return typeof value === "string" ? quoted(value) : String(value)
  const shown = value.slice(0, maxShown).map(quoted).join(", ")
  return value.length > maxShown ? `${shown} and ${value.length - maxShown} more` : shown
}

/** A reason of ours, in which the name of a program of the call may stand. */
const plainWords = (text: string): string => text.slice(0, 200).replace(/[^\w .,:'-]/g, "_")

/** Rules are written by the operator; still, each stays on its line. */
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 1_000)

/** What a policy asked about, in words for people; what is not here is of no use to them. */
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

/** How sums that were spent before are told. */
const spentWords: Readonly<Record<string, string>> = {
  spent: "spent before",
  agentSpent: "spent before by the agent",
  agentSpentToday: "spent today by the agent",
  tenantSpent: "spent before in all sessions",
  tenantSpentToday: "spent today in all sessions",
}

/** What of a call a rule met, in a few plain words; names that only policies use are left out. */
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

/** Why a call could not be read or judged, in words for people. */
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

/** What the model gets in place of a result when a call was not let through: the rule, what it met, what to do instead. */
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
 * Results for the calls that were withheld, so that the model can go on: the next request has the answer as the model gave it, all
 * calls included, and then these beside the results of the calls that ran. `response` is the answer before it was guarded.
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

/** Whose a rule is, by the id of its policy. One that was made from a rule in words has the mark of whose words they are. */
const ownerOf = (policy: string): string =>
  /^(?:guard|holdfast):/.test(policy) ? "Holdfast's own" : policy.startsWith("rule:") ? "the user's" : "the operator's"

/** What the user sees, and the model when the message comes back, in the place of a withheld call: the rule, whose it is, and what to do. */
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
  const said = `${tool} was not run, by ${ownerOf(main.policy)} rule: ${oneLine(main.rule).replace(/[.!]$/, "")}`
  const next = approval?.instead ?? main.instead
  return `[Withheld by policy: ${said}${why.length === 0 ? "" : ` (${why.join("; ")})`}.${next === undefined ? "" : ` ${oneLine(next)}`}]`
}

/** The largest sum that a purchase names, in hundredths; any other call spends nothing. */
export function costOf({ facts }: Pick<Verdict, "facts">): number {
  if (!facts.actions.has("purchase")) return 0
  return facts.amounts.reduce((most, { minor }) => Math.max(most, minor), 0)
}

/** Hundredths that calls spend: those that were let through. */
export const spentWith = (judged: readonly JudgedCall[]): number =>
  judged.reduce((sum, { verdict, result }) => sum + (result === undefined ? costOf(verdict) : 0), 0)

/** The same use with so much more spent: calls of one answer cannot each have the whole of a limit. */
export function withSpent(use: GuardUse, minor: number): GuardUse {
  if (minor === 0) return use
  const { spentMinor = 0, spentByMinor = {}, ...rest } = use.circumstances ?? {}
  const more = Object.fromEntries(
    spentNames.flatMap((name) => (name === "spent" ? [] : [[name, (spentByMinor[name] ?? 0) + minor]])),
  )
  return { ...use, circumstances: { ...rest, spentMinor: spentMinor + minor, spentByMinor: more } }
}

/** A person's no, with what the agent should do instead. */
export type RefusedWithNote = { readonly note: string }

/** Who decides on a call that a policy wants a person to see. Whatever is not `true`, in time, is a no. */
export type Approve = (
  call: ToolCall,
  verdict: Verdict,
  signal: AbortSignal,
) => Promise<boolean | RefusedWithNote> | boolean | RefusedWithNote

/** How a guard is put to use on the calls of an answer. */
export type GuardUse = {
  /** `enforce` withholds what is refused; `observe` changes nothing and only says what would have happened. The first unless given. */
  readonly mode?: "enforce" | "observe"
  /** Without it, a call that needs approval is refused. */
  readonly approve?: Approve
  readonly askTimeoutMs?: number
  readonly circumstances?: Circumstances
  /** Called between the steps of judging a large call: whoever serves others at the same time waits a moment here. */
  readonly pause?: () => Promise<void> | undefined
}

/** A guard together with how it is used, for an option of someone else's. */
export type Guarding = GuardUse & { readonly guard: Guard }

/** What a session says of its own guard may be passed on as it is; `fromRules` is an option of sessions alone. */
const guardingNames = optionNames<Guarding & { readonly onJudged?: unknown; readonly fromRules?: unknown }>()(
  "guard mode approve askTimeoutMs circumstances pause onJudged fromRules",
)

/** Refuse names that are none of ours in somebody's option `guard`, or in the options of a function of the guard itself. */
export const checkGuardNames = (guarding: Partial<Guarding>, owner: string, within?: "guard"): void =>
  checkOptionNames(guarding, guardingNames, owner, within)

/** How long a person has to approve a call: some minutes, which is about as long as clients keep a silent connection. */
export const usualAskTimeoutMs = 120_000

/** The longest wait that a timer takes (2^31 - 1 ms). */
const longestMs = 2_147_483_647

/** Refuse what cannot be meant: a mode with a typing error must not become one that lets through. */
export function checkGuardUse({ mode, approve, askTimeoutMs }: GuardUse, prefix = ""): void {
  const wrong = (option: string, expected: string, found: unknown): never =>
    refuseGiven(`${prefix}${option}`, expected, found)
  if (mode !== undefined && mode !== "enforce" && mode !== "observe") wrong("mode", "enforce or observe", mode)
  if (approve !== undefined && typeof approve !== "function") wrong("approve", "a function", approve)
  const sound = Number.isSafeInteger(askTimeoutMs) && Number(askTimeoutMs) >= 1 && Number(askTimeoutMs) <= longestMs
  if (askTimeoutMs !== undefined && !sound) wrong("askTimeoutMs", `a whole number from 1 to ${longestMs}`, askTimeoutMs)
}
