/** Who hears of the events of one kind. */
type Listeners<Event> = {
  readonly emit: (event: Event) => void
  /** Call the returned function to unsubscribe. */
  readonly subscribe: (listener: (event: Event) => void) => () => void
}

/** A listener that throws is removed, so that it can break nothing of what it hears about. */
export function createListeners<Event>(): Listeners<Event> {
  const listeners = new Map<symbol, (event: Event) => void>()
  return {
    emit: (event) => {
      for (const [id, listener] of listeners) {
        try {
          listener(event)
        } catch {
          listeners.delete(id)
        }
      }
    },
    subscribe: (listener) => {
      const id = Symbol("listener")
      listeners.set(id, listener)
      return () => {
        listeners.delete(id)
      }
    },
  }
}
