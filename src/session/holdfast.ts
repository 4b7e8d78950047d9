import { randomBytes, randomUUID } from "node:crypto"
import { HoldfastError, type Problem } from "../errors.ts"
import { createMemory, type Memory } from "../memory/memory.ts"
import { createInProcessQueue } from "../queue/in-process.ts"
import { openPgBossQueue } from "../queue/pg-boss.ts"
import type { Queue } from "../queue/queue.ts"
import { isPostgres, openStore } from "../store/open-store.ts"
import { reserveLog } from "../store/reserved-log.ts"
import type { SessionFilter, SessionRow, Store } from "../store/store.ts"
import { writeSummary } from "./background.ts"
import { createHub, type Listener } from "./events.ts"
import { limitStore } from "./limit-store.ts"
import type { Live } from "./live.ts"
import { openLive, redactorOf, type Shared, wake } from "./open-live.ts"
import { checkHoldfastOptions, checkSessionId, type HoldfastOptions } from "./options.ts"
import { createSession, type Session } from "./session.ts"
import { createSharedRules } from "./shared-rules.ts"

/** Sessions over one store. */
export type Holdfast = {
  /** The session of this name; it begins with its first message. */
  readonly session: (id: string) => Session
  readonly sessions: (filter?: SessionFilter) => Promise<readonly SessionRow[]>
  readonly memory: () => Promise<Memory>
  /** Open the store now rather than at first use, and take up background work that was left over. */
  readonly open: () => Promise<void>
  readonly subscribe: (listener: Listener) => () => void
  /** Ends once nothing is being done in the background here. */
  readonly idle: () => Promise<void>
  /** Finish what is under way, stop background work and close the store. */
  readonly close: () => Promise<void>
}

const usualStore = ".holdfast/holdfast.db"
const usualAgent = "default"
/** A session holds the messages of its view: some megabytes. */
const usualOpenSessions = 200
/** A summary is a model call; more than a few at once would crowd out the agent's own. */
const usualSpeculations = 2

/** Opened at first use, so that making one touches nothing. */
export function createHoldfast(options: HoldfastOptions = {}): Holdfast {
  checkHoldfastOptions(options)
  const hub = createHub(options.now ?? Date.now)
  const pending = new Set<Promise<void>>()
  const lives = new Map<string, Live>()
  let opening: Promise<Shared> | undefined

  const later: Shared["later"] = (session, work, act) => {
    const task = new Promise<void>((resolve) => setImmediate(resolve))
      .then(act)
      .catch((error: unknown) => hub.emit(session, { type: "background-failed", work, problem: problemOf(error) }))
      .finally(() => pending.delete(task))
    pending.add(task)
  }
  const shared = (): Promise<Shared> => {
    opening ??= openShared(options, { emit: hub.emit, later }).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const live = async (id: string): Promise<Live> => {
    const known = lives.get(id) ?? openLive(await shared(), id)
    lives.delete(id)
    lives.set(id, known)
    evict(lives, options.openSessions ?? usualOpenSessions)
    return known
  }
  const open = (id: string): Session => {
    checkSessionId(id)
    return createSession(id, {
      live: () => live(id),
      open,
      newId: randomUUID,
      subscribe: hub.subscribe,
      forget: (gone) => lives.delete(gone),
    })
  }
  const idle = async (): Promise<void> => {
    while (pending.size > 0) await Promise.all(pending)
    const { queue } = await shared()
    await queue?.idle()
  }
  return {
    session: open,
    sessions: async (filter) => (await shared()).store.sessions(filter),
    memory: async () => (await shared()).memory,
    open: async () => {
      await shared()
    },
    subscribe: (listener) => hub.subscribe(listener),
    idle,
    close: async () => {
      if (opening === undefined) return
      const { queue, store, rules } = await opening
      while (pending.size > 0) await Promise.all(pending)
      await queue?.close()
      try {
        await Promise.all([saveAll(lives), rules.save()])
      } finally {
        if (typeof options.store !== "object") await store.close()
      }
    },
  }
}

/** The session unused for longest goes, unless it holds what the store does not have. */
function evict(lives: Map<string, Live>, most: number): void {
  for (const [id, { journal, judged }] of lives) {
    if (lives.size <= Math.max(1, most)) return
    if (journal.isDurable() && judged.length === 0) lives.delete(id)
  }
}

/** What waits in memory is written if the store is there again; if it is not, nobody else has it. */
async function saveAll(lives: ReadonlyMap<string, Live>): Promise<void> {
  const waiting = [...lives.values()].filter(({ journal }) => !journal.isDurable())
  await Promise.all(waiting.map(({ lock, journal }) => lock(() => journal.commit(() => []))))
}

async function openShared(options: HoldfastOptions, doing: Pick<Shared, "emit" | "later">): Promise<Shared> {
  const { agent = usualAgent } = options
  const store =
    typeof options.store === "object"
      ? reserveLog(limitStore(options.store))
      : await openStore(options.store ?? usualStore)
  const memory = createMemory({
    store: store.memory,
    agent,
    ...(options.now === undefined ? {} : { now: options.now }),
  })
  const queue = await openQueue(options, store)
  const shared: Shared = {
    ...doing,
    store,
    memory,
    queue,
    agent,
    options,
    meters: new Map(),
    newSecret: () => randomBytes(16).toString("hex"),
    rules: createSharedRules({ store, now: options.now ?? Date.now, redact: redactorOf(options) }),
  }
  // Jobs work on a session as the store has it, beside whoever is using it.
  await queue?.work(
    async (job, signal) => {
      const live = openLive(shared, job.session)
      await wake(live)
      await writeSummary(live, job, signal)
    },
    { concurrency: options.speculations ?? usualSpeculations },
  )
  return shared
}

/** Nobody works in the background where nobody writes summaries. */
async function openQueue(options: HoldfastOptions, store: Store): Promise<Queue | undefined> {
  const { summarizer, speculations } = options
  if (summarizer === undefined || typeof summarizer === "string" || speculations === 0) return undefined
  if (options.queue !== undefined) return options.queue
  const { store: name } = options
  if (typeof name === "string" && isPostgres(name)) return openPgBossQueue({ url: name })
  return createInProcessQueue(store.jobs)
}

/** What went wrong, as a Problem; anything else is a bug and stays one. */
function problemOf(error: unknown): Problem {
  if (error instanceof HoldfastError) return error.problem
  throw error
}
