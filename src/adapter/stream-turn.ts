import { type TurnResult, turn } from "./turn.ts"
import type { TurnEvent } from "./turn-event.ts"
import type { TurnOptions } from "./turn-options.ts"

/** The events of a turn as an async iterable; `result` resolves or rejects after the last event. */
export type TurnStream = AsyncIterable<TurnEvent> & { readonly result: Promise<TurnResult> }

/** Runs a turn and yields its events as they happen. It starts at once; leaving the loop early stops it. */
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
  // The loop throws the error as well, so an unread `result` must not become an unhandled rejection.
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
