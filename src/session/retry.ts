import { HoldfastError } from "../message/errors.ts"

/** How often a store that was away is tried again by itself: another process may need what waits here. */
const saveAgainMs = 1000

/** Does something again and again until it is done. Nobody stays up for it. */
export function createRetry(act: () => Promise<boolean>): { readonly start: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const start = (): void => {
    if (timer !== undefined || isStopped) return
    timer = setTimeout(() => void again(), saveAgainMs)
    timer.unref()
  }
  const again = async (): Promise<void> => {
    const isDone = await act().catch(ignoreProblem)
    timer = undefined
    if (isDone !== true) start()
  }
  return {
    start,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function ignoreProblem(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) throw error
  return false
}
