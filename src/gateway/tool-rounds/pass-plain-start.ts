import type { SseEvent } from "../../wire/sse.ts"
import { eventsIn } from "../http/relay.ts"

/** Bytes on their way to the client. */
type Written = Pick<SseEvent, "raw">
type Judge = (events: AsyncIterable<SseEvent>) => AsyncIterable<Written>

/** A longer event is read. */
const maxUnreadBytes = 262_144

/**
 * Pass a stream of events on as it comes while it is certain that no call stands in it; from the first event on that could hold one,
 * all that came is read, judged and written by `judge`. What was passed on before is the beginning of what `judge` writes, so only the
 * rest of that goes out.
 */
export async function* passPlainStart(
  chunks: AsyncIterable<Buffer>,
  judge: Judge,
): AsyncGenerator<Written, void, undefined> {
  const source = chunks[Symbol.asyncIterator]()
  try {
    yield* passWhilePlain(source, judge)
  } finally {
    await source.return?.()
  }
}

/** The last event of a stream that is at its end. Without it the reader says what became of the stream. */
const lastEvent = /^data: ?(?:\[DONE\]|\{"type": ?"message_stop")/m

async function* passWhilePlain(source: AsyncIterator<Buffer>, judge: Judge): AsyncGenerator<Written, void, undefined> {
  const passed: Buffer[] = []
  let begun: Buffer = Buffer.alloc(0)
  for (;;) {
    const next = await source.next()
    if (next.done && begun.length === 0 && lastEvent.test(passed.at(-1)?.toString("latin1") ?? "")) return
    const bytes = next.done ? begun : begun.length === 0 ? next.value : Buffer.concat([begun, next.value])
    const end = endOfLastEvent(bytes)
    const whole = bytes.subarray(0, end)
    begun = bytes.subarray(end)
    if (next.done || begun.length > maxUnreadBytes || begun.includes(0x0d) || !surelyWithoutCalls(whole)) {
      const all = eventsIn(followedBy([...passed, bytes], source), "events")
      return yield* withoutStart(judge(all), Buffer.concat(passed))
    }
    if (whole.length === 0) continue
    passed.push(whole)
    yield { raw: whole }
  }
}

/** Where the last event that is whole ends; a line may end with LF or CR LF. */
function endOfLastEvent(bytes: Buffer): number {
  const short = bytes.lastIndexOf("\n\n")
  const long = bytes.lastIndexOf("\n\r\n")
  return Math.max(short < 0 ? 0 : short + 2, long < 0 ? 0 : long + 3)
}

async function* followedBy(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** What follows the given bytes. Where something else is written in their place, all from there on is told. */
async function* withoutStart(written: AsyncIterable<Written>, start: Buffer): AsyncGenerator<Written, void, undefined> {
  let at = 0
  for await (const { raw } of written) {
    const isPassed = at < start.length && start.subarray(at, at + raw.length).equals(raw)
    if (isPassed) at += raw.length
    else {
      at = start.length
      yield { raw }
    }
  }
}

/** Names and escapes by which a call can stand in an event, and signs by which one can begin in a text. A word counts by itself where it is a whole JSON string, as names and types are, and not within a sentence. */
const callMark =
  /\\u00(?:[4-7]|3c)|<|\\"|\[TOOL|```|Action|tool_?(?:calls?|use)|function_?calls?|executable_?code|_call\b|"(?:name|input|[\w-]{0,60}(?:tool|function|call|args?|arguments?|commands?|parameters|action|operation|json|code|use|request))"/i

/** A line that is neither one JSON object (or the end mark) as data, nor another field of an event, nor a comment. */
const otherLine = /^(?!data: ?(?:\{|\[DONE\]|\r?$)|(?:event|id|retry):|:|\r?$)/m
/** Data that goes on in a second line, or a line that ends otherwise than lines of a stream usually do. */
const otherShape = /^data.*\r?\n(?:(?:event|id|retry|:).*\r?\n)*data|\r(?!\n|$)/m

/**
 * Is it certain that no call stands in these whole events of a server-sent stream, by whatever reading? A look at the letters alone, for
 * most streams are words and nothing else. "No" means only that they have to be read.
 */
export function surelyWithoutCalls(events: Buffer): boolean {
  const text = events.toString("latin1")
  return !callMark.test(text) && !otherLine.test(text) && !otherShape.test(text)
}
