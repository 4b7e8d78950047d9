import type { JudgedCall } from "../guard/judge-call.ts"
import { HoldfastError, ignoreProblem, unlessProblem } from "../message/errors.ts"
import type { Format, ModelResponse } from "../message/message.ts"
import { present } from "../message/present.ts"
import { runInSteps, runSteps, type Steps } from "../message/steps.ts"
import type { SessionGuarding } from "../session/record.ts"
import { createPause } from "../store/pace.ts"
import { decodeResponse } from "../wire/decode.ts"
import type { SseEvent } from "../wire/sse.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { collectEnd, collectStep, decodeEnd, decodeStep, startCollect, startDecode } from "../wire/stream-steps.ts"
import type { Exchange } from "./exchange.ts"
import { ownHeaders, relayedHeaders } from "./http/headers.ts"
import {
  eventsIn,
  framesIn,
  framingOf,
  type Relayed,
  type RelayOptions,
  relayBytes,
  relayEvents,
  type StreamFraming,
} from "./http/relay.ts"
import { chunksOf, readWhole, type UpstreamAnswer } from "./http/transport.ts"
import { packingOf } from "./http/upstream-answer.ts"
import type { OutgoingCall } from "./outgoing-call.ts"
import { answerRecall } from "./tool-rounds/recall-tool.ts"
import type { RoundsOptions } from "./tool-rounds/round.ts"
import { type FurtherStream, streamRounds } from "./tool-rounds/stream-rounds.ts"
import { wholeRounds } from "./tool-rounds/whole-rounds.ts"

/** A response from the upstream, and the outgoing call that it belongs to. */
export type Delivery = {
  readonly format: Format
  readonly path: string
  readonly outgoing: OutgoingCall
  readonly answer: UpstreamAnswer
  readonly changed: boolean
  /** The response body, if it was already read. */
  readonly whole?: Buffer
  /** The uncompressed request body that was sent, and whether it offered the recall tool. */
  readonly sent: Buffer
  readonly recalls: boolean
  /** The further model calls and recalled texts of this response, which the client does not see. */
  readonly hidden: { rounds: number; readonly recalled: string[] }
  /** Sends another request body to the same upstream. */
  readonly again: (body: string) => Promise<UpstreamAnswer>
  /** The same in the background, after the exchange may have ended. */
  readonly aside: (body: string, path: string) => Promise<UpstreamAnswer>
  /** The provider stored the response earlier: a withheld call is replaced, and the model is not asked again. */
  readonly isStored?: true
}

/** Sends the response to the client: unchanged, or with its tool calls judged if a guard is active. Then records what the client got. */
export async function deliver(exchange: Exchange, delivery: Delivery): Promise<void> {
  const { requestLog } = exchange
  const { answer, outgoing, format, path } = delivery
  const contentType = String(answer.headers["content-type"] ?? "")
  const framing = framingOf(format, contentType, path)
  Object.assign(requestLog.noted, { how: outgoing.how, stream: framing !== undefined })
  const relayed = await pass(exchange, delivery, framing).catch((error: unknown) => {
    // The client no longer reads this response: release its upstream connection.
    answer.drop()
    throw error
  })
  const { session, receipt, trace, model } = outgoing.known()
  const reading =
    answer.status < 300 && relayed.kept !== undefined ? readDeliveredAnswer(format, relayed.kept, framing) : undefined
  // A response that is read synchronously is recorded before the client's next request can arrive.
  const read = reading instanceof Promise ? await reading : reading
  outgoing.ended(read?.response, relayed.ending !== "complete" || read?.isWhole === false, delivery.hidden)
  if (read?.isWhole === true) outgoing.summarize?.(delivery.sent, (body, other) => askAside(delivery, body, other))
  Object.assign(requestLog.noted, { responseBytes: relayed.bytes, trace })
  Object.assign(
    requestLog.noted,
    present({ session, receipt, model: model ?? read?.response.model, usage: read?.response.usage }),
  )
  requestLog.close(relayed.ending, answer.status)
  if (receipt === undefined) void completeRecord(exchange, outgoing)
}

/** Adds the trace and the receipt of a request that was answered before its session had stored it. */
async function completeRecord({ requestLog, deps }: Exchange, outgoing: Delivery["outgoing"]): Promise<void> {
  const known = await outgoing.stored?.()
  if (known !== undefined)
    deps.recentExchanges.complete(requestLog.id, { trace: known.trace, ...present({ receipt: known.receipt }) })
}

/** Limit on the size of a summary response; a summary is a page. */
const maxAsideBytes = 4 * 1024 * 1024

async function askAside({ format, path, aside }: Delivery, body: string, model: string | undefined) {
  const asked =
    model === undefined || format !== "gemini"
      ? path
      : path.replace(/\/models\/[^/:?]+/, `/models/${encodeURIComponent(model)}`)
  const answer = await aside(body, asked)
  const whole = await readWhole(answer, maxAsideBytes)
  if (answer.status >= 300 || whole === undefined) return { status: answer.status }
  const framing = framingOf(format, String(answer.headers["content-type"] ?? ""), asked)
  const read = await readDeliveredAnswer(format, whole, framing)
  return { status: answer.status, ...present({ response: read?.isWhole === true ? read.response : undefined }) }
}

async function pass(exchange: Exchange, delivery: Delivery, framing: StreamFraming | undefined): Promise<Relayed> {
  const { deps, response, requestLog } = exchange
  const { answer, outgoing, whole, recalls } = delivery
  if (whole !== undefined) {
    head(exchange, delivery, false)
    response.end(whole)
    return { ending: "complete", bytes: whole.length, kept: whole }
  }
  const isAnswer = answer.status < 300
  const guarding = isAnswer ? await outgoing.guarding() : undefined
  const packing = packingOf(answer)
  const keepAlive = framing === "events" && packing === undefined ? { keepAliveMs: deps.keepAliveMs } : {}
  const options = { ...keepAlive, onFirstByte: requestLog.firstByte }
  if (!isAnswer || (guarding === undefined && !recalls)) {
    head(exchange, delivery, true)
    return relayBytes(answer, response, options)
  }
  if (packing !== undefined) throw unreadable(packing)
  const rounds = roundsOf(exchange, delivery, guarding)
  if (framing === undefined) {
    const { status, bytes, isSame } = await wholeAnswer(delivery, rounds)
    head(exchange, delivery, isSame, status)
    requestLog.firstByte()
    response.end(bytes)
    return { ending: "complete", bytes: bytes.length, kept: bytes }
  }
  head(exchange, delivery, false)
  response.flushHeaders()
  return streamAnswer(exchange, delivery, rounds, { ...options, framing })
}

/** The error for a compressed response, whose tool calls cannot be checked. */
const unreadable = (packing: string): HoldfastError =>
  new HoldfastError({
    code: "response-invalid",
    path: "content-encoding",
    expected: "an uncompressed response, as requested",
    found: JSON.stringify(packing.slice(0, 40)),
  })

/** Sends the status and headers of the upstream response, with the gateway's own headers added. */
function head(
  { response, requestLog }: Exchange,
  { answer, outgoing, changed }: Delivery,
  keepLength: boolean,
  status = answer.status,
): void {
  const { session, receipt } = outgoing.known()
  response.writeHead(status, [
    ...relayedHeaders(answer.rawHeaders, { keepLength }),
    ...ownHeaders({ trace: requestLog.id, changed, ...present({ session, receipt }) }),
  ])
}

/** A response, or the part of it that arrived. */
type ReadAnswer = {
  readonly response: ModelResponse
  /** The model finished: the stream contains no error, and it states a stop reason. */
  readonly isWhole: boolean
}

/** Responses up to this size are read synchronously, which takes a few milliseconds. */
const readAtOnceBytes = 262_144

/** Decodes the bytes that the client received, in slices; undefined if they cannot be decoded. */
export function readDeliveredAnswer(
  format: Format,
  bytes: Buffer,
  framing: StreamFraming | undefined,
): ReadAnswer | undefined | Promise<ReadAnswer | undefined> {
  if (framing === undefined)
    return unlessProblem(() => ({ response: decodeResponse(format, bytes.toString("utf8")), isWhole: true }))
  const steps = readInSteps(format, bytes, framing)
  if (bytes.length <= readAtOnceBytes) return unlessProblem(() => runSteps(steps))
  return runInSteps(steps, createPause()).catch(ignoreProblem)
}

function* readInSteps(format: Format, bytes: Buffer, framing: StreamFraming): Steps<ReadAnswer> {
  let reading = startDecode(format)
  let collecting = startCollect(format)
  let failed = false
  const take = (event: StreamEvent): void => {
    failed ||= event.type === "error"
    collecting = collectStep(collecting, event)
  }
  for (const sse of framesIn(bytes, framing)) {
    const [next, events] = decodeStep(reading, sse)
    reading = next
    events.forEach(take)
    yield
  }
  decodeEnd(reading).forEach(take)
  return { response: collectEnd(collecting), isWhole: !failed && collecting.stop !== undefined }
}

/** The largest non-streamed response that is read in order to judge it. */
const maxWhole = 64 * 1024 * 1024

/** Options for a response whose tool calls the gateway judges or answers: the model may be asked again before the client has it all. */
function roundsOf(exchange: Exchange, delivery: Delivery, guarding: SessionGuarding | undefined): RoundsOptions {
  const { deps, requestLog } = exchange
  const { format, outgoing, sent, recalls, isStored } = delivery
  const session = outgoing.known().session ?? ""
  const recall = async (input: unknown) => {
    const fetched = await answerRecall(deps.holdfast.session(session), input)
    if (!fetched.failed) delivery.hidden.recalled.push(fetched.text)
    return fetched
  }
  const here =
    guarding === undefined ? undefined : guardWithApprovals(exchange, { ...guarding, pause: createPause() }, session)
  return {
    format,
    sent,
    ...present({ guarding: here, maxRounds: isStored === true ? 0 : undefined }),
    ...(recalls ? { recall } : {}),
    onRound: ({ recalls: answered, continues }) => {
      if (continues) delivery.hidden.rounds++
      requestLog.noted.recalls = (requestLog.noted.recalls ?? 0) + answered
    },
  }
}

/** A non-streamed response after all its tool rounds. */
async function wholeAnswer(
  delivery: Delivery,
  rounds: RoundsOptions,
): Promise<{ status: number; bytes: Buffer; isSame: boolean }> {
  const { answer, again } = delivery
  const bytes = await allOf(answer)
  const first = { status: answer.status, text: bytes.toString("utf8") }
  const send = async (body: string) => textOf(await again(body))
  const { status, text } = await wholeRounds({ ...rounds, first, send }).catch((error: unknown) => {
    throw asAnswers(error)
  })
  const isSame = text === first.text && status === answer.status
  return { status, bytes: isSame ? bytes : Buffer.from(text), isSame }
}

/** Converts an error about invalid JSON into a fault of the upstream: its code alone would blame the client's request. */
function asAnswers(error: unknown): unknown {
  const code = error instanceof HoldfastError ? error.problem.code : undefined
  if (code !== "json-invalid" && code !== "json-too-deep") return error
  const found = code === "json-invalid" ? "something else" : "JSON that nests too deep"
  return new HoldfastError({ code: "response-invalid", path: "the body", expected: "JSON", found }, { cause: error })
}

async function streamAnswer(
  { deps, response, gone }: Exchange,
  { answer, again, format, path }: Delivery,
  rounds: RoundsOptions,
  { framing, ...options }: RelayOptions & { readonly framing: StreamFraming },
): Promise<Relayed> {
  const send = async (body: string): Promise<FurtherStream> => {
    const next = await again(body)
    const nextFraming = framingOf(format, String(next.headers["content-type"] ?? ""), path)
    if (nextFraming === undefined || next.status >= 300) return textOf(next)
    return { status: next.status, framing: nextFraming, events: plainEvents(eventsIn(chunksOf(next), nextFraming)) }
  }
  const judged = (events: AsyncIterable<SseEvent>): AsyncIterable<SseEvent> =>
    streamRounds({ ...rounds, framing, events: plainEvents(events), send })
  const chunks = chunksOf(answer)
  const events = framing === "events" ? passPlainStart(chunks, judged) : judged(eventsIn(chunks, framing))
  const { cause, ...relayed } = await relayEvents(events, response, options, gone)
  if (cause !== undefined && !(cause instanceof HoldfastError)) deps.onFault(cause)
  return relayed
}

const textOf = async (answer: UpstreamAnswer): Promise<{ status: number; text: string }> => ({
  status: answer.status,
  text: (await allOf(answer)).toString("utf8"),
})

async function allOf(answer: UpstreamAnswer): Promise<Buffer> {
  const bytes = await readWhole(answer, maxWhole)
  if (bytes !== undefined) return bytes
  throw new HoldfastError({ code: "upstream-too-large", host: "upstream", limitBytes: maxWhole })
}

/**
 * Matches a line that is not an event field, a comment or empty: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
const nonSseLine = /^(?!(?:data|event|id|retry)(?:[:\r\n]|$)|:|[\r\n]|$)/m

/**
 * Drops events that contain a line outside the SSE grammar. SSE parsers ignore such a line, so the guard does not see it, but a client that
 * parses the body as something else, such as JSON, would read it.
 */
export async function* plainEvents(events: AsyncIterable<SseEvent>): AsyncGenerator<SseEvent, void, undefined> {
  for await (const event of events) {
    if (event.framing === "array" || !nonSseLine.test(textOfDelta(event))) yield event
  }
}

/** The event's bytes as Latin-1, so that no multi-byte character counts as a line break, and without a leading byte order mark. */
const textOfDelta = ({ raw }: SseEvent): string =>
  Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/, "")

/** The guard of a session. Approvals are requested from the admin API, and every decision is also noted in the exchange record. */
function guardWithApprovals(
  { deps, requestLog, tenant, gone }: Exchange,
  guarding: SessionGuarding,
  session: string,
): SessionGuarding {
  const judged: JudgedCall[] = []
  requestLog.noted.judged = judged
  return {
    askTimeoutMs: deps.askTimeoutMs,
    // Withdraw the approval request when the client disconnects.
    approve: (call, verdict, signal) =>
      deps.approvals.ask({ session, tenant, trace: requestLog.id, call, verdict }, AbortSignal.any([signal, gone])),
    ...guarding,
    onJudged: async (one, response) => {
      judged.push(one)
      await guarding.onJudged(one, response)
    },
  }
}

/** Bytes to send to the client. */
type OutputBytes = Pick<SseEvent, "raw">
type Judge = (events: AsyncIterable<SseEvent>) => AsyncIterable<OutputBytes>

/** Length of an event in bytes up to which it may be relayed without parsing. */
const maxUnreadBytes = 262_144

/**
 * Relays a stream of events unread while it certainly contains no tool call. From the first event that may contain one, all bytes are
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

/** Matches the last event of a complete stream. Without it, the parser reports how the stream ended. */
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

/** Skips the given bytes at the start. If the written bytes differ from them, sends everything from there on. */
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
 * Matches names and escapes that a tool call in an event must contain, and signs by which one can begin in a text. Plain words count only
 * as whole JSON strings, as names and types are, not inside a sentence.
 */
const callMark =
  /\\u00(?:[4-7]|3c)|<|\\"|\[TOOL|```|Action|tool_?(?:calls?|use)|function_?calls?|executable_?code|_call\b|"(?:name|input|[\w-]{0,60}(?:tool|function|call|args?|arguments?|commands?|parameters|action|operation|json|code|use|request))"/i

/** Matches a line that is not a JSON object (or the end marker) as data, not another event field, and not a comment. */
const otherLine = /^(?!data: ?(?:\{|\[DONE\]|\r?$)|(?:event|id|retry):|:|\r?$)/m
/** Matches data that continues on a second line, and unusual line endings. */
const otherShape = /^data.*\r?\n(?:(?:event|id|retry|:).*\r?\n)*data|\r(?!\n|$)/m

/**
 * True if these complete events certainly contain no tool call, however they are parsed. This only scans the text, because most streams
 * are plain text. False means that the events must be parsed.
 */
export function surelyWithoutCalls(events: Buffer): boolean {
  const text = events.toString("latin1")
  return !callMark.test(text) && !otherLine.test(text) && !otherShape.test(text)
}
