/** What goes wrong every few seconds is told once in so long a time. */
const silenceMs = 60_000

/** The first fault at once, and further ones no more often than once in a minute. A listener that throws is not our fault. */
export function tellSeldom(tell: (error: unknown) => void, now: () => number = Date.now): (error: unknown) => void {
  let toldMs = -Infinity
  return (error) => {
    const nowMs = now()
    if (Math.abs(nowMs - toldMs) < silenceMs) return
    toldMs = nowMs
    try {
      tell(error)
    } catch {
      // Nobody is left to tell.
    }
  }
}
