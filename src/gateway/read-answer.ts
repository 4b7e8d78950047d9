import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import type { ModelResponse } from "../message/request.ts"
import { collectEnd, collectStep, startCollect } from "../wire/collect.ts"
import { decodeResponse } from "../wire/decode.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../wire/sse.ts"
import { arrayEnd, arrayStep, startArray } from "../wire/sse-array.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { decodeEnd, decodeStep, startDecode } from "../wire/stream-decode.ts"
import { eventsIn, type Framing } from "./events-in.ts"

/** An answer as far as it came. */
export type ReadAnswer = {
  readonly response: ModelResponse
  /** The model came to its end: no error stands in the stream, and why it stopped is said. */
  readonly isWhole: boolean
}

/** A shorter answer is read at once: a few milliseconds. */
const readAtOnceBytes = 262_144

/** What a client got, as an answer. Nothing where it cannot be read. One that was long is read in slices, between which others are served. */
export function readAnswer(
  format: Format,
  bytes: Buffer,
  framing: Framing | undefined,
): ReadAnswer | undefined | Promise<ReadAnswer | undefined> {
  if (framing === undefined || bytes.length <= readAtOnceBytes) {
    return orNothing(() => {
      if (framing === undefined) return { response: decodeResponse(format, bytes.toString("utf8")), isWhole: true }
      const reader = createReader(format)
      for (const sse of framesOf(bytes, framing)) reader.take(sse)
      return reader.end()
    })
  }
  return readInSlices(format, bytes, framing)
}

async function readInSlices(format: Format, bytes: Buffer, framing: Framing): Promise<ReadAnswer | undefined> {
  const reader = createReader(format)
  try {
    for await (const sse of eventsIn([bytes], framing)) reader.take(sse)
  } catch (error) {
    if (error instanceof HoldfastError) return undefined
    throw error
  }
  return orNothing(reader.end)
}

function orNothing(read: () => ReadAnswer): ReadAnswer | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof HoldfastError) return undefined
    throw error
  }
}

type Reader = { readonly take: (sse: SseEvent) => void; readonly end: () => ReadAnswer }

function createReader(format: Format): Reader {
  let reading = startDecode(format)
  let collecting = startCollect(format)
  let failed = false
  const take = (event: StreamEvent): void => {
    failed ||= event.type === "error"
    collecting = collectStep(collecting, event)
  }
  return {
    take: (sse) => {
      const [next, events] = decodeStep(reading, sse)
      reading = next
      events.forEach(take)
    },
    end: () => {
      decodeEnd(reading).forEach(take)
      return { response: collectEnd(collecting), isWhole: !failed && collecting.stop !== undefined }
    },
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
