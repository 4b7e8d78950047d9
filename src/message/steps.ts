/** Work that can be interrupted after each step; its result does not depend on the interruptions. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Runs all steps at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs the steps with a pause after each one, if `pause` returns one. */
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
