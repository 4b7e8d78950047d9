import { type TurnResult, turn } from "./turn.ts"
import type { TurnEvent } from "./turn-event.ts"
import type { TurnOptions } from "./turn-options.ts"

/** A turn whose events are looped over; its result, or the error that ended it, comes after the last of them. */
export type TurnStream = AsyncIterable<TurnEvent> & { readonly result: Promise<TurnResult> }

/** Run a turn and hand out its events as they come. It begins at once; leaving the loop early stops it. */
export function streamTurn(options: TurnOptions): TurnStream {
  const controller = new AbortController()
  const { signal, onEvent } = options
  const stops = [controller.signal, ...(signal === undefined ? [] : [signal])]
  let waiting: TurnEvent[] = []
  let ended = false
  let wake: () => void = () => {}
  const result = turn({
    ...options,
    signal: AbortSignal.any(stops),
    onEvent: (event) => {
      waiting.push(event)
      onEvent?.(event)
      wake()
    },
  }).finally(() => {
    ended = true
    wake()
  })
  // Whoever loops is told of the error at the end of the loop; nobody has to ask for the result as well.
  result.catch(() => {})

  async function* events(): AsyncGenerator<TurnEvent, void, undefined> {
    try {
      for (;;) {
        const come = waiting
        waiting = []
        yield* come
        if (waiting.length > 0) continue
        if (ended) break
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      if (!ended) controller.abort()
    }
    await result
  }
  return { [Symbol.asyncIterator]: events, result }
}
