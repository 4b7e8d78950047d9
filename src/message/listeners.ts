/** The listeners of one kind of event. */
type Listeners<Event> = {
  readonly emit: (event: Event) => void
  /** Returns a function that unsubscribes. */
  readonly subscribe: (listener: (event: Event) => void) => () => void
}

/** Creates a list of listeners. A listener that throws is removed, so that it cannot break the code that emits events. */
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
