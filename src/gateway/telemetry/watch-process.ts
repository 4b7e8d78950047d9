import { monitorEventLoopDelay } from "node:perf_hooks"

/** Memory use of the process, and its event loop delay. */
export type ProcessFigures = {
  readonly residentBytes: number
  readonly heapUsedBytes: number
  readonly externalBytes: number
  /** Delay since the last read. */
  readonly lagMedianSeconds: number
  readonly lagP99Seconds: number
  readonly lagMaxSeconds: number
}

type ProcessWatch = { readonly read: () => ProcessFigures; readonly stop: () => void }

/** Interval of the delay measurement: fifty timers a second are no load. */
const resolutionMs = 20

/** Watch this process. The timer's own period is subtracted from the measured delay. */
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
