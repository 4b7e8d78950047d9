import { HoldfastError } from "../../errors.ts"
import { present } from "../../message/present.ts"
import type { Operator } from "../../operator/operator.ts"
import { operatorLog } from "../../store/reserved-log.ts"
import type { Store } from "../../store/store.ts"

export type HealthDeps = {
  readonly store: Pick<Store, "head">
  readonly operator?: Pick<Operator, "problem">
  readonly closing: () => boolean
  readonly version: string
  readonly now?: () => number
  readonly readLimitMs?: number
  /** Whether the store could be read, each time that it was tried. */
  readonly onStore?: (up: boolean) => void
}

/** An answer to a probe: JSON, in which no address, no path and no text of an error is. */
export type HealthAnswer = { readonly status: number; readonly body: string }

export type Health = {
  /** Can the process answer at all? */
  readonly live: () => HealthAnswer
  /** Should it be sent requests? */
  readonly ready: () => Promise<HealthAnswer>
}

/** What stands in the way, and the code of the problem. */
type Reason = { readonly part: "gateway" | "store" | "operator"; readonly code: string }

/** A store that takes longer than this is of no use to a request; most probes wait no longer either. */
const usualReadLimitMs = 2000
/** So long an answer of the store holds: probes come from many sides, and must be no load. */
const answerHoldsMs = 1000

export function createHealth({ store, operator, closing, version, ...rest }: HealthDeps): Health {
  const storeReason = createStoreProbe(store, rest)
  return {
    live: () => ({ status: 200, body: JSON.stringify({ status: "ok", version }) }),
    ready: async () => {
      const reasons: Reason[] = []
      if (closing()) reasons.push({ part: "gateway", code: "closing" })
      const unreadable = await storeReason()
      if (unreadable !== undefined) reasons.push({ part: "store", code: unreadable })
      const trouble = operator?.problem()
      if (trouble !== undefined) reasons.push({ part: "operator", code: trouble.code })
      const ready = reasons.length === 0
      const body = {
        status: ready ? "ok" : "unavailable",
        version,
        ...present({ reasons: ready ? undefined : reasons }),
      }
      return { status: ready ? 200 : 503, body: JSON.stringify(body) }
    },
  }
}

type ProbeOptions = Pick<HealthDeps, "now" | "readLimitMs" | "onStore">

/** Why the store cannot be read, if so. One read at a time: one that hangs is not joined by others. */
function createStoreProbe(
  store: Pick<Store, "head">,
  { now = Date.now, readLimitMs = usualReadLimitMs, onStore = () => {} }: ProbeOptions,
): () => Promise<string | undefined> {
  let known: { readonly atMs: number; readonly code: string | undefined } | undefined
  let asking: Promise<string | undefined> | undefined
  let hanging = false
  const read = async (): Promise<string | undefined> => {
    hanging = true
    try {
      await store.head(operatorLog)
      return undefined
    } catch (error) {
      return error instanceof HoldfastError ? error.problem.code : "store-failed"
    } finally {
      hanging = false
    }
  }
  const ask = async (): Promise<string | undefined> => {
    const code = hanging ? "store-late" : await within(readLimitMs, read(), "store-late")
    known = { atMs: now(), code }
    onStore(code === undefined)
    return code
  }
  return () => {
    // A clock that was set back must not make an old answer a new one.
    if (known !== undefined && Math.abs(now() - known.atMs) < answerHoldsMs) return Promise.resolve(known.code)
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }
}

async function within<Value>(limitMs: number, work: Promise<Value>, late: Value): Promise<Value> {
  const timeout = Promise.withResolvers<Value>()
  const timer = setTimeout(() => timeout.resolve(late), limitMs)
  try {
    return await Promise.race([work, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
