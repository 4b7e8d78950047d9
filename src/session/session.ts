import { HoldfastError, ignoreProblem } from "../message/errors.ts"
import type { Format, ModelRequest, Usage } from "../message/message.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import type { Head, MemoryHit } from "../store/store.ts"
import type { FilledBody, RequestBody } from "../wire/request-body.ts"
import { type MessageLike, readMessagesLike } from "./history/frame.ts"
import { appendMessages } from "./history/ingest.ts"
import { requireLog } from "./history/open-call.ts"
import type { Prepared, PrepareOptions, Receipt } from "./history/prepared.ts"
import { readInForce } from "./history/session-stack.ts"
import {
  type Explanation,
  explain,
  type HistoryEntry,
  type HistoryRange,
  history,
  type Overview,
  overview,
} from "./inspect.ts"
import { verifyLog } from "./log/chain.ts"
import { entryId, seqOf } from "./log/entry.ts"
import type { Trace } from "./log/event.ts"
import type { ResponseLike } from "./log/read-response.ts"
import type { MemorySearch } from "./memory/memory.ts"
import { durability, prepare } from "./prepare.ts"
import { type LineRange, type Recalled, recall } from "./recall.ts"
import {
  guardingOf,
  type JudgedResponse,
  judgeResponse,
  type Recorded,
  type RecordOptions,
  recordResponse,
  reportUsage,
  type SessionGuarding,
  type UsageReport,
} from "./record.ts"
import { demote, knownPins, type PinOptions, pin, pins, type SessionPin, unpin } from "./rules/pins.ts"
import { type ExplainedRule, explainRule } from "./rules/rule-guard.ts"
import { type SummaryCall, takeSummaryCall } from "./session-summary.ts"
import type { StackInForce } from "./stack/stack-options.ts"
import type { Listener } from "./state/events.ts"
import { type Live, loadSession } from "./state/live.ts"
import { checkSessionId } from "./state/options.ts"

/** The prompt stack of a session: `stack` is the text that is sent, `source` the same sections before any were shortened. */
export type SessionStack = Pick<StackInForce, "stack" | "source">

/** The entries written. `durable` means that the store has them; otherwise they are in memory and are written when the store is back. */
export type Acknowledged = { readonly entries: readonly string[]; readonly durable: boolean; readonly trace: Trace }

/** The result of a requested compaction. `checkpoint` is missing if there was nothing new since the last one. */
export type CompactionResult = { readonly checkpoint?: string; readonly trace: Trace; readonly receipt: Receipt }

type CompactRequest = Omit<PrepareOptions, "occasion">

/** Options without a request body: the session writes the body, in the given format. */
type UnfilledOptions<Of extends Format, GivenTool, Streamed extends boolean> = PrepareOptions & {
  readonly body?: never
  readonly format: Of
  readonly tools?: readonly GivenTool[]
  readonly stream?: Streamed
}

/** Prepares the next model call. The type of the resulting body is that of the given body, or follows from the format. */
export type Prepare = ReturnType<typeof createPrepare>

function createPrepare(prepareWith: (options: PrepareOptions) => Promise<Prepared>) {
  function prepareNext(
    options: PrepareOptions & ({ readonly body: string } | { readonly request: ModelRequest }),
  ): Promise<Prepared<string>>
  function prepareNext<Body extends object, Of extends Format>(
    options: PrepareOptions & { readonly body: Body; readonly format: Of },
  ): Promise<Prepared<FilledBody<Body, Of>>>
  function prepareNext<Of extends Format, GivenTool = never, Streamed extends boolean = false>(
    options: UnfilledOptions<Of, GivenTool, Streamed>,
  ): Promise<Prepared<RequestBody<Of, GivenTool, Streamed>>>
  function prepareNext(options?: PrepareOptions): Promise<Prepared>
  function prepareNext(options: PrepareOptions = {}): Promise<Prepared> {
    return prepareWith(options)
  }
  return prepareNext
}

/** A stored conversation. Its log contains every message in full; what a model is shown is compiled from the log. */
export type Session = {
  readonly id: string
  /** Appends messages: decoded ones, or in their wire format. */
  readonly append: (messages: readonly MessageLike[], options?: { readonly format?: Format }) => Promise<Acknowledged>
  /** Prepares the next model call. */
  readonly prepare: Prepare
  /** Records the response to a call, with the token usage that the provider reported. */
  readonly record: (response: ResponseLike, usage?: Usage, options?: RecordOptions) => Promise<Recorded>
  /** Records the usage of calls whose responses reached the history another way. */
  readonly reportUsage: (reports: readonly UsageReport[]) => Promise<void>
  /** Judges the tool calls of a response before they run: refused calls are withheld, with a result that says why. */
  readonly judge: (response: ResponseLike) => Promise<JudgedResponse>
  /**
   * The request for a summary by the session's own model that is due now, if `summarizer` has no `send`: for the caller, who has the
   * credential. `sent` is the request as it was sent, if that is not what was prepared.
   */
  readonly summaryCall: (sent?: string) => Promise<SummaryCall | undefined>
  /**
   * The current guard, for judging the tool calls of one response as they stream in; its decisions are logged through `onJudged`. Undefined
   * if there is no policy. `stored` is the id of a response that is read again: what its calls spent is not counted twice.
   */
  readonly guarding: (stored?: string) => Promise<SessionGuarding | undefined>
  /** Compacts now, regardless of size. */
  readonly compact: (request?: CompactRequest) => Promise<CompactionResult>
  /** Undoes the compaction in force: the view before it is shown again, with everything since. */
  readonly undo: () => Promise<{ readonly checkpoint: string; readonly durable: boolean }>
  readonly history: (range?: HistoryRange) => Promise<readonly HistoryEntry[]>
  readonly explain: (entryId: string) => Promise<Explanation>
  /** Creates a new session with a copy of the log, up to an entry if given. */
  readonly fork: (id?: string, options?: { readonly at?: string }) => Promise<Session>
  /** Pins a rule: it is in every later call, verbatim, whatever is compacted. */
  readonly pin: (text: string, options?: PinOptions) => Promise<SessionPin>
  /** Withdraws a rule, by its id or by words of it; returns that rule. */
  readonly unpin: (name: string) => Promise<SessionPin>
  /** Keeps a rule in memory only, by its id or by words of it: it yields to any other rule and binds no tool call. */
  readonly demote: (name: string) => Promise<SessionPin>
  /** The rules in force; with `all`, also superseded and withdrawn ones. */
  readonly pins: (options?: { readonly all?: boolean }) => Promise<readonly SessionPin[]>
  /** The same with the channel of each, why it was found, and the policy that it compiles to or why it compiles to none. */
  readonly rules: (options?: { readonly all?: boolean }) => Promise<readonly ExplainedRule[]>
  /** The prompt stack in force, as it is sent and with the versions of its sources; undefined if there is none. */
  readonly stack: () => Promise<SessionStack | undefined>
  readonly recall: (handle: string, range?: LineRange) => Promise<Recalled>
  readonly search: (search: MemorySearch) => Promise<readonly MemoryHit[]>
  /** Figures about the session: entries, branches, compactions, and what is shown now. */
  readonly overview: () => Promise<Overview>
  /** Reads the whole log and checks that the hash chain is intact and no text is missing; damage is a Problem. */
  readonly verify: () => Promise<Head>
  readonly subscribe: (listener: Listener) => () => void
  /** Deletes the session's log, summaries and memory. */
  readonly remove: () => Promise<void>
}

type SessionDeps = {
  /** The session's state in this process, with its lock. */
  readonly live: () => Promise<Live>
  readonly open: (id: string) => Session
  readonly newId: () => string
  readonly subscribe: (listener: Listener, session: string) => () => void
  readonly forget: (id: string) => void
}

/** The option names of a session's functions. Unknown ones are refused, because they would be ignored silently. */
const optionsOf = {
  append: optionNames<{ readonly format?: Format }>()("format"),
  record: optionNames<RecordOptions>()("recalled isUncounted calls"),
  history: optionNames<HistoryRange>()("from limit"),
  fork: optionNames<{ readonly at?: string }>()("at"),
  pin: optionNames<PinOptions>()("expiresAtMs scope"),
  pins: optionNames<{ readonly all?: boolean }>()("all"),
  rules: optionNames<{ readonly all?: boolean }>()("all"),
  recall: optionNames<LineRange>()("fromLine toLine find"),
  search: optionNames<MemorySearch>()("text session kind fromDay toDay limit trustedOnly withSuperseded"),
} as const

function checked<Options extends object>(owner: keyof typeof optionsOf, options: Options): Options {
  checkOptionNames(options, optionsOf[owner], owner)
  return options
}

export function createSession(id: string, deps: SessionDeps): Session {
  const use = async <Value>(act: (live: Live) => Promise<Value>): Promise<Value> => {
    const live = await deps.live()
    return live.lock(async () => {
      // If the store is unavailable, continue with what is known.
      await loadSession(live).catch(ignoreProblem)
      return act(live)
    })
  }
  /** Like `use`, but fails if the log could not be read: the result would be wrong without it. */
  const useLog = <Value>(act: (live: Live) => Promise<Value>): Promise<Value> =>
    use(async (live) => {
      await requireLog(live)
      return act(live)
    })
  return {
    id,
    append: (messages, options = {}) => use((live) => append(live, messages, checked("append", options).format)),
    prepare: createPrepare((options) => use((live) => prepare(live, options))),
    record: (response, usage, options = {}) =>
      use((live) => recordResponse(live, response, usage, checked("record", options))),
    reportUsage: (reports) => use((live) => reportUsage(live, reports)),
    judge: (response) => judgeResponse(use, response),
    summaryCall: async (sent) => takeSummaryCall(await deps.live(), sent),
    guarding: (stored) => use((live) => guardingOf(live, stored)),
    compact: (request = {}) => use((live) => compactNow(live, request)),
    undo: () => useLog(undo),
    history: (range = {}) => useLog((live) => history(live, checked("history", range))),
    explain: (entry) => useLog((live) => explain(live, entry)),
    fork: (to = deps.newId(), options = {}) =>
      useLog((live) => fork(live, to, checked("fork", options).at)).then(deps.open),
    pin: (text, options = {}) => use((live) => pin(live, text, checked("pin", options))),
    unpin: (name) => useLog((live) => unpin(live, name)),
    demote: (name) => useLog((live) => demote(live, name)),
    pins: (options = {}) => useLog((live) => pins(live, checked("pins", options))),
    rules: (options = {}) => useLog(async (live) => (await pins(live, checked("rules", options))).map(explainRule)),
    stack: () => useLog(sessionStack),
    recall: (handle, range = {}) => useLog((live) => recall(live, handle, checked("recall", range))),
    search: (search) => use((live) => live.memory.search(checked("search", search))),
    overview: () => useLog(overview),
    verify: () => use(({ store }) => verifyLog(store, id)),
    subscribe: (listener) => deps.subscribe(listener, id),
    remove: async () => {
      await use(async (live) => {
        if (!(await live.store.remove(id))) throw new HoldfastError({ code: "session-unknown", session: id })
        live.removed = true
        await live.store.scrub()
      })
      deps.forget(id)
    },
  }
}

async function sessionStack(live: Live): Promise<SessionStack | undefined> {
  const inForce = await readInForce(live)
  return inForce === undefined ? undefined : { stack: inForce.stack, source: inForce.source }
}

async function append(live: Live, messages: readonly MessageLike[], format: Format | undefined): Promise<Acknowledged> {
  const known = format ?? live.options.format ?? live.frame?.format
  const { placed, events } = await appendMessages(live, readMessagesLike(messages, known), await knownPins(live))
  const ids = placed.map(entryId)
  const durable = live.journal.isDurable()
  if (ids.length > 0) live.emit({ type: "entries-appended", entries: ids, durable })
  return { entries: ids, durable, trace: [...events, ...durability(live)] }
}

async function compactNow(live: Live, request: CompactRequest): Promise<CompactionResult> {
  const outline = live.journal.outline()
  const last = outline.checkpointAt(live.at)
  const isNew = last === 0 || outline.nodeOf(last) !== live.at || request.focus !== undefined
  const asked = isNew ? { occasion: { asked: present({ focus: request.focus }) } } : {}
  const { client } = live
  const isBare = request.body === undefined && request.request === undefined
  const again = isBare && client !== undefined ? { request: client } : {}
  const { trace, receipt } = await prepare(live, { ...request, ...asked, ...again })
  const made = trace.flatMap((event) => (event.type === "checkpoint-installed" ? [event.checkpoint] : [])).at(-1)
  return { trace, receipt, ...present({ checkpoint: made }) }
}

async function undo(live: Live): Promise<{ readonly checkpoint: string; readonly durable: boolean }> {
  const seq = live.journal.outline().checkpointAt(live.at)
  if (seq === 0) throw new HoldfastError({ code: "nothing-to-undo", session: live.id })
  const { durable } = await live.journal.commit((outline) =>
    outline.checkpointAt(live.at) === seq ? [{ type: "checkpoint-undone", checkpoint: seq }] : [],
  )
  live.undoneAt = live.journal.outline().head().seq
  live.breaker = {}
  live.emit({ type: "compaction-undone", checkpoint: entryId(seq) })
  return { checkpoint: entryId(seq), durable }
}

async function fork(live: Live, to: string, at: string | undefined): Promise<string> {
  checkSessionId(to)
  const outline = live.journal.outline()
  const upTo = at === undefined ? outline.head().seq : seqOf(at)
  if (upTo === undefined || outline.typeOf(upTo) === undefined)
    throw new HoldfastError({ code: "entry-unknown", session: live.id, entry: at ?? "" })
  const { durable, problem } = await live.journal.commit(() => [])
  if (!durable && problem !== undefined) throw new HoldfastError(problem)
  if (!(await live.store.copy(live.id, to, upTo))) throw new HoldfastError({ code: "session-exists", session: to })
  return to
}
