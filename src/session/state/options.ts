import type { PlanReason } from "../../compact/plan/plan.ts"
import { type FromRules, fromRulesNames } from "../../guard/from-rules/compile-rules.ts"
import { checkGuardNames, checkGuardUse, type Guarding } from "../../guard/judge-call.ts"
import type { Standing } from "../../guard/operator/rule-file.ts"
import { refuseValue } from "../../message/errors.ts"
import type { Format } from "../../message/message.ts"
import { checkName, checkOptionNames, optionNames } from "../../message/option-names.ts"
import type { Words } from "../../message/present.ts"
import type { RuleFinder } from "../../rules/find-rules.ts"
import type { Queue } from "../../store/queue/queue.ts"
import type { Store } from "../../store/store.ts"
import type { Caller } from "../log/entry.ts"
import type { Redaction } from "../log/redact.ts"
import type { MemoryLimits } from "../memory/memory.ts"
import { type CompactOptions, checkNestedNames, checkOptions } from "../one-shot/options.ts"
import { checkStackOption, type StackOption } from "../stack/stack-options.ts"

/** Compaction options of sessions: those of `compactRequest` that do not belong to a single request. */
type ContextOptions = Pick<
  CompactOptions,
  Words<"windowTokens reserveTokens strategy strategyOptions summarizer schema language policy toolBudgets">
>

export type MemoryOptions = Partial<MemoryLimits> & {
  /** Write facts to memory before they are compacted. */
  readonly flush?: boolean
  /** Insert memory about the user's latest message before it. Off by default. */
  readonly retrieve?: { readonly budgetTokens: number; readonly trustedOnly?: boolean }
}

/** The sources that are searched for standing rules. Pinned rules always hold. */
export type FindFrom = "user" | "instructions" | "all" | "off"

type RulesOptions = {
  /** `all` by default. */
  readonly find?: FindFrom
}

/** A guard of sessions, and the mode of policies that are made from the rules of a session. */
type SessionGuard = Partial<Guarding> & {
  /**
   * The mode of policies made from a session's rules, found or pinned, as far as they compile: `observe` logs what they would have decided,
   * `ask` asks a person, `enforce` denies. `observe` by default.
   */
  readonly fromRules?: FromRules
}

/** A compaction that is about to begin. `mustFit`: the context does not fit the window otherwise, so it cannot be cancelled. */
export type CompactionAhead = {
  readonly session: string
  readonly contextTokens: number
  readonly targetTokens: number
  readonly reasons: readonly PlanReason[]
  readonly mustFit: boolean
  readonly focus?: string
}

/** A compaction that passed its acceptance test and is not in force yet. */
export type CompactionReady = {
  readonly session: string
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly droppedMessages: number
  readonly digest?: string
  readonly mustFit: boolean
}

export type CompactionDone = Omit<CompactionReady, "mustFit"> & { readonly checkpoint: string }

/** The hook's decision: continue, cancel, set a focus, or use this text as the summary. */
export type BeforeCompact = { readonly cancel?: boolean; readonly focus?: string; readonly summary?: string }
export type BeforeInstall = { readonly veto?: boolean }

type Answer<Value> = Value | undefined | Promise<Value | undefined>

/** User functions that influence compactions. A hook that throws or takes too long is ignored, and the trace says so. */
export type Hooks = {
  readonly beforeCompact?: (ahead: CompactionAhead) => Answer<BeforeCompact>
  readonly beforeInstall?: (ready: CompactionReady) => Answer<BeforeInstall>
  readonly afterCompact?: (done: CompactionDone) => void | Promise<void>
}

export type HoldfastOptions = ContextOptions & {
  /** Where sessions are stored: a store, `memory`, a file (SQLite), or a `postgres://` address. A file in `.holdfast` by default. */
  readonly store?: Store | string
  /** The queue for background work; by default in this process, or in PostgreSQL if the store is there. */
  readonly queue?: Queue
  /** The agent; sessions of one agent share their memory. */
  readonly agent?: string
  /** The wire format and model of calls that do not state them. */
  readonly format?: Format
  readonly model?: string
  /** The prompt stack: sections and documents that follow the system part of every call, and are never in the conversation. */
  readonly stack?: StackOption
  /** The operator's rules, which are in the system part of every call: no message in a session can change them. */
  readonly pins?: readonly string[]
  /** The operator's rules and policies from files and signed commands. */
  readonly operator?: { readonly standing: () => Standing; readonly refresh: () => Promise<Standing> }
  /** Judges the tool calls of responses beside the operator's policies, which are enforced even if this one only observes. */
  readonly guard?: SessionGuard
  /** Whose messages are searched for standing rules. */
  readonly rules?: RulesOptions
  /** What finds rules in messages: the built-in finder, a function or model in addition to it, or nothing. */
  readonly finder?: "built-in" | "none" | RuleFinder
  /** How long a turn may wait for a summary that is not ready. No wait by default. */
  readonly maxWaitMs?: number
  /** How long a summarizer may take in the background. */
  readonly summarizerMs?: number
  /** Concurrent background summaries in this process; 0 for none. */
  readonly speculations?: number
  readonly memory?: MemoryOptions
  /** Add recall handles where text is shortened, for a model that can use them: by the MCP server or a tool that calls `recall`. */
  readonly recall?: boolean
  /** Patterns of text that must never be written to the store; `defaults` stands for well-known secrets. */
  readonly redact?: readonly (RegExp | Redaction | "defaults")[]
  readonly hooks?: Hooks
  readonly now?: () => number
  /** Limit on sessions in memory; the least recently used is closed first, and large ones earlier. */
  readonly openSessions?: number
  /** Limit on entries kept in memory while the store is unavailable. */
  readonly unsavedEntries?: number
}

const holdfastNames = optionNames<HoldfastOptions>()(
  "store queue agent format model windowTokens reserveTokens strategy strategyOptions summarizer schema language policy toolBudgets stack pins operator guard rules finder maxWaitMs summarizerMs speculations memory recall redact hooks now openSessions unsavedEntries",
)
const memoryNames = optionNames<MemoryOptions>()("flush retrieve sessionRowsPerDay agentRowsPerDay")
const retrieveNames = optionNames<NonNullable<MemoryOptions["retrieve"]>>()("budgetTokens trustedOnly")
const findNames: readonly FindFrom[] = ["user", "instructions", "all", "off"]
const rulesNames = optionNames<RulesOptions>()("find")
const hookNames = optionNames<Hooks>()("beforeCompact beforeInstall afterCompact")

function checkHoldfastNames(options: HoldfastOptions): void {
  const owner = "createHoldfast"
  checkOptionNames(options, holdfastNames, owner)
  checkNestedNames(options, owner)
  const { memory, hooks, guard, stack } = options
  if (stack !== undefined) checkStackOption(stack, owner)
  if (memory !== undefined) checkOptionNames(memory, memoryNames, owner, "memory")
  if (memory?.retrieve !== undefined) checkOptionNames(memory.retrieve, retrieveNames, owner, "memory.retrieve")
  if (hooks !== undefined) checkOptionNames(hooks, hookNames, owner, "hooks")
  if (guard !== undefined) checkGuardNames(guard, owner, "guard")
  if (options.rules !== undefined) checkOptionNames(options.rules, rulesNames, owner, "rules")
}

/** Refuses a value that is not a whole number, or is less than the minimum given for its name. */
export function checkNumbers(values: object, least: Readonly<Record<string, number>>, within = ""): void {
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && least[name] !== undefined && !(Number.isSafeInteger(value) && value >= least[name]))
      refuseValue(`${within}${name}`, `a whole number, at least ${least[name]}`, value)
}

const minOfHoldfast = { maxWaitMs: 0, summarizerMs: 0, speculations: 0, openSessions: 0, unsavedEntries: 0 }

/** Refuses invalid options, before anything is opened. */
export function checkHoldfastOptions(options: HoldfastOptions): void {
  checkHoldfastNames(options)
  checkNumbers(options, minOfHoldfast)
  checkOptions({ ...options, format: options.format ?? "openai-chat" })
  checkNumbers(options.memory ?? {}, { sessionRowsPerDay: 0, agentRowsPerDay: 0 }, "memory.")
  if (options.agent !== undefined && (typeof options.agent !== "string" || options.agent === ""))
    refuseValue("agent", "a name", options.agent)
  if (options.guard !== undefined) {
    const { guard, fromRules } = options.guard
    if (typeof guard?.judge !== "function" && (guard !== undefined || fromRules === undefined))
      refuseValue("guard", "{ guard } with a guard from createGuard, or { fromRules }", options.guard)
    if (fromRules !== undefined && !fromRulesNames.includes(fromRules))
      refuseValue("guard.fromRules", `one of ${fromRulesNames.join(", ")}`, fromRules)
    checkGuardUse(options.guard, "guard.")
  }
  const find = options.rules?.find
  if (find !== undefined && !findNames.includes(find)) refuseValue("rules.find", `one of ${findNames.join(", ")}`, find)
  const { finder = "none" } = options
  if (finder !== "built-in" && finder !== "none" && typeof finder !== "function")
    refuseValue("finder", "built-in, none or a function", finder)
  for (const rule of options.redact ?? []) {
    if (rule === "defaults") continue
    const pattern = rule instanceof RegExp ? rule : rule.pattern
    if (!(pattern instanceof RegExp)) refuseValue("redact", "regular expressions, or defaults", rule)
  }
}

export const usualAgent = "default"

/**
 * The owner of a session; by default the agent of the options and no tenant (the empty one). `within` names the conversations that it is
 * part of, as a subagent's session is: the rules that the user stated there hold in it too.
 */
export type SessionOwner = {
  readonly tenant?: string
  readonly agent?: string
  readonly within?: string | readonly string[]
  /** The calling program; stored with the session if this call creates it. */
  readonly caller?: Caller
}

const ownerNames = optionNames<SessionOwner>()("tenant agent within caller")

export function checkSessionOwner(owner: SessionOwner): void {
  checkOptionNames(owner, ownerNames, "session")
  const { tenant = "", agent, within = [] } = owner
  for (const id of [within].flat()) checkSessionId(id)
  if (tenant !== "") checkName("tenant", tenant)
  if (agent !== undefined) checkName("agent", agent)
}

/** Refuses an invalid session id. An id has readable characters that fit into a database column and a URL. */
export function checkSessionId(id: unknown): asserts id is string {
  if (typeof id !== "string" || !/^[\x21-\x7e\u00a0-\ud7ff]{1,200}$/.test(id))
    refuseValue("session", "a name of 1 to 200 characters without blanks", id)
}
