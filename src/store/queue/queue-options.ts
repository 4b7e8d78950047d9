import { HoldfastError } from "../../message/errors.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import type { Job } from "../store.ts"

export type QueueOptions = {
  readonly now?: () => number
  /** How long a job stays leased without renewal; it is renewed well before that. */
  readonly leaseMs?: number
  /** Number of attempts before a job is given up. */
  readonly maxAttempts?: number
  /** The pause before the second attempt; each later pause is twice as long. */
  readonly retryMs?: number
  /** Interval for polling jobs that other processes added, abandoned or freed. */
  readonly pollMs?: number
  /** Called when a job failed its last attempt and was removed. */
  readonly onGiveUp?: (job: Job, reason: unknown) => void
  /** Called when something failed that will be retried. Must not throw. */
  readonly onProblem?: (reason: unknown) => void
}

/** Refuse unknown option names; `more` are names of this queue only. */
export const checkQueueNames = (options: object, owner: string, more: readonly string[] = []): void =>
  checkOptionNames(options, [...more, ...queueNames], owner)

const queueNames = optionNames<QueueOptions>({
  now: true,
  leaseMs: true,
  maxAttempts: true,
  retryMs: true,
  pollMs: true,
  onGiveUp: true,
  onProblem: true,
})

export type QueueSettings = Required<QueueOptions>

/** A summary takes seconds to minutes; the lease is renewed, so this only limits how long a dead process holds a job. */
const leaseMs = 60_000

/** A model that failed four times in a quarter of a minute will not succeed for this prefix. */
const maxAttempts = 4
const retryMs = 2_000

/** One small query a second is cheap; it is the longest that a job of another process waits here. */
const pollMs = 1_000

/** The longest timer: beyond 32 bits, timers fire at once. */
const longestMs = 2 ** 31 - 1

export function queueSettings(options: QueueOptions): QueueSettings {
  const settings: QueueSettings = {
    now: Date.now,
    leaseMs,
    maxAttempts,
    retryMs,
    pollMs,
    onGiveUp: () => {},
    onProblem: () => {},
    ...options,
  }
  checkCount("leaseMs", settings.leaseMs, longestMs)
  checkCount("maxAttempts", settings.maxAttempts, 1_000)
  checkCount("retryMs", settings.retryMs, longestMs)
  checkCount("pollMs", settings.pollMs, longestMs)
  return settings
}

/** Check for an integer from 1 to `most`; throws an `option-invalid` Problem otherwise. */
export function checkCount(option: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return
  throw new HoldfastError({
    code: "option-invalid",
    option,
    expected: `a whole number from 1 to ${most}`,
    found: String(value).slice(0, 40),
  })
}
