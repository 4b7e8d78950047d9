import { HoldfastError } from "../message/errors.ts"
import type { Format, ModelRequest, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Head, MemoryHit } from "../store/store.ts"
import type { FilledBody, RequestBody } from "../wire/request-body.ts"
import type { Listener } from "./events.ts"
import { type MessageLike, readMessagesLike } from "./frame.ts"
import { appendMessages } from "./ingest.ts"
import {
  type Explanation,
  explain,
  type HistoryEntry,
  type HistoryRange,
  history,
  type Overview,
  overview,
} from "./inspect.ts"
import type { Live } from "./live.ts"
import { entryId, seqOf } from "./log/entry.ts"
import type { ResponseLike } from "./log/read-response.ts"
import type { Trace } from "./log/trace.ts"
import { verifyLog } from "./log/verify-log.ts"
import type { MemorySearch } from "./memory/check-search.ts"
import { requireLog } from "./open-call.ts"
import { wake } from "./open-live.ts"
import { checkSessionId } from "./options.ts"
import { knownPins, type PinOptions, pin, pins, type SessionPin, unpin } from "./pins.ts"
import { durability, prepare } from "./prepare.ts"
import type { Prepared, PrepareOptions, Receipt } from "./prepared.ts"
import { type LineRange, type Recalled, recall } from "./recall.ts"
import {
  guardingOf,
  type JudgedResponse,
  judgeResponse,
  type Recorded,
  recordResponse,
  type SessionGuarding,
} from "./record.ts"
import { readInForce, type StackInForce } from "./session-stack.ts"
import { type SummaryCall, takeSummaryCall } from "./session-summary.ts"

/** The prompt stack of a session: `stack` is what is sent, `source` the same sections before anything gave way. */
export type SessionStack = Pick<StackInForce, "stack" | "source">

/** What was written. `durable` means that the store has it; otherwise it is in memory, and is written when the store is back. */
export type Acknowledged = { readonly entries: readonly string[]; readonly durable: boolean; readonly trace: Trace }

/** What a compaction that was asked for did. Nothing if there was nothing new since the last one. */
export type CompactionResult = { readonly checkpoint?: string; readonly trace: Trace; readonly receipt: Receipt }

type CompactRequest = Omit<PrepareOptions, "occasion">

/** A call without a body of the client's own: the session writes it, in the format that is named. */
type UnfilledOptions<Of extends Format, GivenTool, Streamed extends boolean> = PrepareOptions & {
  readonly body?: never
  readonly format: Of
  readonly tools?: readonly GivenTool[]
  readonly stream?: Streamed
}

/** Prepares the next model call. The type of the body is that of the one which was given, or follows from the format. */
export type Prepare = {
  (
    options: PrepareOptions & ({ readonly body: string } | { readonly request: ModelRequest }),
  ): Promise<Prepared<string>>
  <Body extends object, Of extends Format>(
    options: PrepareOptions & { readonly body: Body; readonly format: Of },
  ): Promise<Prepared<FilledBody<Body, Of>>>
  <Of extends Format, GivenTool = never, Streamed extends boolean = false>(
    options: UnfilledOptions<Of, GivenTool, Streamed>,
  ): Promise<Prepared<RequestBody<Of, GivenTool, Streamed>>>
  (options?: PrepareOptions): Promise<Prepared>
}

/** One conversation that lasts. Everything that was said is in its log, whole; what a model is shown is made from it. */
export type Session = {
  readonly id: string
  /** New messages: as they were read from a request, or as the wire format has them. */
  readonly append: (messages: readonly MessageLike[], options?: { readonly format?: Format }) => Promise<Acknowledged>
  /** The next model call. */
  readonly prepare: Prepare
  /** The answer to it, and what the provider says it took. */
  readonly record: (response: ResponseLike, usage?: Usage) => Promise<Recorded>
  /** Judge the calls of an answer before anyone acts on them: those that are refused are withheld, with a result that says why. */
  readonly judge: (response: ResponseLike) => Promise<JudgedResponse>
  /**
   * The question that the session's own model is to be asked now, where `summarizer` says so and no `send` does it: for whoever has the
   * credential. `sent` is the request as it went out, where that is not what was prepared.
   */
  readonly summaryCall: (sent?: string) => Promise<SummaryCall | undefined>
  /**
   * The guard as it stands now, for whoever judges the calls of one answer as they stream in; what it decides is written down as it is
   * told to `onJudged`. Nothing where nobody laid down a policy.
   */
  readonly guarding: () => Promise<SessionGuarding | undefined>
  /** Compact now, whatever the size. */
  readonly compact: (request?: CompactRequest) => Promise<CompactionResult>
  /** Take back the compaction in force: the view before it is shown again, with what came since. */
  readonly undo: () => Promise<{ readonly checkpoint: string; readonly durable: boolean }>
  readonly history: (range?: HistoryRange) => Promise<readonly HistoryEntry[]>
  readonly explain: (entryId: string) => Promise<Explanation>
  /** A session of its own that has everything up to here, or up to an entry. */
  readonly fork: (id?: string, options?: { readonly at?: string }) => Promise<Session>
  /** Pin a rule for good: it stands in every call, verbatim, whatever is compacted. */
  readonly pin: (text: string, options?: PinOptions) => Promise<SessionPin>
  readonly unpin: (id: string) => Promise<void>
  /** The rules in force; with `all`, those as well that were superseded or taken back. */
  readonly pins: (options?: { readonly all?: boolean }) => Promise<readonly SessionPin[]>
  /** The prompt stack in force, as it is sent and by the versions of its sources; nothing if there is none. */
  readonly stack: () => Promise<SessionStack | undefined>
  readonly recall: (handle: string, range?: LineRange) => Promise<Recalled>
  readonly search: (search: MemorySearch) => Promise<readonly MemoryHit[]>
  /** What it is, in figures: entries, branches, compactions, and what is shown now. */
  readonly overview: () => Promise<Overview>
  /** Read the whole log and check that every entry follows from the one before it, and that no text is missing; damage is a Problem. */
  readonly verify: () => Promise<Head>
  readonly subscribe: (listener: Listener) => () => void
  /** Delete everything of it: log, summaries, memory. */
  readonly remove: () => Promise<void>
}

type SessionDeps = {
  /** The session as this process holds it, and what is done to it one at a time. */
  readonly live: () => Promise<Live>
  readonly open: (id: string) => Session
  readonly newId: () => string
  readonly subscribe: (listener: Listener, session: string) => () => void
  readonly forget: (id: string) => void
}

export function createSession(id: string, deps: SessionDeps): Session {
  const use = async <Value>(act: (live: Live) => Promise<Value>): Promise<Value> => {
    const live = await deps.live()
    return live.lock(async () => {
      await wakeUp(live)
      return act(live)
    })
  }
  /** What only tells of the log has nothing to say of one that could not be read. */
  const tell = <Value>(act: (live: Live) => Promise<Value>): Promise<Value> =>
    use(async (live) => {
      await requireLog(live)
      return act(live)
    })
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
    return use((live) => prepare(live, options))
  }
  return {
    id,
    append: (messages, options = {}) => use((live) => append(live, messages, options.format)),
    prepare: prepareNext,
    record: (response, usage) => use((live) => recordResponse(live, response, usage)),
    judge: (response) => judgeResponse(use, response),
    summaryCall: async (sent) => takeSummaryCall(await deps.live(), sent),
    guarding: () => use(guardingOf),
    compact: (request = {}) => use((live) => compactNow(live, request)),
    undo: () => tell(undo),
    history: (range) => tell((live) => history(live, range)),
    explain: (entry) => tell((live) => explain(live, entry)),
    fork: (to = deps.newId(), { at } = {}) => tell((live) => fork(live, to, at)).then(deps.open),
    pin: (text, options = {}) => use((live) => pin(live, text, options)),
    unpin: (pinId) => tell((live) => unpin(live, pinId)),
    pins: (options = {}) => tell((live) => pins(live, options)),
    stack: () => tell(sessionStack),
    recall: (handle, range) => tell((live) => recall(live, handle, range)),
    search: (search) => use((live) => live.memory.search(search)),
    overview: () => tell(overview),
    verify: () => use(({ store }) => verifyLog(store, id)),
    subscribe: (listener) => deps.subscribe(listener, id),
    remove: async () => {
      await use(async (live) => {
        if (!(await live.store.remove(id))) throw new HoldfastError({ code: "session-unknown", session: id })
        live.removed = true
      })
      deps.forget(id)
    },
  }
}

/** A store that is away is no reason not to go on with what is known. */
async function wakeUp(live: Live): Promise<void> {
  try {
    await wake(live)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
  }
}

async function sessionStack(live: Live): Promise<SessionStack | undefined> {
  const inForce = await readInForce(live)
  return inForce === undefined ? undefined : { stack: inForce.stack, source: inForce.source }
}

async function append(live: Live, messages: readonly MessageLike[], format: Format | undefined): Promise<Acknowledged> {
  const known = format ?? live.options.format ?? live.frame?.format
  const { placed } = await appendMessages(live, readMessagesLike(messages, known), await knownPins(live))
  const ids = placed.map(entryId)
  const durable = live.journal.isDurable()
  if (ids.length > 0) live.emit({ type: "entries-appended", entries: ids, durable })
  return { entries: ids, durable, trace: durability(live) }
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
