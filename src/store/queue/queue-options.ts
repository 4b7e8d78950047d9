import { HoldfastError } from "../../message/errors.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import type { Job } from "../store.ts"

export type QueueOptions = {
  readonly now?: () => number
  /** How long a job stays ours without a sign of life; it is renewed well before that. */
  readonly leaseMs?: number
  /** How often a job is tried before it is given up. */
  readonly maxAttempts?: number
  /** The pause before the second attempt; each later one is twice as long. */
  readonly retryMs?: number
  /** How often we look for jobs that others added, left behind or freed. */
  readonly pollMs?: number
  /** A job was tried for the last time and is gone. */
  readonly onGiveUp?: (job: Job, reason: unknown) => void
  /** Something failed that will be tried again. Must not throw. */
  readonly onProblem?: (reason: unknown) => void
}

/** Refuse a name that no queue knows, nor this one beside them. */
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

/** A model takes seconds to minutes for a summary; the lease is renewed, so this only bounds how long a dead process holds a job. */
const leaseMs = 60_000

/** A model that failed four times over a quarter of a minute is not going to answer for this prefix. */
const maxAttempts = 4
const retryMs = 2_000

/** One small query a second costs nothing and is the longest that a job of another process waits here. */
const pollMs = 1_000

/** Timers count in 32 bits; beyond that they fire at once. */
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

/** A whole number from 1 to `most`, or an `option-invalid` Problem. */
export function checkCount(option: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return
  throw new HoldfastError({
    code: "option-invalid",
    option,
    expected: `a whole number from 1 to ${most}`,
    found: String(value).slice(0, 40),
  })
}
