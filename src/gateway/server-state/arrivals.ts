/**
 * Answers that are on their way into the log. A client that goes on from an answer may ask again before the last bytes of that answer
 * have passed, let alone been written down.
 */
export type Arrivals = {
  /** A passage has begun whose answer someone may go on from; the function that comes back says that it has been written down. */
  readonly begin: (tenant: string) => (id: string | undefined) => void
  /** Ends when the answer of this id is written down, when no answer is on its way any more, or after a moment. */
  readonly wait: (tenant: string, id: string) => Promise<void>
}

/** Between the event that completes an answer and the log's word on it lie milliseconds; an id from elsewhere is not worth more. */
const maxWaitMs = 1000
/** Ids of answers that were written down lately. */
const maxKnown = 10_000

type Waiter = { readonly key: string; readonly tenant: string; readonly go: () => void }

export function createArrivals(): Arrivals {
  const known = new Set<string>()
  const open = new Map<string, number>()
  const waiters = new Set<Waiter>()
  const keyOf = (tenant: string, id: string): string => JSON.stringify([tenant, id])
  const isOver = ({ key, tenant }: Waiter): boolean => known.has(key) || (open.get(tenant) ?? 0) === 0
  const tell = (): void => {
    for (const waiter of waiters) if (isOver(waiter)) waiter.go()
  }
  const end = (tenant: string, id: string | undefined): void => {
    const left = (open.get(tenant) ?? 1) - 1
    if (left > 0) open.set(tenant, left)
    else open.delete(tenant)
    if (id !== undefined) known.add(keyOf(tenant, id))
    for (const oldest of known) {
      if (known.size <= maxKnown) break
      known.delete(oldest)
    }
    tell()
  }
  return {
    begin: (tenant) => {
      open.set(tenant, (open.get(tenant) ?? 0) + 1)
      let isOpen = true
      return (id) => {
        if (isOpen) end(tenant, id)
        isOpen = false
      }
    },
    wait: async (tenant, id) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter: Waiter = { key: keyOf(tenant, id), tenant, go: resolve }
      if (isOver(waiter)) return
      waiters.add(waiter)
      const timer = setTimeout(resolve, maxWaitMs)
      await promise
      clearTimeout(timer)
      waiters.delete(waiter)
    },
  }
}
