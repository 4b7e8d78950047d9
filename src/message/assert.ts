/** A broken promise of our own code: loud, and never caught to go on. What users can cause is a `Problem` instead. */
export function assert(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Error(`holdfast bug: ${why}`)
}
