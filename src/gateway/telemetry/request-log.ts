import type { Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { ExchangeRecord } from "../settings/exchange-record.ts"
import type { BegunExchange, RecentExchanges } from "./recent-exchanges.ts"

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

/** What is noted of an exchange while it goes on; what was not seen is left out. */
type Noted = Partial<Mutable<Omit<ExchangeRecord, "id" | "atMs" | "totalMs">>>

/** One exchange while it goes on. It is entered in the list of recent exchanges once, when it has ended. */
export type RequestLog = {
  readonly id: string
  readonly noted: Noted
  /** It goes upstream: whoever looks on is told. */
  readonly begin: (known: Pick<BegunExchange, "session" | "model">) => void
  /** It was sent on; the answer's first byte was passed on. */
  readonly sent: () => void
  readonly firstByte: () => void
  readonly close: (ending: ExchangeRecord["ending"], status: number) => void
}

type RequestLogDeps = {
  readonly recentExchanges: RecentExchanges
  readonly now: () => number
  /** For how long something took. */
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
  const noted: Noted = {}
  let closed = false
  return {
    id,
    noted,
    begin: (known) => {
      const { tenant = "none", client } = noted
      recentExchanges.begin({ id, atMs, tenant, ...present({ client }), ...known })
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

/** What a body that is no JSON has in it is quoted where that is said, and the recent exchanges quote nobody. */
const withoutText = (problem: Problem): Problem =>
  problem.code === "json-invalid" ? { ...problem, reason: "it does not parse" } : problem
