import type { Format } from "../message/message.ts"
import { runInSteps } from "../message/steps.ts"
import type { SseEvent } from "../wire/sse.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { decodeEnd, decodeStep, startDecode } from "../wire/stream-decode.ts"
import { encodeEnd, encodeStep, startEncode } from "../wire/stream-encode.ts"
import type { Guard } from "./guard.ts"
import type { GuardOutput, GuardState } from "./guard-queue.ts"
import { guardEnd, guardEventSteps, guardStep, settleAsk, startGuard } from "./guard-stream.ts"
import { approvedVerdict, type GuardUse, type JudgedCall } from "./judge-call.ts"

export type StreamGuardUse = GuardUse & {
  /** Hears of every call as it is judged; the call goes out once it has. What it throws ends the stream. */
  readonly onJudged?: (judged: JudgedCall) => unknown
}

type Events<Event> = AsyncIterable<Event> | Iterable<Event>

/** Guard a stream that was decoded: what comes out may be read, collected or encoded. */
export async function* guardEvents(
  format: Format,
  events: Events<StreamEvent>,
  guard: Guard,
  use: StreamGuardUse = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  let state = startGuard(format, guard, use)
  for await (const event of events) {
    const step =
      event.type === "part-end" ? await runInSteps(guardEventSteps(state, event), use.pause) : guardStep(state, event)
    const [next, out] = await settled(step, use)
    state = next
    yield* out
  }
  const [, { events: rest, judged }] = guardEnd(state)
  for (const one of judged) await use.onJudged?.(one)
  yield* rest
}

/** Ask whoever is to be asked, one call after the other, and go on with what they say. */
async function settled(
  [state, output]: readonly [GuardState, GuardOutput],
  use: StreamGuardUse,
): Promise<readonly [GuardState, readonly StreamEvent[]]> {
  for (const one of output.judged) await use.onJudged?.(one)
  let next = state
  const events = [...output.events]
  for (const { index, call, verdict } of output.asks) {
    const [told, more] = settleAsk(next, index, await approvedVerdict(call, verdict, use))
    for (const one of more.judged) await use.onJudged?.(one)
    next = told
    events.push(...more.events)
  }
  return [next, events]
}

/** Guard a stream of the wire. With nothing refused the bytes that go out are those that came in. */
export async function* guardSse(
  format: Format,
  wire: Events<SseEvent>,
  guard: Guard,
  use: StreamGuardUse = {},
): AsyncGenerator<SseEvent, void, undefined> {
  let state = startEncode(format)
  for await (const event of guardEvents(format, decoded(format, wire), guard, use)) {
    const [next, written] = encodeStep(state, event)
    state = next
    yield* written
  }
  yield* encodeEnd(state)[1]
}

async function* decoded(format: Format, wire: Events<SseEvent>): AsyncGenerator<StreamEvent, void, undefined> {
  let state = startDecode(format)
  for await (const sse of wire) {
    const [next, events] = decodeStep(state, sse)
    state = next
    yield* events
  }
  yield* decodeEnd(state)
}
