/** Throws on a bug in our own code; never caught to go on. What users can cause is a `Problem` instead. */
export function assert(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Error(`holdfast bug: ${why}`)
}
