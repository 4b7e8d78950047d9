import { vi } from "vitest"
import type { Handler, Queue } from "../../../src/store/queue/queue.ts"
import type { Job } from "../../../src/store/store.ts"

export type QueueWorldOptions = {
  readonly maxAttempts?: number
  readonly retryMs?: number
  readonly onGiveUp?: (job: Job, reason: unknown) => void
}

/** A shared place for jobs. All queues opened in it see the same jobs, as the processes of a deployment do. */
export type QueueWorld = {
  readonly open: (options?: QueueWorldOptions) => Promise<Queue>
  readonly stop: () => Promise<void>
}

/** Opens a queue that is closed after the test. */
export type Open = (options?: QueueWorldOptions) => Promise<Queue>

export const job = (key: string, session = "s"): Job => ({ key, session, kind: "summary", payload: `{"of":"${key}"}` })

/** Long enough for the slowest implementation on a busy machine. */
const patience = { timeout: 60_000, interval: 5 }

/** Waits until the check passes. */
export const comes = (check: () => void): Promise<void> => vi.waitFor(check, patience)

/** A handler that runs until its signal fires, and then rejects as a well-behaved handler does. */
export const untilStopped: Handler = (_job, signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")))
  })
