import type { Problem } from "../../message/errors.ts"
import { createListeners } from "../../message/listeners.ts"
import { present } from "../../message/present.ts"
import { setNewest } from "../../message/recall.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"

/** A model call in progress, with its session and model as far as they are known. */
type BegunExchange = Pick<ExchangeRecord, "id" | "atMs" | "tenant"> &
  Partial<Pick<ExchangeRecord, "session" | "model" | "client" | "project">>

export type RecentExchanges = ReturnType<typeof createRecentExchanges>

/** Limit on records in memory, each some kilobytes. Lasting data is in the session's log. */
const defaultLimit = 1000

/** The latest exchanges; metrics, logs and spans are made from its events. */
export function createRecentExchanges(limit = defaultLimit) {
  const records = new Map<string, ExchangeRecord>()
  const ended = createListeners<ExchangeRecord>()
  const begun = createListeners<BegunExchange>()
  return {
    /** Call when a model call is sent upstream. Listeners are told; nothing is kept. */
    begin: begun.emit,
    add: (record: ExchangeRecord): void => {
      setNewest(records, record.id, record, limit)
      ended.emit(record)
    },
    /** Adds what was known only after the exchange had ended. Listeners are not told again. */
    complete: (id: string, known: Pick<ExchangeRecord, "trace"> & Partial<Pick<ExchangeRecord, "receipt">>): void => {
      const record = records.get(id)
      if (record !== undefined) records.set(id, { ...record, ...known })
    },
    find: (id: string) => records.get(id),
    newest: (most: number, session?: string): readonly ExchangeRecord[] => {
      const all = [...records.values()].reverse()
      return (session === undefined ? all : all.filter((record) => record.session === session)).slice(0, most)
    },
    subscribe: ended.subscribe,
    subscribeBegun: begun.subscribe,
  }
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

export type RequestLog = ReturnType<typeof openRequestLog>

/** The log of one exchange in progress. It is added to the recent exchanges once, at its end. */
export function openRequestLog(
  recentExchanges: RecentExchanges,
  atMs: number,
  id: string,
  method: string,
  path: string,
) {
  const startMs = performance.now()
  const sinceStart = (): number => performance.now() - startMs
  const noted: Partial<Mutable<Omit<ExchangeRecord, "id" | "atMs" | "totalMs">>> = {}
  let closed = false
  return {
    id,
    noted,
    /** The request is sent upstream; listeners are told. */
    begin: (known: Pick<BegunExchange, "session" | "model">): void => {
      const { tenant = "none", client, project } = noted
      recentExchanges.begin({ id, atMs, tenant, ...present({ client, project }), ...known })
    },
    /** The request was sent; the first byte of the response was relayed. */
    sent: (): void => {
      noted.preparedMs ??= sinceStart()
    },
    firstByte: (): void => {
      noted.firstByteMs ??= sinceStart()
    },
    close: (ending: ExchangeRecord["ending"], status: number): void => {
      if (closed) return
      closed = true
      const totalMs = sinceStart()
      recentExchanges.add({
        tenant: "none",
        method,
        path,
        stream: false,
        how: "refused",
        changed: false,
        trace: [],
        judged: [],
        attempts: 0,
        recalls: 0,
        requestBytes: 0,
        sentBytes: 0,
        responseBytes: 0,
        preparedMs: totalMs,
        ...noted,
        ...(noted.problem === undefined ? {} : { problem: withoutText(noted.problem) }),
        id,
        atMs,
        ending,
        status,
        totalMs,
      })
    },
  }
}

/** Removes the reason of a JSON error, which quotes the body: records must not quote text of a client. */
const withoutText = (problem: Problem): Problem =>
  problem.code === "json-invalid" ? { ...problem, reason: "it cannot be parsed" } : problem
