import { guardEvents } from "../../guard/guard-stream.ts"
import { type JudgedCall, spentWith, withSpent } from "../../guard/judge-call.ts"
import { HoldfastError, type Problem, problemOrThrow } from "../../message/errors.ts"
import type { Format, StopReason } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { sequenceOf } from "../../wire/responses-stream.ts"
import { type SseEvent, sseStep, startSse, utf8Bytes, writeArrayEvent } from "../../wire/sse.ts"
import { indexOf, type StreamEvent } from "../../wire/stream.ts"
import {
  collectEnd,
  collectStep,
  decodeEnd,
  decodeStep,
  encodeEnd,
  encodeStep,
  startDecode,
  startEncode,
} from "../../wire/stream-steps.ts"
import type { StreamFraming } from "../http/relay.ts"
import { streamError } from "../http/wire-error.ts"
import { boundRecall } from "./recall-tool.ts"
import {
  besideText,
  bodyAfter,
  createUsageAdder,
  isDenied,
  openCalls,
  openNotes,
  type Round,
  type RoundNotes,
  type RoundSetup,
  type RoundsOptions,
  usedUpText,
  usualRounds,
  waitsForResults,
  withoutRecalls,
} from "./round.ts"

/** The response of a later round: a stream, or other content as text. */
export type FurtherStream =
  | { readonly status: number; readonly framing: StreamFraming; readonly events: AsyncIterable<SseEvent> }
  | { readonly status: number; readonly text: string }

export type StreamRoundsOptions = RoundsOptions & {
  readonly framing: StreamFraming
  /** The first response. */
  readonly events: AsyncIterable<SseEvent>
  /** Sends a request body to the same upstream. Failures are thrown as Problems. */
  readonly send: (body: string) => Promise<FurtherStream>
}

/**
 * Runs the tool rounds of a streamed response: recalls are answered here, and if every call was withheld, the model is told why and
 * continues. The client gets one response: text as it arrives, later rounds in the same message, the stop reason of the last round, and the
 * usage of all. If nothing was recalled or withheld, the output bytes are the input bytes. If a later round fails, the stream ends with an
 * error in its format; it never ends normally with content missing.
 */
export async function* streamRounds(options: StreamRoundsOptions): AsyncGenerator<SseEvent, void, undefined> {
  const { format, framing, guarding, send, maxRounds = usualRounds } = options
  const writer = createRoundWriter(format, framing)
  const recall = options.recall === undefined ? undefined : boundRecall(options.recall)
  const same = { format, guarding, recall }
  let { events, sent } = options
  let before: EarlierRounds = { offset: 0, spoken: false, spentMinor: 0, usage: undefined }
  for (let number = 0; ; number++) {
    const setup: RoundSetup = { ...same, ...before, events, sent, isFirst: number === 0, mayGoOn: number < maxRounds }
    const notes = openNotes(setup)
    try {
      for await (const event of roundEvents(setup, notes)) yield* writer.write(event)
    } catch (error) {
      if (number === 0 || !(error instanceof HoldfastError)) throw error
      return yield* writer.fail(error.problem)
    }
    yield* writer.flush()
    options.onRound?.(roundOf(notes))
    if (notes.next === undefined) return
    const further = await sendNext(send, notes.next)
    if ("problem" in further) return yield* writer.fail(further.problem)
    writer.join()
    ;({ events } = further)
    sent = notes.next
    before = after(before, notes)
  }
}

type EarlierRounds = Pick<RoundSetup, "offset" | "spoken" | "spentMinor" | "usage">

const after = ({ spoken, spentMinor }: EarlierRounds, notes: RoundNotes): EarlierRounds => ({
  offset: notes.parts,
  spoken: spoken || notes.spoken,
  spentMinor: spentMinor + spentWith(notes.judged),
  usage: notes.usage?.counted(),
})

const roundOf = ({ id, next, taken, judged }: RoundNotes): Round => {
  const continues = next !== undefined
  const counts = continues ? { recalls: taken.size, denied: judged.filter(isDenied).length } : { recalls: 0, denied: 0 }
  return { ...counts, continues, ...present({ id }) }
}

async function sendNext(
  send: StreamRoundsOptions["send"],
  body: string,
): Promise<{ readonly events: AsyncIterable<SseEvent> } | { readonly problem: Problem }> {
  try {
    const reply = await send(body)
    return "events" in reply && reply.status < 300 ? reply : { problem: await problemIn(reply) }
  } catch (error) {
    return { problem: problemOrThrow(error) }
  }
}

/** The problem of a response that cannot be joined: an error, which may be sent as a stream too, or a response that is not a stream. */
async function problemIn(reply: FurtherStream): Promise<Problem> {
  const status = reply.status < 400 ? 502 : reply.status
  if ("text" in reply) return upstreamProblem(status, reply.text)
  for await (const { data } of reply.events) if (data !== "") return upstreamProblem(status, data)
  return upstreamProblem(status, "")
}

/** Limit on the characters quoted from a body that is not an error in a known format. */
const maxQuoted = 300

/** The problem in the error body of an upstream. */
function upstreamProblem(status: number, text: string): Problem {
  const body = tryParse(text)
  const inner = isObject(body) ? body.error : undefined
  const error = isObject(inner) ? inner : {}
  const type = [error.type, error.status, error.code].find((name) => typeof name === "string")
  const message = typeof error.message === "string" ? error.message : text.slice(0, maxQuoted).toWellFormed()
  return { code: "upstream-error", type: typeof type === "string" ? type : "error", message, status }
}

function createRoundWriter(format: Format, framing: StreamFraming) {
  let state = startEncode(format)
  let elements = 0
  const framed = (event: SseEvent): SseEvent => {
    if (framing !== "array") return event
    const raw = isWholeArray(event) ? event.raw : writeArrayEvent(event, elements)
    if (event.type === "event") elements++
    return raw === event.raw ? event : { ...event, raw }
  }
  /** Writes buffered events: no more of their wire event follows. */
  const flush = (): readonly SseEvent[] => {
    const [next, written] = encodeEnd(state)
    state = next
    return written.map(framed)
  }
  return {
    flush,
    write: (event: StreamEvent): readonly SseEvent[] => {
      const [next, written] = encodeStep(state, event)
      state = next
      return written.map(framed)
    },
    /** Call before a later stream: its events no longer match their original positions, so their original bytes are not reused. */
    join: (): void => {
      state = { ...state, intact: false }
    },
    fail: (problem: Problem): readonly SseEvent[] => {
      const waiting = flush()
      const numbered = format === "openai-responses" ? { sequence: sequenceOf(state) } : {}
      const clientEvents = streamError(format, problem, { ...numbered, ...present({ responseId: state.start?.id }) })
      const events = clientEvents.flatMap((raw) => sseStep(startSse(), raw)[1]).map(framed)
      return [...waiting, ...events, ...(framing === "array" ? [closingBracket] : [])]
    },
  }
}

/** True for an empty array, whose brackets are both in one piece. */
const isWholeArray = ({ type, raw }: SseEvent): boolean => type === "comment" && raw.includes(0x5b)

const closingBracket: SseEvent = { type: "comment", data: "", raw: utf8Bytes("]"), framing: "array" }

type EventGenerator = Generator<StreamEvent, void, undefined>

/**
 * The events of one round for the client. A round that another one follows ends without a stop event; `notes.next` is the body of the next
 * round. If a later round breaks off, the problem is thrown.
 */
async function* roundEvents(setup: RoundSetup, notes: RoundNotes): AsyncGenerator<StreamEvent, void, undefined> {
  let held: readonly StreamEvent[] = []
  try {
    for await (const event of judgedEvents(setup, notes)) {
      if (notes.next !== undefined) continue
      if (waitsForStop(notes, event, held.length > 0)) {
        held = [...held, event]
        continue
      }
      if (event.type === "response-stop" && !notes.stopped) {
        notes.stopped = true
        notes.next = await planNext(setup, notes, event.wire?.stop ?? event.stop)
        if (notes.next !== undefined) {
          yield* held.filter(({ type }) => type !== "usage")
          continue
        }
        yield* placedWords(notes)
      }
      yield* held
      held = []
      yield* clientEvents(setup, notes, event)
    }
  } catch (error) {
    // The response was complete before its stream broke off.
    if (notes.next === undefined || !(error instanceof HoldfastError)) throw error
  }
  if (notes.next === undefined) yield* held
}

/** True for usage events (and part ends after them) that are held back until it is known that no further round follows. */
function waitsForStop({ stopped, taken, judged }: RoundNotes, { type }: StreamEvent, behindUsage: boolean): boolean {
  if (stopped || (type !== "usage" && !(behindUsage && type === "part-end"))) return false
  return taken.size > 0 || judged.some(isDenied)
}

/** The body of the next round, if every call of this response was recalled or withheld, and can be answered. */
async function planNext(setup: RoundSetup, notes: RoundNotes, stop: StopReason): Promise<string | undefined> {
  const { format, sent, recall, mayGoOn } = setup
  const { taken, released } = notes
  const denied = notes.judged.filter(isDenied)
  const due = taken.size + denied.length
  if (due === 0 || released > 0 || !mayGoOn || !waitsForResults(stop)) return undefined
  const answer = collectEnd(notes.collecting)
  if (openCalls(answer).length !== due) return undefined
  return bodyAfter({ answer, denied, recall }, sent, format)
}

function* clientEvents(setup: RoundSetup, notes: RoundNotes, event: StreamEvent): EventGenerator {
  const { format, isFirst } = setup
  if (event.type === "response-start") notes.id = event.id
  if (!isFirst && event.type === "error" && event.wire === undefined) throw new HoldfastError(event.problem)
  // An incomplete event would swallow the start of the error after it.
  if (!isFirst && (repeatsStart(format, event) || event.wire?.sse.type === "cut")) return
  if (event.type === "part-start") {
    if (event.part === "tool-call" && event.kind !== "provider") {
      notes.released++
      yield* placedWords(notes)
    }
    if (event.part === "text") {
      if (setup.spoken && !notes.spoken) yield* gap(setup)
      notes.spoken = true
    }
  }
  yield fittingStop(notes, event)
}

/** True for events of a later round that would restart the message at the client: OpenAI Responses may repeat the whole response. */
function repeatsStart(format: Format, event: StreamEvent): boolean {
  if (event.type === "response-start") return true
  if (format !== "openai-responses" || event.type !== "other" || indexOf(event) !== undefined) return false
  const body = tryParse(event.wire?.sse.data ?? "")
  return isObject(body) && isObject(body.response)
}

/** Text in place of each recall that will not be answered. */
function* placedWords({ taken, placed, released }: RoundNotes): EventGenerator {
  for (const index of taken.keys()) {
    if (placed.has(index)) continue
    placed.add(index)
    yield* ownText(index, released > 0 ? besideText : usedUpText)
  }
}

function* ownText(index: number, text: string): EventGenerator {
  yield { type: "part-start", index, part: "text" }
  yield { type: "text-delta", index, text }
  yield { type: "part-end", index }
}

/** In these formats the texts of a message are joined without a separator. */
const joinsTexts: ReadonlySet<Format> = new Set(["openai-chat", "gemini"])

function* gap({ format, offset }: RoundSetup): EventGenerator {
  if (joinsTexts.has(format)) yield* ownText(-1 - offset, "\n\n")
}

/** If no tool call is left for the client, the stop reason is a plain end. */
function fittingStop({ taken, released }: RoundNotes, event: StreamEvent): StreamEvent {
  const ends = event.type === "response-stop" || event.type === "response-end"
  return ends && event.stop === "tool-calls" && taken.size > 0 && released === 0 ? { ...event, stop: "end" } : event
}

/** The events of a round: recalls removed, every other call judged if a guard is active. */
function judgedEvents(setup: RoundSetup, notes: RoundNotes): AsyncIterable<StreamEvent> {
  const { format, guarding, recall, spentMinor } = setup
  const said = collected(setup, notes)
  const rest = recall === undefined ? said : withoutRecalls(format, said, notes.taken, guarding !== undefined)
  if (guarding === undefined) return rest
  const { guard, onJudged, ...use } = guarding
  const judged = async (one: JudgedCall): Promise<void> => {
    notes.judged.push(one)
    await onJudged(one, notes.responseId)
  }
  return guardEvents(format, rest, guard, { ...withSpent(use, spentMinor), onJudged: judged })
}

/** The upstream's events, with part indexes continued from earlier rounds, and collected for the next request. */
async function* collected(
  { format, events, offset, usage }: RoundSetup,
  notes: RoundNotes,
): AsyncGenerator<StreamEvent, void, undefined> {
  const adder = createUsageAdder(format, usage)
  notes.usage = adder
  let state = startDecode(format)
  const note = (event: StreamEvent): StreamEvent => {
    notes.collecting = collectStep(notes.collecting, event)
    if (event.type === "response-start") notes.responseId = event.id
    return moved(event, offset)
  }
  for await (const sse of events) {
    const [next, read] = decodeStep(state, adder.add(sse))
    state = next
    notes.parts = offset + state.parts
    for (const event of read) yield note(event)
  }
  for (const event of decodeEnd(state)) yield note(event)
}

function moved(event: StreamEvent, offset: number): StreamEvent {
  const index = indexOf(event)
  return index === undefined || offset === 0 || !("index" in event) ? event : { ...event, index: index + offset }
}
