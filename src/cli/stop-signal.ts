/** Aborts when the program is asked to end. The first wish to end is a polite one; a second one ends the process as usual. */
export type StopSignal = { readonly signal: AbortSignal; readonly release: () => void }

const wishes = ["SIGINT", "SIGTERM"] as const

export function stopSignal(): StopSignal {
  const controller = new AbortController()
  const release = (): void => {
    for (const wish of wishes) process.off(wish, stop)
  }
  const stop = (): void => {
    release()
    controller.abort()
  }
  for (const wish of wishes) process.on(wish, stop)
  return { signal: controller.signal, release }
}
