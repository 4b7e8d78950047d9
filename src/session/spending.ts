import type { Guard, Verdict } from "../guard/guard.ts"
import { type Guarding, type JudgedCall, spentWith } from "../guard/judge-call.ts"
import type { Circumstances, SpentBy } from "../guard/policy/condition.ts"
import { spentNames } from "../guard/policy/schema.ts"
import { HoldfastError } from "../message/errors.ts"
import { hashEntry, spendingLog } from "../store/reserved-log.ts"
import { type Head, type MemoryOwner, noHead, type Store, type StoredEntry } from "../store/store.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { createLock } from "./live.ts"

/** A tool call that was let through and spends money, in hundredths of the currency. */
type Purchase = Spender & { readonly minor: number }

/** Who is about to spend. */
export type Spender = MemoryOwner & {
  /** The names of the session; none for a request outside any. */
  readonly sessions: readonly string[]
  /** The session whose log has it; missing if the request bypassed its session. */
  readonly session?: string
}

/** What was spent before as policies ask for it, and in the session by what its own log does not have: other agents, bypassed requests. */
export type Sums = { readonly by: SpentBy; readonly besideMinor: number }

/** What sessions of all agents and tenants spend, in a log that every process on the store adds to. */
export type Spending = {
  /** Throws a Problem if the store cannot be read. */
  readonly read: (spender: Spender) => Promise<Sums>
  /** As last read. */
  readonly known: (spender: Spender) => Sums
  /** Add a purchase, if `isAllowed` says so of what others have spent up to this moment. */
  readonly add: (spender: Spender, minor: number, isAllowed: (sums: Sums) => boolean) => Promise<boolean>
}

/** Entries read at a time. */
const batchEntries = 5_000
/** Attempts to add, each repeated because another process added something meanwhile. This often in a row is a fault. */
const maxRaces = 32
const dayMs = 24 * 60 * 60 * 1000
const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

type Accounts = {
  readonly take: (purchase: Purchase, atMs: number) => void
  readonly sums: (spender: Spender, atMs: number) => Sums
  readonly clear: () => void
}

/** Purchases added up, by everything that a limit may be about. */
function createAccounts(): Accounts {
  const sums = new Map<string, number>()
  const count = (minor: number, ...key: readonly unknown[]): void => {
    const name = JSON.stringify(key)
    sums.set(name, (sums.get(name) ?? 0) + minor)
  }
  const sum = (...key: readonly unknown[]): number => sums.get(JSON.stringify(key)) ?? 0
  return {
    take: ({ minor, ...spender }, atMs) => {
      const { tenant, agent, session } = spender
      count(minor, "tenant", tenant)
      count(minor, "tenant", tenant, dayOf(atMs))
      count(minor, "agent", tenant, agent)
      count(minor, "agent", tenant, agent, dayOf(atMs))
      for (const key of keysOf(spender)) count(minor, "session", ...key)
      if (session !== undefined) count(minor, "log", tenant, session)
    },
    sums: (spender, atMs) => {
      const { tenant, agent, session } = spender
      const inSession = keysOf(spender).reduce((most, key) => Math.max(most, sum("session", ...key)), 0)
      return {
        by: {
          agentSpent: sum("agent", tenant, agent),
          agentSpentToday: sum("agent", tenant, agent, dayOf(atMs)),
          tenantSpent: sum("tenant", tenant),
          tenantSpentToday: sum("tenant", tenant, dayOf(atMs)),
        },
        besideMinor: inSession - (session === undefined ? 0 : sum("log", tenant, session)),
      }
    },
    clear: () => sums.clear(),
  }
}

export function createSpending({ store, now }: { readonly store: Store; readonly now: () => number }): Spending {
  let head: Head = noHead
  const accounts = createAccounts()
  const take = ({ seq, hash, atMs, body }: StoredEntry): void => {
    accounts.take(readPurchase(seq, body), atMs)
    head = { seq, hash }
  }
  // The log only grows, except when a tenant is erased: then its end has another hash.
  const refresh = async (): Promise<void> => {
    const end = await store.head(spendingLog)
    if (end.seq === head.seq && end.hash === head.hash) return
    const [last] = head.seq === 0 ? [] : await store.readEntries(spendingLog, [head.seq])
    if (head.seq > 0 && last?.hash !== head.hash) {
      head = noHead
      accounts.clear()
    }
    while (head.seq < end.seq) {
      const read = await store.read(spendingLog, { from: head.seq + 1, limit: batchEntries })
      for (const entry of read) take(entry)
      if (read.length === 0) break
    }
  }
  const known = (spender: Spender): Sums => accounts.sums(spender, now())
  const entryOf = (purchase: Purchase): StoredEntry => {
    const entry = { seq: head.seq + 1, type: "money-spent", atMs: now(), body: JSON.stringify(purchase) }
    return { ...entry, hash: hashEntry(head.hash, entry) }
  }
  const lock = createLock()
  return {
    known,
    read: (spender) =>
      lock(async () => {
        await refresh()
        return known(spender)
      }),
    add: (spender, minor, isAllowed) =>
      lock(async () => {
        for (let race = 0; race < maxRaces; race++) {
          await refresh()
          if (!isAllowed(known(spender))) return false
          const entry = entryOf({ ...spender, minor })
          const written = await store.append(spendingLog, { after: head.seq, entries: [entry] })
          if (written.type !== "appended") continue
          take(entry)
          return true
        }
        throw new HoldfastError({ code: "store-locked", store: store.kind, waitedMs: 0 })
      }),
  }
}

/** Requests outside any session have one account for each agent: nobody gets a limit of their own by leaving the name out. */
const keysOf = ({ tenant, agent, sessions }: Spender): readonly (readonly string[])[] =>
  sessions.length === 0 ? [[tenant, "", agent]] : [...new Set(sessions)].map((session) => [tenant, session])

function readPurchase(seq: number, body: string): Purchase {
  const read = tryParse(body)
  const { tenant, agent, sessions, session, minor } = isObject(read) ? read : {}
  if (typeof tenant !== "string" || typeof agent !== "string" || typeof minor !== "number" || !Array.isArray(sessions))
    throw new HoldfastError({
      code: "store-corrupt",
      store: "its",
      session: spendingLog,
      reason: `entry ${seq} is no purchase`,
    })
  const names = sessions.filter((name) => typeof name === "string")
  return { tenant, agent, sessions: names, minor, ...(typeof session === "string" ? { session } : {}) }
}

/** Does any policy that is enforced depend on what was spent before: in the session, or beyond it? */
export function asksSpent({ policies }: Guard): { readonly inSession: boolean; readonly beyond: boolean } {
  const asks = (name: (typeof spentNames)[number]): boolean =>
    policies.some((policy) => policy.mode === "enforce" && policy.asks.has(name))
  return { inSession: asks("spent"), beyond: spentNames.some((name) => name !== "spent" && asks(name)) }
}

/** A guard that can be asked again about a call that it has judged, by what was spent until then. */
type Rejudging = {
  readonly guard: Guard
  readonly isAllowed: (judged: JudgedCall, now: Circumstances) => boolean
}

export function createRejudging(guard: Guard): Rejudging {
  const calls = new WeakMap<Verdict, Parameters<Guard["judge"]>[0]>()
  return {
    guard: {
      ...guard,
      judge: (call, circumstances) => {
        const verdict = guard.judge(call, circumstances)
        calls.set(verdict, call)
        return verdict
      },
    },
    isAllowed: ({ verdict, approved }, circumstances) => {
      const call = calls.get(verdict)
      return approved === true || call === undefined || guard.judge(call, circumstances).decision === "allow"
    },
  }
}

/** What is thrown where others spent so much meanwhile that a call which was allowed is so no more: the client has to ask again. */
export const spentMeanwhile = (): HoldfastError =>
  new HoldfastError({
    code: "call-withheld",
    why: "the limit on spending was reached by another session meanwhile; ask again",
  })

/** The guard of calls outside any session: what they spend counts for their agent, their tenant, and the session that they name. */
export async function guardOutside(
  spending: Spending,
  spender: Spender,
  guarding: Guarding,
): Promise<Guarding & { readonly onJudged: (judged: JudgedCall) => Promise<void> }> {
  const asks = asksSpent(guarding.guard)
  if (!asks.inSession && !asks.beyond) return { ...guarding, onJudged: async () => {} }
  const circumstancesOf = ({ by, besideMinor }: Sums): Circumstances => ({
    ...guarding.circumstances,
    spentMinor: besideMinor,
    spentByMinor: by,
  })
  const { guard, isAllowed } = createRejudging(guarding.guard)
  const onJudged = async (judged: JudgedCall): Promise<void> => {
    const minor = spentWith([judged])
    if (minor === 0) return
    if (!(await spending.add(spender, minor, (sums) => isAllowed(judged, circumstancesOf(sums)))))
      throw spentMeanwhile()
  }
  return { ...guarding, guard, circumstances: circumstancesOf(await spending.read(spender)), onJudged }
}
