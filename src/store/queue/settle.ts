import type { Job } from "../job.ts"
import type { Hold } from "./hold.ts"
import type { JobSource } from "./job-source.ts"
import { pause } from "./pump.ts"
import type { QueueSettings } from "./queue-options.ts"
import { judge } from "./verdict.ts"

/** How an attempt ended: done, or failed for a reason. */
export type Outcome = { readonly type: "done" } | { readonly type: "failed"; readonly reason: unknown }

/**
 * Writes down what became of a job. A source that fails is asked again for as long as the lease lasts; after that the job is anyone's,
 * and done again rather than lost.
 */
export async function settle(hold: Hold, outcome: Outcome, source: JobSource, settings: QueueSettings): Promise<void> {
  const { job } = hold
  const failed = outcome.type === "failed"
  const verdict = judge({ ...settings, stop: hold.stopped(), failed, attempt: job.attempt })
  if (verdict.type === "leave") return
  const write = (): Promise<void> =>
    verdict.type === "postpone" ? source.free(job, verdict.pauseMs) : source.finish(job)
  const written = await writeWhileHeld(write, hold, settings)
  if (written && verdict.type === "give-up") giveUp(job, outcome, settings)
}

async function writeWhileHeld(
  write: () => Promise<void>,
  hold: Hold,
  { pollMs, leaseMs, onProblem }: QueueSettings,
): Promise<boolean> {
  while (hold.lasts()) {
    try {
      await write()
      return true
    } catch (reason) {
      onProblem(reason)
    }
    await pause(Math.min(pollMs, leaseMs))
  }
  return false
}

/** Tells that a job is gone for good. */
export function giveUp(job: Job, outcome: Outcome, { onGiveUp, onProblem }: QueueSettings): void {
  try {
    onGiveUp(plainJob(job), outcome.type === "failed" ? outcome.reason : undefined)
  } catch (reason) {
    onProblem(reason)
  }
}

/** The job as it was added, without what its source keeps beside it. */
export function plainJob({ key, session, kind, payload }: Job): Job {
  return { key, session, kind, payload }
}
