import type { Operator } from "../../guard/operator/operator.ts"
import { present } from "../../message/present.ts"
import type { SharedEvents } from "../../store/store.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/** An event from another replica: one of its feed, or a complete exchange record. */
export type RemoteEvent = {
  readonly atMs: number
  readonly name: string
  readonly session?: string
  readonly value: Readonly<Record<string, unknown>>
}

/** Age of the oldest event read at the start: by default calls wait for approval no longer, and older exchanges are in the logs. */
const sinceMs = 15 * 60_000

/** The name of the event that a command was accepted. It has no content: each replica reads the signed log, and trusts nothing else. */
const commandName = "command-accepted"

type Deps = {
  readonly events: SharedEvents | undefined
  readonly operator?: Operator
  readonly onFault?: (error: unknown) => void
}

export type Replicas = ReturnType<typeof joinReplicas>

/** Connects to the other gateways over the same store: sends them the events of this process, and receives theirs. */
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
    /** Calls the listener for events of other replicas, including those of the last minutes. */
    subscribe: (listener: (event: RemoteEvent) => void): void => void listeners.push(listener),
    stop: (): void => {
      stopOperator?.()
      stopFollowing?.()
    },
  }
}
