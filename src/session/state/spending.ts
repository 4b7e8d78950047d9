import type { Guard, Verdict } from "../../guard/guard.ts"
import { type Guarding, type JudgedCall, spentWith } from "../../guard/judge-call.ts"
import type { Circumstances, SpentBy } from "../../guard/policy/condition.ts"
import { spentNames } from "../../guard/policy/schema.ts"
import { HoldfastError } from "../../message/errors.ts"
import { createLock } from "../../store/pace.ts"
import { hashEntry, spendingLog } from "../../store/reserved-log.ts"
import { type Head, type MemoryOwner, noHead, type Store, type StoredEntry } from "../../store/store.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/** An allowed tool call that spends money, in hundredths of the currency, with its id and that of its response, if the response has one. */
type Purchase = Spender & { readonly minor: number; readonly response?: string; readonly call?: string }

/** A call of a response that has an id. `isRead`: a response that was delivered before is read again; ids of new ones may repeat. */
export type CallOfResponse = Required<Pick<Purchase, "response" | "call">> & { readonly isRead: boolean }

/** The tenant, agent and session that spend. */
export type Spender = MemoryOwner & {
  /** The names of the session; empty for a request outside any session. */
  readonly sessions: readonly string[]
  /** The session whose log has it; missing if the request bypassed its session. */
  readonly session?: string
}

/** What was spent before: by agent and tenant, as policies read it, and in the session beyond what its own log has, as by other agents. */
export type SpendingSums = { readonly by: SpentBy; readonly besideMinor: number }

export type Spending = ReturnType<typeof createSpending>

/** Number of entries read at a time. */
const batchEntries = 5_000
/** Limit on attempts to add, repeated if another process added something meanwhile. This often in a row it is a fault. */
const maxRaces = 32
const dayMs = 24 * 60 * 60 * 1000
const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

/** Sums of purchases, by everything that a limit may apply to; also for each response, so that one can be left out. */
function createAccounts() {
  const sums = new Map<string, number>()
  const counted = new Set<string>()
  const callOf = ({ tenant }: Spender, { response, call }: Omit<CallOfResponse, "isRead">): string =>
    JSON.stringify([tenant, response, call])
  const sum = (except: string | undefined, ...key: readonly unknown[]): number =>
    (sums.get(JSON.stringify(key)) ?? 0) -
    (except === undefined ? 0 : (sums.get(JSON.stringify(["response", except, ...key])) ?? 0))
  return {
    take: ({ minor, response, call, ...spender }: Purchase, atMs: number): void => {
      const { tenant, agent, session } = spender
      const count = (...key: readonly unknown[]): void => {
        for (const one of response === undefined ? [key] : [key, ["response", response, ...key]]) {
          const name = JSON.stringify(one)
          sums.set(name, (sums.get(name) ?? 0) + minor)
        }
      }
      count("tenant", tenant)
      count("tenant", tenant, dayOf(atMs))
      count("agent", tenant, agent)
      count("agent", tenant, agent, dayOf(atMs))
      for (const key of keysOf(spender)) count("session", ...key)
      if (session !== undefined) count("log", tenant, session)
      if (response !== undefined && call !== undefined) counted.add(callOf(spender, { response, call }))
    },
    sums: (spender: Spender, atMs: number, except?: string): SpendingSums => {
      const { tenant, agent, session } = spender
      const inSession = keysOf(spender).reduce((most, key) => Math.max(most, sum(except, "session", ...key)), 0)
      return {
        by: {
          agentSpent: sum(except, "agent", tenant, agent),
          agentSpentToday: sum(except, "agent", tenant, agent, dayOf(atMs)),
          tenantSpent: sum(except, "tenant", tenant),
          tenantSpentToday: sum(except, "tenant", tenant, dayOf(atMs)),
        },
        besideMinor: inSession - (session === undefined ? 0 : sum(except, "log", tenant, session)),
      }
    },
    inLog: ({ tenant, session }: Spender, response: string): number =>
      sums.get(JSON.stringify(["response", response, "log", tenant, session])) ?? 0,
    has: (spender: Spender, of: CallOfResponse): boolean => counted.has(callOf(spender, of)),
    clear: (): void => {
      sums.clear()
      counted.clear()
    },
  }
}

/** Creates the account of what sessions of all agents and tenants spend, in a log that every process on the store adds to. */
export function createSpending({ store, now }: { readonly store: Store; readonly now: () => number }) {
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
  const known = (spender: Spender, except?: string): SpendingSums => accounts.sums(spender, now(), except)
  const entryOf = (purchase: Purchase): StoredEntry => {
    const entry = { seq: head.seq + 1, type: "money-spent", atMs: now(), body: JSON.stringify(purchase) }
    return { ...entry, hash: hashEntry(head.hash, entry) }
  }
  const lock = createLock()
  return {
    /** The sums as last read. */
    known,
    /** True if the call was counted, as last read. */
    has: accounts.has,
    /** What the session's own log has for that response, as last read. */
    inLog: accounts.inLog,
    /** Reads the current sums, without the calls of the response `except`. Throws a Problem if the store cannot be read. */
    read: (spender: Spender, except?: string): Promise<SpendingSums> =>
      lock(async () => {
        await refresh()
        return known(spender, except)
      }),
    /** Adds a purchase and returns true, if `isAllowed` for the current sums. A call of a response that is read again counts once. */
    add: (
      spender: Spender,
      minor: number,
      isAllowed: (sums: SpendingSums) => boolean,
      of?: CallOfResponse,
    ): Promise<boolean> =>
      lock(async () => {
        for (let race = 0; race < maxRaces; race++) {
          await refresh()
          if (of?.isRead === true && accounts.has(spender, of)) return true
          if (!isAllowed(known(spender))) return false
          const named = of === undefined ? {} : { response: of.response, call: of.call }
          const entry = entryOf({ ...spender, minor, ...named })
          const written = await store.append(spendingLog, { after: head.seq, entries: [entry] })
          if (written.type !== "appended") continue
          take(entry)
          return true
        }
        throw new HoldfastError({ code: "store-locked", store: store.kind, waitedMs: 0 })
      }),
  }
}

/** The account keys of a spender. Requests outside any session share one account per agent: leaving out the name gives no extra limit. */
const keysOf = ({ tenant, agent, sessions }: Spender): readonly (readonly string[])[] =>
  sessions.length === 0 ? [[tenant, "", agent]] : [...new Set(sessions)].map((session) => [tenant, session])

function readPurchase(seq: number, body: string): Purchase {
  const read = tryParse(body)
  const { tenant, agent, sessions, session, minor, response, call } = isObject(read) ? read : {}
  if (typeof tenant !== "string" || typeof agent !== "string" || typeof minor !== "number" || !Array.isArray(sessions))
    throw new HoldfastError({
      code: "store-corrupt",
      store: "its",
      session: spendingLog,
      reason: `entry ${seq} is no purchase`,
    })
  const names = sessions.filter((name) => typeof name === "string")
  return {
    tenant,
    agent,
    sessions: names,
    minor,
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof response === "string" && typeof call === "string" ? { response, call } : {}),
  }
}

/** Returns whether an enforced policy depends on what was spent before: in the session, or beyond it. */
export function asksSpent({ policies }: Guard): { readonly inSession: boolean; readonly beyond: boolean } {
  const asks = (name: (typeof spentNames)[number]): boolean =>
    policies.some((policy) => policy.mode === "enforce" && policy.asks.has(name))
  return { inSession: asks("spent"), beyond: spentNames.some((name) => name !== "spent" && asks(name)) }
}

/** Wraps a guard so that a call that it has judged can be judged again, with what was spent until then. */
export function createRejudging(guard: Guard) {
  const calls = new WeakMap<Verdict, Parameters<Guard["judge"]>[0]>()
  const judge: Guard["judge"] = (call, circumstances) => {
    const verdict = guard.judge(call, circumstances)
    calls.set(verdict, call)
    return verdict
  }
  return {
    guard: { ...guard, judge },
    isAllowed: ({ verdict, approved }: JudgedCall, circumstances: Circumstances): boolean => {
      const call = calls.get(verdict)
      return approved === true || call === undefined || guard.judge(call, circumstances).decision === "allow"
    },
  }
}

/** The error if others spent so much meanwhile that a call is no longer allowed: the client has to ask again. */
export const spentMeanwhile = (): HoldfastError =>
  new HoldfastError({
    code: "call-withheld",
    why: "the limit on spending was reached by another session meanwhile; ask again",
  })

/** Called for each judged call, with the id of its response if that has one. */
export type OnJudged = (judged: JudgedCall, response?: string) => Promise<void>

export const callOfResponse = (
  { callId }: JudgedCall,
  response: string | undefined,
  stored: string | undefined,
): CallOfResponse | undefined =>
  response === undefined || callId === "" ? undefined : { response, call: callId, isRead: response === stored }

/**
 * The guard for calls outside any session. What they spend counts for their agent, their tenant, and the session that they name. `stored`
 * is the id of a response that was delivered before.
 */
export async function guardOutside(
  spending: Spending,
  spender: Spender,
  guarding: Guarding,
  stored?: string,
): Promise<Guarding & { readonly onJudged: OnJudged }> {
  const asks = asksSpent(guarding.guard)
  if (!asks.inSession && !asks.beyond) return { ...guarding, onJudged: async () => {} }
  const circumstancesOf = ({ by, besideMinor }: SpendingSums): Circumstances => ({
    ...guarding.circumstances,
    spentMinor: besideMinor,
    spentByMinor: by,
  })
  const { guard, isAllowed } = createRejudging(guarding.guard)
  const onJudged: OnJudged = async (judged, response) => {
    const minor = spentWith([judged])
    if (minor === 0) return
    const isStillAllowed = (sums: SpendingSums): boolean => isAllowed(judged, circumstancesOf(sums))
    if (!(await spending.add(spender, minor, isStillAllowed, callOfResponse(judged, response, stored))))
      throw spentMeanwhile()
  }
  return { ...guarding, guard, circumstances: circumstancesOf(await spending.read(spender, stored)), onJudged }
}
