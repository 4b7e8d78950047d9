import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../wire/sse.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { decodeEnd, decodeStep, startDecode } from "../wire/stream-decode.ts"
import type { Deadline } from "./deadline.ts"
import { fail } from "./failure.ts"

export type StreamReading = {
  readonly format: Format
  readonly host: string
  readonly limitBytes: number
  readonly deadline: Deadline
  readonly tell: (text: string) => string
}

/**
 * The events of a streamed answer as they come. What the server says went wrong, and a stream that is cut, are `error` events; a stop,
 * the time limit and an answer that is too large are thrown. Leaving the loop ends the connection.
 */
export async function* readStream(
  body: AsyncIterable<Uint8Array>,
  { format, host, limitBytes, deadline, tell }: StreamReading,
): AsyncGenerator<StreamEvent, void, undefined> {
  let state = startDecode(format)
  const read = (wire: readonly SseEvent[]): readonly StreamEvent[] => {
    const all: StreamEvent[] = []
    for (const sse of wire) {
      const [next, events] = decodeStep(state, sse)
      state = next
      for (const event of events) all.push(told(event, tell))
    }
    return all
  }
  let sse = startSse()
  let length = 0
  try {
    for await (const chunk of unbroken(body, deadline)) {
      length += chunk.byteLength
      if (length > limitBytes) fail({ code: "upstream-too-large", host, limitBytes })
      const [next, wire] = sseStep(sse, chunk)
      sse = next
      yield* read(wire)
    }
    yield* read(sseEnd(sse))
    yield* decodeEnd(state)
  } finally {
    deadline.end()
  }
}

/** The chunks up to where the connection dies: what that means, the reader of the stream knows. Only our own end to it is thrown. */
async function* unbroken(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (cause) {
    const problem = deadline.problem()
    if (problem !== undefined) throw new HoldfastError(problem)
    if (!(cause instanceof Error)) throw cause
  }
}

/** Servers like to repeat what they were sent: the words of an error hold no secret. */
function told(event: StreamEvent, tell: (text: string) => string): StreamEvent {
  if (event.type !== "error" || event.problem.code !== "upstream-error") return event
  const { type, message } = event.problem
  return { ...event, problem: { ...event.problem, type: tell(type), message: tell(message) || "no message" } }
}
