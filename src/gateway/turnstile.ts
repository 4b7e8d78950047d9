/** Lets work in piece by piece, so that whoever is served meanwhile waits for one piece and not for all that is there. */
export type Turnstile = {
  /** Wait for a turn, or only until `hurry`; call what comes back once the work is done. */
  readonly enter: (hurry: Promise<void>) => Promise<() => void>
}

export function createTurnstile(most: number): Turnstile {
  const waiting: (() => boolean)[] = []
  let inside = 0
  let isDue = false
  const admit = (): void => {
    isDue = false
    let admitted = false
    while (!admitted && waiting.length > 0) admitted = waiting.shift()?.() ?? false
    if (admitted) inside++
    plan()
  }
  /** One each time round the event loop: between two of them everyone else has a turn. */
  const plan = (): void => {
    if (isDue || inside >= most || waiting.length === 0) return
    isDue = true
    setImmediate(admit)
  }
  const leave = (): void => {
    inside--
    plan()
  }
  return {
    enter: (hurry) => {
      const { promise, resolve } = Promise.withResolvers<() => void>()
      let isIn = false
      const go = (left: () => void): boolean => {
        if (isIn) return false
        isIn = true
        resolve(left)
        return true
      }
      waiting.push(() => go(leave))
      void hurry.then(() => go(() => {}))
      plan()
      return promise
    },
  }
}
