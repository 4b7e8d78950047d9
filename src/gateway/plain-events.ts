import type { SseEvent } from "../wire/sse.ts"

/** Where a line begins that is no field of an event, no comment and no end: https://html.spec.whatwg.org/multipage/server-sent-events.html */
const strangeLine = /^(?!(?:data|event|id|retry)(?:[:\r\n]|$)|:|[\r\n]|$)/m

/**
 * Events that say nothing but what an event says. Readers of events pass over any other line, so nobody judges it; a client that reads
 * the whole as something else, such as an answer in JSON, would not pass over it. So an event with such a line is left out.
 */
export async function* plainEvents(events: AsyncIterable<SseEvent>): AsyncGenerator<SseEvent, void, undefined> {
  for await (const event of events) {
    if (event.framing === "array" || !strangeLine.test(textOf(event))) yield event
  }
}

/** Byte by byte, so that no letter ends a line; without the mark that a stream may begin with. */
const textOf = ({ raw }: SseEvent): string =>
  Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/, "")
