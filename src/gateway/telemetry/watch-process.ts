import { monitorEventLoopDelay } from "node:perf_hooks"

/** What the process takes, and how late it is with its work. */
export type ProcessFigures = {
  readonly residentBytes: number
  readonly heapUsedBytes: number
  readonly externalBytes: number
  /** Since it was last asked. */
  readonly lagMedianSeconds: number
  readonly lagP99Seconds: number
  readonly lagMaxSeconds: number
}

type ProcessWatch = { readonly read: () => ProcessFigures; readonly stop: () => void }

/** How often the delay is measured: fifty timers in a second are no load. */
const resolutionMs = 20

/** Watch this process. The measured delay has the timer's own period in it, which is taken out. */
export function watchProcess(): ProcessWatch {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const seconds = (nanoseconds: number): number =>
    delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000)
  return {
    read: () => {
      const { rss, heapUsed, external } = process.memoryUsage()
      const figures = {
        residentBytes: rss,
        heapUsedBytes: heapUsed,
        externalBytes: external,
        lagMedianSeconds: seconds(delay.percentile(50)),
        lagP99Seconds: seconds(delay.percentile(99)),
        lagMaxSeconds: seconds(delay.max),
      }
      delay.reset()
      return figures
    },
    stop: () => {
      delay.disable()
    },
  }
}
