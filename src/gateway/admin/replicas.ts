import type { Operator } from "../../guard/operator/operator.ts"
import { present } from "../../message/present.ts"
import type { SharedEvents } from "../../store/store.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/** What happened at another replica: an event of its feed, or an exchange whole. */
export type RemoteEvent = {
  readonly atMs: number
  readonly name: string
  readonly session?: string
  readonly value: Readonly<Record<string, unknown>>
}

/** A call waits for a person no longer than this by default, and exchanges of older times are in the logs. */
const sinceMs = 15 * 60_000

/** The name under which a replica says that a command was accepted: each reads the signed log itself and believes nothing else. */
const commandName = "command-accepted"

type Deps = {
  readonly events: SharedEvents | undefined
  readonly operator?: Operator
  readonly onFault?: (error: unknown) => void
}

export type Replicas = ReturnType<typeof joinReplicas>

/** The other gateways over the same store: what happens here is told there, and what happens there is heard here. */
export function joinReplicas({ events, operator, onFault }: Deps) {
  const listeners: ((event: RemoteEvent) => void)[] = []
  const tell = (name: string, session: string | undefined, value: object): void =>
    events?.publish({ name, json: JSON.stringify(value), ...present({ session }) })
  const stopOperator = operator?.subscribe((event) => {
    if (event.type === "command-accepted") tell(commandName, undefined, {})
  })
  // No event is missed: listeners subscribe before the store answers for the first time.
  const stopFollowing = events?.follow(({ atMs, name, session, json }) => {
    if (name === commandName) {
      operator?.refresh().catch((error: unknown) => onFault?.(error))
      return
    }
    const value = tryParse(json)
    if (isObject(value)) for (const listener of listeners) listener({ atMs, name, value, ...present({ session }) })
  }, sinceMs)
  return {
    tell,
    /** Hear what happened at another replica, in the last minutes too. */
    subscribe: (listener: (event: RemoteEvent) => void): void => void listeners.push(listener),
    stop: (): void => {
      stopOperator?.()
      stopFollowing?.()
    },
  }
}
