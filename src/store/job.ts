/** Work to be done in the background, once for each key. */
export type Job = {
  readonly key: string
  readonly session: string
  readonly kind: string
  /** JSON text. */
  readonly payload: string
}

/** A job that someone works on until `leasedUntilMs`; after that anyone may take it over. */
export type LeasedJob = Job & { readonly attempt: number; readonly leasedUntilMs: number }

/**
 * Jobs that outlive the process. Taking one is atomic: two takers never hold the same one while its lease lasts. A queue with a
 * database of its own does not use this.
 */
export type JobStore = {
  /** False if a job of this key is there already. */
  readonly put: (job: Job, now: number) => Promise<boolean>
  /** The oldest job that is due and free, leased. */
  readonly lease: (now: number, leaseMs: number) => Promise<LeasedJob | undefined>
  /** The job is over and gone, whether it was done, failed for good or is no longer wanted. */
  readonly finish: (session: string, key: string) => Promise<void>
  /** The job is free again, not before `dueMs`. */
  readonly postpone: (session: string, key: string, dueMs: number) => Promise<void>
  readonly list: (session?: string) => Promise<readonly Job[]>
}
