/** Work that can be cut after each step; its result is the same, however often others get a turn in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Do all of it at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Do it with a pause after each step, where there is one to make. */
export async function runInSteps<Result>(
  steps: Steps<Result>,
  pause: (() => Promise<void> | undefined) | undefined,
): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const resting = pause?.()
    if (resting !== undefined) await resting
  }
}
