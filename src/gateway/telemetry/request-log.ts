import type { Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { ExchangeRecord } from "../settings/exchange-record.ts"
import type { BegunExchange, RecentExchanges } from "./recent-exchanges.ts"

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

/** The fields of an exchange record noted so far; unknown ones are missing. */
type RecordFields = Partial<Mutable<Omit<ExchangeRecord, "id" | "atMs" | "totalMs">>>

/** The log of one exchange in progress. It is added to the recent exchanges once, at its end. */
export type RequestLog = {
  readonly id: string
  readonly noted: RecordFields
  /** The request is sent upstream; listeners are told. */
  readonly begin: (known: Pick<BegunExchange, "session" | "model">) => void
  /** The request was sent; the first byte of the response was relayed. */
  readonly sent: () => void
  readonly firstByte: () => void
  readonly close: (ending: ExchangeRecord["ending"], status: number) => void
}

type RequestLogDeps = {
  readonly recentExchanges: RecentExchanges
  readonly now: () => number
  /** A monotonic clock in milliseconds, for durations. */
  readonly clock: () => number
}

export function openRequestLog(
  { recentExchanges, now, clock }: RequestLogDeps,
  id: string,
  method: string,
  path: string,
): RequestLog {
  const atMs = now()
  const start = clock()
  const noted: RecordFields = {}
  let closed = false
  return {
    id,
    noted,
    begin: (known) => {
      const { tenant = "none", client, project } = noted
      recentExchanges.begin({ id, atMs, tenant, ...present({ client, project }), ...known })
    },
    sent: () => {
      noted.preparedMs ??= clock() - start
    },
    firstByte: () => {
      noted.firstByteMs ??= clock() - start
    },
    close: (ending, status) => {
      if (closed) return
      closed = true
      const totalMs = clock() - start
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

/** The reason of a JSON error quotes the body, and records must not quote text of a client. */
const withoutText = (problem: Problem): Problem =>
  problem.code === "json-invalid" ? { ...problem, reason: "it cannot be parsed" } : problem
