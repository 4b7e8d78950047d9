/** Runs one thing at a time, in the order in which they were asked for. */
export type Lock = <Value>(act: () => Promise<Value>) => Promise<Value>

export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve()
  return (act) => {
    const run = last.then(act, act)
    last = run.catch(() => undefined)
    return run
  }
}
