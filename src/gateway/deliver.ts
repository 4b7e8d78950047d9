import type { JudgedCall } from "../guard/judge-call.ts"
import { HoldfastError } from "../message/errors.ts"
import type { Format, ModelResponse } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { SessionGuarding } from "../session/record.ts"
import { collectEnd, collectStep, startCollect } from "../wire/collect.ts"
import { decodeResponse } from "../wire/decode.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../wire/sse.ts"
import { arrayEnd, arrayStep, startArray } from "../wire/sse-array.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { decodeEnd, decodeStep, startDecode } from "../wire/stream-decode.ts"
import type { Exchange } from "./exchange.ts"
import { ownHeaders, relayedHeaders } from "./http/headers.ts"
import {
  eventsIn,
  framingOf,
  type Relayed,
  type RelayOptions,
  relayBytes,
  relayEvents,
  type StreamFraming,
} from "./http/relay.ts"
import { chunksOf, readWhole, type UpstreamAnswer } from "./http/transport.ts"
import { packingOf } from "./http/upstream-answer.ts"
import { answerRecall } from "./tool-rounds/answer-recall.ts"
import { passPlainStart } from "./tool-rounds/pass-plain-start.ts"
import type { RoundsOptions } from "./tool-rounds/round.ts"
import { type FurtherStream, streamRounds } from "./tool-rounds/stream-rounds.ts"
import { wholeRounds } from "./tool-rounds/whole-rounds.ts"
import type { OutgoingCall } from "./window-of.ts"

/** An answer that is there, and the outgoing call that it ends. */
export type Delivery = {
  readonly format: Format
  readonly path: string
  readonly outgoing: OutgoingCall
  readonly answer: UpstreamAnswer
  readonly changed: boolean
  /** The body, where it was read already. */
  readonly whole?: Buffer
  /** What was sent for it, unpacked, and whether the model was offered to call back what was cut. */
  readonly sent: Buffer
  readonly recalls: boolean
  /** Ask the same upstream again, with another body. */
  readonly again: (body: string) => Promise<UpstreamAnswer>
  /** The same beside the exchange, which may be over by then. */
  readonly aside: (body: string, path: string) => Promise<UpstreamAnswer>
}

/** Give the client its answer: as it came, with its calls judged where someone judges them. What it got is then written down. */
export async function deliver(exchange: Exchange, delivery: Delivery): Promise<void> {
  const { requestLog } = exchange
  const { answer, outgoing, format, path } = delivery
  const contentType = String(answer.headers["content-type"] ?? "")
  const framing = framingOf(format, contentType, path)
  Object.assign(requestLog.noted, { how: outgoing.how, stream: framing !== undefined })
  const relayed = await pass(exchange, delivery, framing).catch((error: unknown) => {
    // Nobody takes it any more: its connection must not wait for someone who does.
    answer.drop()
    throw error
  })
  const { session, receipt, trace, model } = outgoing.known()
  const reading =
    answer.status < 300 && relayed.kept !== undefined ? readDeliveredAnswer(format, relayed.kept, framing) : undefined
  // What is read at once is written down before the next request of the client can be here.
  const read = reading instanceof Promise ? await reading : reading
  outgoing.ended(read?.response, relayed.ending !== "complete" || read?.isWhole === false)
  if (read?.isWhole === true) outgoing.summarize?.(delivery.sent, (body, other) => askAside(delivery, body, other))
  Object.assign(requestLog.noted, { responseBytes: relayed.bytes, trace })
  Object.assign(
    requestLog.noted,
    present({ session, receipt, model: model ?? read?.response.model, usage: read?.response.usage }),
  )
  requestLog.close(relayed.ending, answer.status)
}

/** A summary is a page; a longer answer is none. */
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
    head(exchange, delivery, { keepLength: false })
    response.end(whole)
    return { ending: "complete", bytes: whole.length, kept: whole }
  }
  const isAnswer = answer.status < 300
  const guarding = isAnswer ? await outgoing.guarding() : undefined
  const packing = packingOf(answer)
  const keepAlive = framing === "events" && packing === undefined ? { keepAliveMs: deps.keepAliveMs } : {}
  const options = { ...keepAlive, onFirstByte: requestLog.firstByte }
  if (!isAnswer || (guarding === undefined && !recalls)) {
    head(exchange, delivery, { keepLength: true })
    return relayBytes(answer, response, options)
  }
  if (packing !== undefined) throw unreadable(packing)
  const rounds = roundsOf(exchange, delivery, guarding)
  if (framing === undefined) {
    const { status, bytes, isSame } = await wholeAnswer(delivery, rounds)
    head(exchange, delivery, { keepLength: isSame, status })
    requestLog.firstByte()
    response.end(bytes)
    return { ending: "complete", bytes: bytes.length, kept: bytes }
  }
  head(exchange, delivery, { keepLength: false })
  response.flushHeaders()
  return streamAnswer(exchange, delivery, rounds, { ...options, framing })
}

/** What nobody can read nobody can judge. */
const unreadable = (packing: string): HoldfastError =>
  new HoldfastError({
    code: "response-invalid",
    path: "content-encoding",
    expected: "an answer that is not packed, as it was asked for",
    found: JSON.stringify(packing.slice(0, 40)),
  })

type Head = { readonly keepLength: boolean; readonly status?: number }

/** The head of the answer, as it came, with ours beside it. */
function head(
  { response, requestLog }: Exchange,
  { answer, outgoing, changed }: Delivery,
  { keepLength, status }: Head,
): void {
  const { session, receipt } = outgoing.known()
  response.writeHead(status ?? answer.status, [
    ...relayedHeaders(answer.rawHeaders, { keepLength }),
    ...ownHeaders({ trace: requestLog.id, changed, ...present({ session, receipt }) }),
  ])
}

/** An answer as far as it came. */
type ReadAnswer = {
  readonly response: ModelResponse
  /** The model came to its end: no error stands in the stream, and why it stopped is said. */
  readonly isWhole: boolean
}

/** A shorter answer is read at once: a few milliseconds. */
const readAtOnceBytes = 262_144

/** What a client got, as an answer. Nothing where it cannot be read. One that was long is read in slices, between which others are served. */
export function readDeliveredAnswer(
  format: Format,
  bytes: Buffer,
  framing: StreamFraming | undefined,
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

async function readInSlices(format: Format, bytes: Buffer, framing: StreamFraming): Promise<ReadAnswer | undefined> {
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

function framesOf(bytes: Buffer, framing: StreamFraming): readonly SseEvent[] {
  if (framing === "array") {
    const [state, events] = arrayStep(startArray(), bytes)
    return [...events, ...arrayEnd(state)]
  }
  const [state, events] = sseStep(startSse(), bytes)
  return [...events, ...sseEnd(state)]
}

/** The largest whole answer that is read before it is judged. */
const maxWhole = 64 * 1024 * 1024

/** An answer whose calls are judged or answered here: the model may be asked again before the client has all of it. */
function roundsOf(exchange: Exchange, delivery: Delivery, guarding: SessionGuarding | undefined): RoundsOptions {
  const { deps, requestLog } = exchange
  const { format, outgoing, sent, recalls } = delivery
  const session = outgoing.known().session ?? ""
  const here = guarding === undefined ? undefined : guardHere(exchange, guarding, session)
  if (here !== undefined) requestLog.noted.judged = here.judged
  return {
    format,
    sent: sent.toString("utf8"),
    ...present({ guarding: here }),
    ...(recalls ? { recall: (input: unknown) => answerRecall(deps.holdfast.session(session), input) } : {}),
    onRound: ({ recalls: answered }) => {
      requestLog.noted.recalls = (requestLog.noted.recalls ?? 0) + answered
    },
  }
}

/** A whole answer after all its rounds. */
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

/** What is no JSON here is the upstream's, and not the client's. */
function asAnswers(error: unknown): unknown {
  const code = error instanceof HoldfastError ? error.problem.code : undefined
  if (code !== "json-invalid" && code !== "json-too-deep") return error
  const found = code === "json-invalid" ? "something else" : "JSON that nests too deep"
  return new HoldfastError({ code: "response-invalid", path: "the body", expected: "JSON", found }, { cause: error })
}

/** A streamed answer, passed on round by round as it comes. */
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

/** Where a line begins that is no field of an event, no comment and no end: https://html.spec.whatwg.org/multipage/server-sent-events.html */
const strangeLine = /^(?!(?:data|event|id|retry)(?:[:\r\n]|$)|:|[\r\n]|$)/m

/**
 * Events that say nothing but what an event says. Readers of events pass over any other line, so nobody judges it; a client that reads
 * the whole as something else, such as an answer in JSON, would not pass over it. So an event with such a line is left out.
 */
export async function* plainEvents(events: AsyncIterable<SseEvent>): AsyncGenerator<SseEvent, void, undefined> {
  for await (const event of events) {
    if (event.framing === "array" || !strangeLine.test(textOfDelta(event))) yield event
  }
}

/** Byte by byte, so that no letter ends a line; without the mark that a stream may begin with. */
const textOfDelta = ({ raw }: SseEvent): string =>
  Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/, "")

/** The guard of a session, with the approvals desk as the person to ask; whatever it decides is in the list of recent exchanges as well. */
function guardHere(
  { deps, requestLog, tenant, gone }: Exchange,
  guarding: SessionGuarding,
  session: string,
): SessionGuarding & { readonly judged: readonly JudgedCall[] } {
  const judged: JudgedCall[] = []
  return {
    askTimeoutMs: deps.askTimeoutMs,
    // Nobody is asked about the call of a client that has gone.
    approve: (call, verdict, signal) =>
      deps.approvals.ask({ session, tenant, trace: requestLog.id, call, verdict }, AbortSignal.any([signal, gone])),
    ...guarding,
    judged,
    onJudged: async (one) => {
      judged.push(one)
      await guarding.onJudged(one)
    },
  }
}
