import { HoldfastError } from "../errors.ts"
import type { Format } from "../message/message.ts"
import type { ModelResponse } from "../message/request.ts"
import { collectEnd, collectStep, startCollect } from "../wire/collect.ts"
import { decodeResponse } from "../wire/decode.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../wire/sse.ts"
import { arrayEnd, arrayStep, startArray } from "../wire/sse-array.ts"
import { decodeEnd, decodeStep, startDecode } from "../wire/stream-decode.ts"
import type { Framing } from "./events-in.ts"

/** What a client got, as an answer: whole, or as far as it came. Nothing where it cannot be read. */
export function readAnswer(format: Format, bytes: Buffer, framing: Framing | undefined): ModelResponse | undefined {
  try {
    if (framing === undefined) return decodeResponse(format, bytes.toString("utf8"))
    let reading = startDecode(format)
    let collecting = startCollect(format)
    for (const sse of framesOf(bytes, framing)) {
      const [next, events] = decodeStep(reading, sse)
      reading = next
      for (const event of events) collecting = collectStep(collecting, event)
    }
    for (const event of decodeEnd(reading)) collecting = collectStep(collecting, event)
    return collectEnd(collecting)
  } catch (error) {
    if (error instanceof HoldfastError) return undefined
    throw error
  }
}

function framesOf(bytes: Buffer, framing: Framing): readonly SseEvent[] {
  if (framing === "array") {
    const [state, events] = arrayStep(startArray(), bytes)
    return [...events, ...arrayEnd(state)]
  }
  const [state, events] = sseStep(startSse(), bytes)
  return [...events, ...sseEnd(state)]
}
