import { HoldfastError, type Problem } from "../../src/message/errors.ts"
import type { Store } from "../../src/store/store.ts"

export type FaultCode = Extract<Problem["code"], "store-unavailable" | "store-full" | "store-locked" | "store-corrupt">

/** What fails, and at which call, counted from 1. */
export type Fault = {
  readonly at: number
  readonly code: FaultCode
  /** Before the call takes effect, after it (the answer is lost), or no answer ever. */
  readonly when: "before" | "after" | "hang"
  /** Fails from that call on until the fault is cleared; otherwise once. */
  readonly lasting?: boolean
  /** Only calls with these names count. */
  readonly only?: readonly string[]
}

export type FailingStore = {
  readonly store: Store
  /** The calls made since the last fault was set, by name. */
  readonly calls: () => readonly string[]
  /** True once the fault has occurred. */
  readonly hasFailed: () => boolean
  /** Sets the fault; calls are counted from zero. */
  readonly set: (fault: Fault | undefined) => void
}

const problems: Readonly<Record<FaultCode, Problem>> = {
  "store-unavailable": { code: "store-unavailable", store: "failing", reason: "it is switched off" },
  "store-full": { code: "store-full", store: "failing" },
  "store-locked": { code: "store-locked", store: "failing", waitedMs: 1 },
  "store-corrupt": { code: "store-corrupt", store: "failing", session: "any", reason: "a page is torn" },
}

/** Wraps a store so that it fails as told. Closing it always works. */
export function createFailingStore(inner: Store): FailingStore {
  let fault: Fault | undefined
  let calls: string[] = []
  let failed = false

  const strikes = (name: string): Fault | undefined => {
    if (fault?.only !== undefined && !fault.only.includes(name)) return undefined
    calls.push(name)
    const isNow = fault !== undefined && (calls.length === fault.at || (fault.lasting && calls.length > fault.at))
    if (!isNow) return undefined
    failed = true
    return fault
  }
  const wrap =
    <Args extends readonly unknown[], Value>(name: string, act: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      const struck = strikes(name)
      if (struck === undefined) return act(...args)
      if (struck.when === "hang") return new Promise<never>(() => {})
      if (struck.when === "after") await act(...args)
      throw new HoldfastError(problems[struck.code])
    }
  return {
    store: {
      ...wrapLog(inner, wrap),
      jobs: {
        put: wrap("jobs.put", inner.jobs.put),
        lease: wrap("jobs.lease", inner.jobs.lease),
        finish: wrap("jobs.finish", inner.jobs.finish),
        postpone: wrap("jobs.postpone", inner.jobs.postpone),
        list: wrap("jobs.list", inner.jobs.list),
      },
      memory: {
        write: wrap("memory.write", inner.memory.write),
        supersede: wrap("memory.supersede", inner.memory.supersede),
        search: wrap("memory.search", inner.memory.search),
        get: wrap("memory.get", inner.memory.get),
        counts: wrap("memory.counts", inner.memory.counts),
        days: wrap("memory.days", inner.memory.days),
      },
    },
    calls: () => calls,
    hasFailed: () => failed,
    set: (next) => {
      fault = next
      calls = []
      failed = false
    },
  }
}

type Wrap = <Args extends readonly unknown[], Value>(
  name: string,
  act: (...args: Args) => Promise<Value>,
) => (...args: Args) => Promise<Value>

const wrapLog = (inner: Store, wrap: Wrap): Omit<Store, "jobs" | "memory"> => ({
  kind: inner.kind,
  isShared: inner.isShared,
  append: wrap("append", inner.append),
  head: wrap("head", inner.head),
  read: wrap("read", inner.read),
  readEntries: wrap("readEntries", inner.readEntries),
  outline: wrap("outline", inner.outline),
  payloads: wrap("payloads", inner.payloads),
  session: wrap("session", inner.session),
  holdings: wrap("holdings", inner.holdings),
  sessions: wrap("sessions", inner.sessions),
  copy: wrap("copy", inner.copy),
  remove: wrap("remove", inner.remove),
  putSummary: wrap("putSummary", inner.putSummary),
  getSummary: wrap("getSummary", inner.getSummary),
  putAliases: wrap("putAliases", inner.putAliases),
  findAliases: wrap("findAliases", inner.findAliases),
  check: wrap("check", inner.check),
  eraseTenant: wrap("eraseTenant", inner.eraseTenant),
  scrub: wrap("scrub", inner.scrub),
  usedBytes: wrap("usedBytes", inner.usedBytes),
  vacuum: wrap("vacuum", inner.vacuum),
  close: inner.close,
})
