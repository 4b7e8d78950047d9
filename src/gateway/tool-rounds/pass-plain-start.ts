import type { SseEvent } from "../../wire/sse.ts"
import { eventsIn } from "../http/relay.ts"

/** Bytes to send to the client. */
type OutputBytes = Pick<SseEvent, "raw">
type Judge = (events: AsyncIterable<SseEvent>) => AsyncIterable<OutputBytes>

/** A longer event is parsed. */
const maxUnreadBytes = 262_144

/**
 * Relay a stream of events unread while it certainly contains no tool call. From the first event that may contain one, all bytes are
 * parsed, judged and written by `judge`. What `judge` writes begins with the bytes relayed so far, so only the rest is sent.
 */
export async function* passPlainStart(
  chunks: AsyncIterable<Buffer>,
  judge: Judge,
): AsyncGenerator<OutputBytes, void, undefined> {
  const source = chunks[Symbol.asyncIterator]()
  try {
    yield* passWhilePlain(source, judge)
  } finally {
    await source.return?.()
  }
}

/** The last event of a complete stream. Without it, the parser reports how the stream ended. */
const lastEvent = /^data: ?(?:\[DONE\]|\{"type": ?"message_stop")/m

async function* passWhilePlain(
  source: AsyncIterator<Buffer>,
  judge: Judge,
): AsyncGenerator<OutputBytes, void, undefined> {
  const passed: Buffer[] = []
  let partial: Buffer = Buffer.alloc(0)
  for (;;) {
    const next = await source.next()
    if (next.done && partial.length === 0 && lastEvent.test(passed.at(-1)?.toString("latin1") ?? "")) return
    const bytes = next.done ? partial : partial.length === 0 ? next.value : Buffer.concat([partial, next.value])
    const end = endOfLastEvent(bytes)
    const whole = bytes.subarray(0, end)
    partial = bytes.subarray(end)
    if (next.done || partial.length > maxUnreadBytes || partial.includes(0x0d) || !surelyWithoutCalls(whole)) {
      const all = eventsIn(followedBy([...passed, bytes], source), "events")
      return yield* withoutStart(judge(all), Buffer.concat(passed))
    }
    if (whole.length === 0) continue
    passed.push(whole)
    yield { raw: whole }
  }
}

/** Where the last complete event ends; lines may end with LF or CR LF. */
function endOfLastEvent(bytes: Buffer): number {
  const short = bytes.lastIndexOf("\n\n")
  const long = bytes.lastIndexOf("\n\r\n")
  return Math.max(short < 0 ? 0 : short + 2, long < 0 ? 0 : long + 3)
}

async function* followedBy(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Skip the given bytes at the start. If the written bytes differ from them, send everything from there on. */
async function* withoutStart(
  written: AsyncIterable<OutputBytes>,
  start: Buffer,
): AsyncGenerator<OutputBytes, void, undefined> {
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

/**
 * Names and escapes that a tool call in an event must contain, and signs by which one can begin in a text. Plain words count only as
 * whole JSON strings, as names and types are, not inside a sentence.
 */
const callMark =
  /\\u00(?:[4-7]|3c)|<|\\"|\[TOOL|```|Action|tool_?(?:calls?|use)|function_?calls?|executable_?code|_call\b|"(?:name|input|[\w-]{0,60}(?:tool|function|call|args?|arguments?|commands?|parameters|action|operation|json|code|use|request))"/i

/** A line that is not a JSON object (or the end marker) as data, not another event field, and not a comment. */
const otherLine = /^(?!data: ?(?:\{|\[DONE\]|\r?$)|(?:event|id|retry):|:|\r?$)/m
/** Data that continues on a second line, or an unusual line ending. */
const otherShape = /^data.*\r?\n(?:(?:event|id|retry|:).*\r?\n)*data|\r(?!\n|$)/m

/**
 * Do these complete events certainly contain no tool call, however they are parsed? This only scans the text, because most streams are
 * plain text. False means that the events must be parsed.
 */
export function surelyWithoutCalls(events: Buffer): boolean {
  const text = events.toString("latin1")
  return !callMark.test(text) && !otherLine.test(text) && !otherShape.test(text)
}
