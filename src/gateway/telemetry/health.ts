import type { Operator } from "../../guard/operator/operator.ts"
import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { operatorLog } from "../../store/reserved-log.ts"
import type { Store } from "../../store/store.ts"

export type HealthDeps = {
  readonly store: ProbedStore
  readonly operator?: Pick<Operator, "problem">
  readonly closing: () => boolean
  readonly version: string
  readonly now?: () => number
  readonly probeLimitMs?: number
  /** Whether the store could be read and written, each time that it was tried. */
  readonly onStore?: (up: boolean) => void
}

type ProbedStore = Pick<Store, "head" | "putAliases">

/** An answer to a probe: JSON, in which no address, no path and no text of an error is. */
type HealthAnswer = { readonly status: number; readonly body: string }

type Health = {
  /** Can the process answer at all? */
  readonly live: () => HealthAnswer
  /** Should it be sent requests? */
  readonly ready: () => Promise<HealthAnswer>
  /** A request found something of the store damaged. */
  readonly noteDamage: () => void
}

/** What stands in the way, and the code of the problem. */
type Reason = { readonly part: "gateway" | "store" | "operator"; readonly code: string }

/** A store that takes longer than this is of no use to a request; most probes wait no longer either. */
const usualProbeLimitMs = 2000
/** So long an answer of the store holds: probes come from many sides, and must be no load. */
const answerHoldsMs = 1000
/** A store that can be read may still have no room, or no file any more: it is written to this often at most. */
const writtenHoldsMs = 5000
/** So long a damage counts that a request has met: whoever needs what is damaged comes again sooner. */
const damageHoldsMs = 300_000

/** What is written to try the store. The name has a blank, which no session's name may have. */
const probeName = "readiness probe"

export function createHealth({ store, operator, closing, version, ...rest }: HealthDeps): Health {
  const probe = createStoreProbe(store, rest)
  return {
    noteDamage: probe.noteDamage,
    live: () => ({ status: 200, body: JSON.stringify({ status: "ok", version }) }),
    ready: async () => {
      const reasons: Reason[] = []
      if (closing()) reasons.push({ part: "gateway", code: "closing" })
      const trouble = await probe.ask()
      if (trouble !== undefined) reasons.push({ part: "store", code: trouble })
      const problem = operator?.problem()
      if (problem !== undefined) reasons.push({ part: "operator", code: problem.code })
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

type ProbeOptions = Pick<HealthDeps, "now" | "probeLimitMs" | "onStore">

type StoreProbe = {
  /** The code of what is wrong with the store, if anything is. */
  readonly ask: () => Promise<string | undefined>
  readonly noteDamage: () => void
}

/** Why the store cannot be used, if so. One try at a time: one that hangs is not joined by others. */
function createStoreProbe(
  store: ProbedStore,
  { now = Date.now, probeLimitMs = usualProbeLimitMs, onStore = () => {} }: ProbeOptions,
): StoreProbe {
  const holds = (atMs: number | undefined, ms: number): boolean =>
    // A clock that was set back must not make an old answer a new one.
    atMs !== undefined && Math.abs(now() - atMs) < ms
  let known: { readonly atMs: number; readonly code: string | undefined } | undefined
  let writtenMs: number | undefined
  let damagedMs: number | undefined
  let asking: Promise<string | undefined> | undefined
  let hanging = false
  const use = async (): Promise<string | undefined> => {
    hanging = true
    try {
      await store.head(operatorLog)
      if (holds(writtenMs, writtenHoldsMs)) return undefined
      await store.putAliases(probeName, [{ name: probeName, entry: `${now()}` }])
      writtenMs = now()
      return undefined
    } catch (error) {
      writtenMs = undefined
      return error instanceof HoldfastError ? error.problem.code : "store-failed"
    } finally {
      hanging = false
    }
  }
  const ask = async (): Promise<string | undefined> => {
    const used = hanging ? "store-late" : await within(probeLimitMs, use(), "store-late")
    const code = used ?? (holds(damagedMs, damageHoldsMs) ? "store-corrupt" : undefined)
    known = { atMs: now(), code }
    onStore(code === undefined)
    return code
  }
  return {
    noteDamage: () => {
      damagedMs = now()
      known = undefined
    },
    ask: () => {
      if (known !== undefined && holds(known.atMs, answerHoldsMs)) return Promise.resolve(known.code)
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return asking
    },
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
