import { setTimeout as sleep } from "node:timers/promises"
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
  /** Called after each probe: whether the store could be read and written. */
  readonly onStore?: (up: boolean) => void
}

type ProbedStore = Pick<Store, "head" | "putAliases">

/** The response to a probe: JSON without addresses, paths or error texts. */
type HealthAnswer = { readonly status: number; readonly body: string }

/** Time limit of a probe: a slower store is useless for requests, and most probes do not wait longer either. */
const defaultProbeLimitMs = 2000
/** Time that a probe result is reused: many clients send probes, and they must not be a load. */
const answerHoldsMs = 1000
/** Minimum interval of write probes: a readable store may have no space, or its file may be gone. */
const writtenHoldsMs = 5000
/** Time that reported damage counts: requests that need the damaged data are repeated sooner. */
const damageHoldsMs = 300_000

/** The name used by write probes. It contains a space, which no session id may have. */
const probeName = "readiness probe"

export function createHealth({ store, operator, closing, version, ...rest }: HealthDeps) {
  const probe = createStoreProbe(store, rest)
  return {
    /** Call when a request found damaged data in the store. */
    noteDamage: probe.noteDamage,
    /** The liveness probe: the process runs. */
    live: (): HealthAnswer => ({ status: 200, body: JSON.stringify({ status: "ok", version }) }),
    /** The readiness probe: the process should receive requests. */
    ready: async (): Promise<HealthAnswer> => {
      const reasons: { readonly part: "gateway" | "store" | "operator"; readonly code: string }[] = []
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

/** Probes the store. One probe runs at a time: no second one is started while one hangs. */
function createStoreProbe(
  store: ProbedStore,
  { now = Date.now, probeLimitMs = defaultProbeLimitMs, onStore }: Pick<HealthDeps, "now" | "probeLimitMs" | "onStore">,
) {
  const holds = (atMs: number | undefined, ms: number): boolean =>
    // If the clock was set back, an old result must not count as new.
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
    const late = "store-late"
    const used = hanging ? late : await Promise.race([use(), sleep(probeLimitMs, late, { ref: false })])
    const code = used ?? (holds(damagedMs, damageHoldsMs) ? "store-corrupt" : undefined)
    known = { atMs: now(), code }
    onStore?.(code === undefined)
    return code
  }
  return {
    noteDamage: (): void => {
      damagedMs = now()
      known = undefined
    },
    /** The problem code of the store, if there is one. */
    ask: (): Promise<string | undefined> => {
      if (known !== undefined && holds(known.atMs, answerHoldsMs)) return Promise.resolve(known.code)
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return asking
    },
  }
}
