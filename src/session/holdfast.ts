import { randomBytes, randomUUID } from "node:crypto"
import { type CompactionPolicy, defaultPolicy } from "../compact/plan/policy.ts"
import { problemOrThrow } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { isPostgres, openStore } from "../store/open-store.ts"
import { othersServed } from "../store/pace.ts"
import { createInProcessQueue } from "../store/queue/create-queue.ts"
import { openPgBossQueue } from "../store/queue/pg-boss.ts"
import type { Queue } from "../store/queue/queue.ts"
import { reserveLog } from "../store/reserved-log.ts"
import type { MemoryOwner, SessionFilter, SessionRow, Store } from "../store/store.ts"
import { writeSummary } from "./background.ts"
import { createRetry, limitStore } from "./limit-store.ts"
import { createMemory, type Memory } from "./memory/memory.ts"
import { isSessionSummarizer } from "./one-shot/summarizer.ts"
import { durability } from "./prepare.ts"
import { rulesBind } from "./rules/rule-guard.ts"
import { createSession, type Session } from "./session.ts"
import { createStackReader } from "./stack/stack-options.ts"
import { createHub, type Listener } from "./state/events.ts"
import { type Live, loadSession, openLive, redactorOf, type Shared, setOwner } from "./state/live.ts"
import {
  checkHoldfastOptions,
  checkSessionId,
  checkSessionOwner,
  type HoldfastOptions,
  type SessionOwner,
  usualAgent,
} from "./state/options.ts"
import { createSharedRules } from "./state/shared-rules.ts"
import { createSpending } from "./state/spending.ts"
import { createStoredRules, inheritedBy, type StoredRules } from "./stored-rules.ts"

/** Sessions over one store. */
export type Holdfast = {
  /** The session with this id; it begins with its first message. `owner` names the tenant and agent, if there are several. */
  readonly session: (id: string, owner?: SessionOwner) => Session
  readonly sessions: (filter?: SessionFilter) => Promise<readonly SessionRow[]>
  readonly memory: (owner?: SessionOwner) => Promise<Memory>
  /** The rules of stored sessions, read beside the sessions in use. */
  readonly storedRules: StoredRules
  /** The policy that decides when requests are compacted. */
  readonly policy: CompactionPolicy
  /** True if anything from outside their own session is added to requests: a stack, shared rules, or retrieved memory. */
  readonly addsToRequests: (owner?: SessionOwner) => Promise<boolean>
  /** True if policies made from rules can hold calls back. A request may then state a rule that applies to its own response. */
  readonly rulesBind: boolean
  /** True if the session's own model writes the summaries, in requests that continue one that was sent. */
  readonly asksOwnModel: boolean
  /** Opens the store now instead of at first use, and resumes unfinished background work. */
  readonly open: () => Promise<void>
  readonly subscribe: (listener: Listener) => () => void
  /** Resolves once no background work is running in this process. */
  readonly idle: () => Promise<void>
  /** Finishes current work, stops background work and closes the store. */
  readonly close: () => Promise<void>
}

const defaultStore = ".holdfast/holdfast.db"
/** Default limit on open sessions. If they are large, the memory limit below applies first. */
const defaultOpenSessions = 1000
/** Default number of concurrent summaries. Each is a model call; more would compete with the agent's own calls. */
const defaultSpeculations = 2

/** Creates the sessions of a store. The store is opened at first use. */
export function createHoldfast(options: HoldfastOptions = {}): Holdfast {
  checkHoldfastOptions(options)
  const hub = createHub(options.now ?? Date.now)
  const tasks = createTasks((session, work, error) =>
    hub.emit(session, { type: "background-failed", work, problem: problemOrThrow(error) }),
  )
  const lives = createOpenSessions<Live>(options.openSessions ?? defaultOpenSessions)
  let opening: Promise<Opened> | undefined
  const saving = createRetry(() => saveAll(lives.all()))
  const emit: Shared["emit"] = (session, event) => {
    hub.emit(session, event)
    if (event.type === "durability-degraded") saving.start()
  }

  const shared = (): Promise<Opened> => {
    opening ??= openShared(options, { emit, later: tasks.later }).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const live = async (id: string, owner: SessionOwner | undefined): Promise<Live> => {
    const all = await shared()
    const found = lives.take(id, () => openLive(all, id, ownerIn(all, owner)))
    if (owner !== undefined) setOwner(all, found, ownerIn(all, owner))
    if (owner?.caller !== undefined) found.caller = owner.caller
    if (owner?.within !== undefined) found.inherited = () => inheritedBy(all.store, id, owner, lives.has, live)
    return found
  }
  const open = (id: string, owner?: SessionOwner): Session => {
    checkSessionId(id)
    checkSessionOwner(owner ?? {})
    return createSession(id, {
      live: () => live(id, owner),
      open: (other) => open(other, owner),
      newId: randomUUID,
      subscribe: hub.subscribe,
      forget: lives.forget,
    })
  }
  return {
    session: open,
    sessions: async (filter) => (await shared()).store.sessions(filter),
    storedRules: rulesBehind(async () => (await shared()).stored),
    memory: (owner) => shared().then((all) => all.memoryOf(ownerIn(all, owner))),
    policy: { ...defaultPolicy, ...options.policy },
    addsToRequests: async (owner) => addsToRequests(await shared(), owner),
    rulesBind: rulesBind(options),
    asksOwnModel: isSessionSummarizer(options.summarizer),
    open: () => shared().then(() => undefined),
    subscribe: (listener) => hub.subscribe(listener),
    idle: async () => {
      await tasks.done()
      await (await shared()).queue?.idle()
    },
    close: async () => {
      if (opening === undefined) return
      saving.stop()
      const { queue, store, rules } = await opening
      await tasks.done()
      await queue?.close()
      try {
        await Promise.all([saveAll(lives.all()), rules.save()])
      } finally {
        if (typeof options.store !== "object") await store.close()
      }
    },
  }
}

const rulesBehind = (stored: () => Promise<StoredRules>): StoredRules => ({
  list: async (row, all) => (await stored()).list(row, all),
  count: async (row) => (await stored()).count(row),
})

/** Background work, started after the current synchronous work; failures are reported. */
function createTasks(onFailed: (session: string, work: string, error: unknown) => void) {
  const pending = new Set<Promise<void>>()
  return {
    later: (session: string, work: string, act: () => Promise<void>): void => {
      const task = othersServed("new")
        .then(act)
        .catch((error: unknown) => onFailed(session, work, error))
        .finally(() => pending.delete(task))
      pending.add(task)
    },
    done: async (): Promise<void> => {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}

const ownerIn = (shared: Shared, { within: _, caller: __, ...owner }: SessionOwner = {}): MemoryOwner => ({
  ...shared.owner,
  ...owner,
})

async function addsToRequests(shared: Shared, owner: SessionOwner | undefined): Promise<boolean> {
  const { options, rules } = shared
  const { operator, pins = [], memory, stack } = options
  if (pins.length > 0 || memory?.retrieve !== undefined || stack !== undefined) return true
  const standing = await operator?.refresh()
  return (
    (standing?.rules.length ?? 0) > 0 || (await rules.read(ownerIn(shared, owner))).some(({ id }) => !rules.isGone(id))
  )
}

/** Writes entries that are only in memory, if the store is available again. */
async function saveAll(lives: readonly Live[]): Promise<boolean> {
  const waiting = lives.filter(({ journal }) => !journal.isDurable())
  const save = async (live: Live): Promise<void> => {
    await live.journal.commit(() => [])
    durability(live)
  }
  await Promise.all(waiting.map((live) => live.lock(() => save(live))))
  return waiting.every(({ journal }) => journal.isDurable())
}

type Opened = Shared & { readonly stored: StoredRules }

async function openShared(options: HoldfastOptions, doing: Pick<Shared, "emit" | "later">): Promise<Opened> {
  const { agent = usualAgent } = options
  const store =
    typeof options.store === "object"
      ? reserveLog(limitStore(options.store))
      : await openStore(options.store ?? defaultStore)
  const { sessionRowsPerDay, agentRowsPerDay } = options.memory ?? {}
  const limits = present({ sessionRowsPerDay, agentRowsPerDay })
  const memoryOf = (owner: MemoryOwner): Memory =>
    createMemory({ store: store.memory, ...owner, limits, ...present({ now: options.now }) })
  const queue = await openQueue(options, store)
  const shared: Shared = {
    ...doing,
    store,
    memoryOf,
    queue,
    owner: { tenant: "", agent },
    options,
    meters: new Map(),
    newSecret: () => randomBytes(16).toString("hex"),
    stacks: createStackReader(),
    spending: createSpending({ store, now: options.now ?? Date.now }),
    rules: createSharedRules({ store, now: options.now ?? Date.now, redact: redactorOf(options) }),
  }
  // A job opens the session from the store, independently of the one in use.
  await queue?.work(
    async (job, signal) => {
      const row = await store.session(job.session)
      const owner = row === undefined || row.agent === "" ? shared.owner : { tenant: row.tenant, agent: row.agent }
      const live = openLive(shared, job.session, owner)
      await loadSession(live)
      await writeSummary(live, job, signal)
    },
    { concurrency: options.speculations ?? defaultSpeculations },
  )
  return { ...shared, stored: createStoredRules(shared) }
}

/** Without a summarizer there is no background work. */
async function openQueue(options: HoldfastOptions, store: Store): Promise<Queue | undefined> {
  const { summarizer, speculations } = options
  if (summarizer === undefined || typeof summarizer === "string" || speculations === 0) return undefined
  // Only the holder of the session's credential can call its own model, so a worker of the queue cannot.
  if (isSessionSummarizer(summarizer)) return undefined
  if (options.queue !== undefined) return options.queue
  const { store: name } = options
  if (typeof name === "string" && isPostgres(name)) return openPgBossQueue({ url: name })
  return createInProcessQueue(store.jobs)
}

/** The parts of a session that decide whether it may be closed. */
type OpenSession = Pick<Live, "client" | "sent" | "judged"> & { readonly journal: Pick<Live["journal"], "isDurable"> }

/**
 * Limit on the characters of the sessions' last requests, besides the session in use. Decoded and counted, each character takes about eight
 * bytes, so this is some 250 MB.
 */
const maxUnits = 32_000_000
/** Estimated characters per token, if only a token count is known, and no text. */
const unitsPerToken = 4

const unitsOf = ({ client, sent }: OpenSession): number => client?.wire.length ?? (sent?.tokens ?? 0) * unitsPerToken

/** The sessions that this process keeps open: the most recently used ones, within limits. */
export function createOpenSessions<One extends OpenSession>(most: number, mostUnits = maxUnits) {
  const lives = new Map<string, { readonly live: One; readonly units: number }>()
  let held = 0
  const forget = (id: string): void => {
    held -= lives.get(id)?.units ?? 0
    lives.delete(id)
  }
  /** Close the least recently used sessions, except those with entries that the store does not have. */
  const evict = (used: string): void => {
    for (const [id, { live }] of lives) {
      if (lives.size <= Math.max(1, most) && held <= mostUnits) return
      if (id !== used && live.journal.isDurable() && live.judged.length === 0) forget(id)
    }
  }
  return {
    take: (id: string, open: () => One): One => {
      const live = lives.get(id)?.live ?? open()
      const units = unitsOf(live)
      forget(id)
      lives.set(id, { live, units })
      held += units
      evict(id)
      return live
    },
    has: (id: string): boolean => lives.has(id),
    forget,
    all: (): readonly One[] => [...lives.values()].map(({ live }) => live),
  }
}
