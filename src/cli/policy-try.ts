import { stat } from "node:fs/promises"
import { basename, resolve } from "node:path"
import { callsInText } from "../guard/calls-in-text.ts"
import { createGuard, type Guard, type VerdictReason } from "../guard/guard.ts"
import { costOf, judgedCall, withheldText } from "../guard/judge-call.ts"
import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import { readPolicyFile } from "../guard/operator/rule-file.ts"
import type { TemplateUse } from "../guard/policy/templates.ts"
import type { Message } from "../message/message.ts"
import type { ExplainedRule } from "../session/rules/rule-guard.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { askStore, findSession, openSession, sessionsNamed, storeOptions } from "./ask-store.ts"
import { type Arguments, type Command, type CommandAnswer, needed, readCount, unusable } from "./command.ts"
import { writeNew } from "./deliver.ts"
import { readInput } from "./read-input.ts"
import { clip, count, number, type Paper, right, sentenceOf, table } from "./terminal/output.ts"
import type { World } from "./world.ts"

/** Default number of days whose sessions are replayed. */
const defaultDays = 7
const maxDays = 3650
/** Limit on the calls that are listed; --json has all. */
const maxListed = 30
/** Number of log entries read at a time. */
const pageEntries = 500

export const policyTry: Command = {
  options: {
    sessions: { value: "ID,ID…", help: "only these, by their ids or the beginnings of them" },
    days: { value: "N", help: `sessions of the last so many days; ${defaultDays} unless given` },
    ...storeOptions,
  },
  maxPositionals: 1,
  run: async (args, world) => {
    const next = "Write: holdfast policy try FILE, or a policy directory."
    const path = needed(args.positionals[0], "which policies to try", next)
    const days = readCount("--days", args.valueOf("days"), { least: 1, most: maxDays }) ?? defaultDays
    const guard = await readGuard(path, world)
    return askStore(args, world, async ({ store }) => {
      const rows = await chosenSessions(store, args, world.dateMs() - days * 86_400_000)
      const tried: TriedCall[] = []
      let calls = 0
      for (const row of rows) calls += await trySession(store, row, guard, (one) => tried.push(one))
      return {
        json: {
          sessions: rows.length,
          calls,
          denied: countOf(tried, "deny"),
          asked: countOf(tried, "ask"),
          stopped: tried,
        },
        text: (paper) => report({ sessions: rows.length, calls, tried }, paper),
      }
    })
  },
}

async function readGuard(path: string, world: World): Promise<Guard> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() === true) {
    const { standing } = await inspectOperator({ directory: resolve(path), now: world.dateMs })
    return standing.guard ?? unusable("policy-invalid", `${path} has no policy.`, "Rules in words alone stop no call.")
  }
  const input = await readInput(path, world, "policies in Cedar, or uses of templates as JSON")
  const isCedar = path.endsWith(".cedar") || !/^\s*[[{]/.test(input.text)
  return createGuard(readPolicyFile(isCedar ? `${basename(path, ".cedar")}.cedar` : basename(path), input.text))
}

async function chosenSessions(store: Store, args: Arguments, sinceMs: number): Promise<readonly SessionRow[]> {
  const named = args.valueOf("sessions")
  if (named === undefined) return (await store.sessions()).filter(({ updatedMs }) => updatedMs >= sinceMs)
  const ids = named.split(",").map((one) => one.trim())
  return await Promise.all(ids.map((id) => findSession(store, id)))
}

/** A call that would have been denied or asked about. */
type TriedCall = {
  readonly session: string
  readonly entry: string
  readonly tool: string
  readonly decision: "deny" | "ask"
  readonly policies: readonly { readonly policy: string; readonly rule: string }[]
  /** The text that would have replaced the call at the client. */
  readonly words: string
}

/** Judges the calls of a session in the order in which they were made; returns their number. */
async function trySession(
  store: Store,
  row: SessionRow,
  guard: Guard,
  found: (call: TriedCall) => void,
): Promise<number> {
  const session = openSession(store, row)
  let calls = 0
  let spentMinor = 0
  for (let from = 1; from <= row.head.seq; from += pageEntries) {
    for (const { id, message } of await session.history({ from, limit: pageEntries })) {
      for (const call of message === undefined ? [] : callsOfMessage(message)) {
        calls++
        const verdict = guard.judge(call, { agent: row.agent, sessions: [row.id], spentMinor })
        const reasons = [...verdict.reasons, ...(verdict.observed ?? [])]
        if (reasons.length === 0) spentMinor += costOf(verdict)
        else found(triedCall({ session: row.id, entry: id, tool: call.tool }, { ...verdict, reasons }))
      }
    }
  }
  return calls
}

const callsOfMessage = ({ role, parts }: Message): readonly { readonly tool: string; readonly input: unknown }[] =>
  role !== "assistant"
    ? []
    : parts.flatMap((part) =>
        part.type === "tool-call"
          ? [{ tool: part.tool, input: part.input }]
          : part.type === "text"
            ? callsInText(part.text).map(({ tool, input }) => ({ tool, input }))
            : [],
      )

function triedCall(
  place: Pick<TriedCall, "session" | "entry" | "tool">,
  verdict: ReturnType<Guard["judge"]> & { readonly reasons: readonly VerdictReason[] },
): TriedCall {
  const decision = verdict.reasons.some((reason) => reason.decision === "deny") ? "deny" : "ask"
  const policies = [...new Map(verdict.reasons.map(({ policy, rule }) => [policy, { policy, rule }])).values()]
  const judged = judgedCall({ callId: "", tool: place.tool, providerRun: false }, { ...verdict, decision }, {})
  return { ...place, decision, policies, words: withheldText(judged) }
}

const countOf = (tried: readonly TriedCall[], decision: TriedCall["decision"]): number =>
  tried.filter((one) => one.decision === decision).length

type TrialResult = { readonly sessions: number; readonly calls: number; readonly tried: readonly TriedCall[] }

function report({ sessions, calls, tried }: TrialResult, paper: Paper): readonly string[] {
  const [denied, asked] = [countOf(tried, "deny"), countOf(tried, "ask")]
  const head = `${count(calls, "call")} in ${count(sessions, "session")}: ${number(calls - tried.length)} let through, ${number(asked)} asked about, ${number(denied)} denied.`
  if (tried.length === 0) return [head]
  const policies = Map.groupBy(
    tried.flatMap(({ policies: list, decision }) => list.map((one) => ({ ...one, decision }))),
    ({ policy }) => policy,
  )
  const rows = [...policies].map(([policy, list]) => [
    policy,
    String(list.filter(({ decision }) => decision === "deny").length),
    String(list.filter(({ decision }) => decision === "ask").length),
    list[0]?.rule ?? "",
  ])
  const shown = tried.slice(0, maxListed)
  return [
    head,
    "",
    ...table(policyColumns, rows, paper),
    "",
    ...table(
      callColumns,
      shown.map(({ session, entry, tool, words }) => [session, entry, tool, clip(words, 400)]),
      paper,
    ),
    ...(tried.length > shown.length
      ? [paper.dim(`${number(tried.length - shown.length)} more; --json tells all.`)]
      : []),
  ]
}

const policyColumns = ["POLICY", right("DENIED"), right("ASKED"), "RULE"] as const
const callColumns = ["SESSION", "ENTRY", "TOOL", "WHY"] as const

/** Limit on the sessions whose rules are read if none is named: the newest. */
const maxSessions = 200

/** The policy that a rule compiles to, or why it compiles to none. */
type Suggestion =
  | { readonly rule: string; readonly use: TemplateUse; readonly confidence: number; readonly from: string }
  | { readonly rule: string; readonly why: string; readonly from: string }

export const policySuggest: Command = {
  options: {
    out: { value: "FILE", help: "write them there, as a .json file of a policy directory; to stdout unless given" },
    ...storeOptions,
  },
  maxPositionals: 1,
  run: (args, world) =>
    askStore(args, world, async ({ store }) => {
      const rows = await sessionsNamed(store, args.positionals[0], { limit: maxSessions })
      const found = await suggestionsOf(store, rows)
      const out = args.valueOf("out")
      const policies = found.flatMap((one) =>
        "use" in one ? [{ ...one.use, from: one.from, confidence: one.confidence }] : [],
      )
      if (out !== undefined) await writeNew(out, `${JSON.stringify(policies, undefined, 2)}\n`, 0o600)
      return answerOf(found, policies, out)
    }),
}

/** The suggestions for all rules, each text once, with the sessions that have it. */
async function suggestionsOf(store: Store, rows: readonly SessionRow[]): Promise<readonly Suggestion[]> {
  const byRule = new Map<string, { readonly rule: ExplainedRule; readonly sessions: string[] }>()
  for (const row of rows)
    for (const rule of await openSession(store, row).rules()) {
      const known = byRule.get(rule.text)
      if (known === undefined) byRule.set(rule.text, { rule, sessions: [row.id] })
      else known.sessions.push(row.id)
    }
  return [...byRule.values()].map(({ rule: { text, speaker, policy }, sessions }): Suggestion => {
    const more = sessions.length > 1 ? ` and ${sessions.length - 1} more` : ""
    const from = `${speaker}, session ${sessions[0]}${more}`
    return "none" in policy
      ? { rule: text, why: policy.none, from }
      : { rule: text, use: { ...policy.policy, speaker }, confidence: policy.confidence, from }
  })
}

function answerOf(found: readonly Suggestion[], policies: readonly object[], out: string | undefined): CommandAnswer {
  const none = found.flatMap((one) => ("why" in one ? [one] : []))
  const where = out === undefined ? "" : ` in ${sentenceOf(out)}`
  return {
    json: { policies, none, ...(out === undefined ? {} : { file: out }) },
    text: (paper) => [
      ...(out === undefined ? [JSON.stringify(policies, undefined, 2)] : []),
      `${count(policies.length, "policy", "policies")}${where} from ${count(found.length, "rule")}. Nothing is in force: read them, then move the file into the policy directory.`,
      ...none.map(({ rule, why }) => paper.dim(`No policy: ${sentenceOf(clip(rule, 100))} (${sentenceOf(why)})`)),
    ],
  }
}
