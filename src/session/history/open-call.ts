import { isHeld } from "../../compact/held.ts"
import { type Separation, separate, separateMade } from "../../compact/stack/separate.ts"
import { HoldfastError, refuseOption, refuseValue } from "../../message/errors.ts"
import { messageKey } from "../../message/lineage.ts"
import { type Format, formats, type Message, type ModelRequest, messageId } from "../../message/message.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import { present } from "../../message/present.ts"
import { decodeNext, decodeRequest, resumeRequest } from "../../wire/decode.ts"
import { isObject } from "../../wire/json.ts"
import { translate } from "../../wire/translate.ts"
import { type EntryBody, entryId, type Item, seqOf } from "../log/entry.ts"
import type { Trace } from "../log/event.ts"
import type { SessionPin } from "../rules/pins.ts"
import { checkStackOption, type StackInForce } from "../stack/stack-options.ts"
import { type Live, loadSession } from "../state/live.ts"
import { checkNumbers } from "../state/options.ts"
import { carriesMessages, frameFor } from "./frame.ts"
import { appendMessages, type IngestResult, ingest, newestAnswer } from "./ingest.ts"
import type { PrepareOptions } from "./prepared.ts"
import { type CallStack, stackForCall, withStanding } from "./session-stack.ts"
import {
  entriesIn,
  type FramedView,
  frameMessages,
  messagesOf,
  readMessages,
  readView,
  release,
  type View,
} from "./view.ts"

/** A model call being prepared: the request that the view is put into, with every message that it may show. */
export type Call = FramedView & {
  /** Where its messages come from: the client's whole history, the log, or only what follows the history that the provider holds. */
  readonly kind: "client" | "log" | "held"
  readonly asText: boolean
  /** The client's original body. */
  readonly came: string
  /** Present if the client has just replaced its history with a summary. */
  readonly compacted?: IngestResult["compacted"] | undefined
  readonly events: Trace
  readonly stack: CallStack
  /** The frame without the log's messages. */
  readonly base: ModelRequest
  readonly reframe: (inForce: StackInForce | undefined) => ModelRequest
}

/** Opens a call: from the client's request, whose history is stored in the log, or from the log's own messages in a frame. */
export async function openCall(live: Live, options: PrepareOptions, pins: readonly SessionPin[]): Promise<Call> {
  checkPrepareOptions(options)
  const format =
    options.request?.format ?? options.format ?? live.options.format ?? live.frame?.format ?? live.client?.format
  if (format === undefined || !formats.includes(format)) {
    const found = format === undefined ? "nothing" : JSON.stringify(format)
    refuseOption("format", `one of ${formats.join(", ")}`, found)
  }
  const { body, request: read } = options
  if (read === undefined && typeof body !== "string") {
    const own = body === undefined ? undefined : objectOf(body)
    const model = options.model ?? live.options.model
    const { system, tools, maxOutputTokens, stream } = options
    const said = { format, ...present({ model, system, tools, maxOutputTokens, stream }) }
    if (own === undefined || !carriesMessages(format, own)) {
      live.bareFrame = frameFor(said, own, live.bareFrame)
      return logCall(live, options, live.bareFrame, false)
    }
  }
  const asText = typeof body !== "object"
  const text = typeof body === "object" ? JSON.stringify(body) : (body ?? "")
  const request = read === undefined ? decodeFor(live, format, text) : resumeRequest(live.client, read)
  if (options.whenStoreIsAway === "refuse") requireNewest(live, request)
  if (isHeld(request)) return heldCall(live, options, request, asText, pins)
  return request.messages.length === 0
    ? logCall(live, options, request, asText)
    : clientCall(live, options, request, asText, pins)
}

const prepareNames = optionNames<PrepareOptions>()(
  "format body request model system tools maxOutputTokens stream windowTokens reserveTokens focus occasion maxWaitMs isSent repair whenStoreIsAway stack",
)

/** Refuses invalid options of one call. */
function checkPrepareOptions(options: PrepareOptions): void {
  checkNumbers(options, { windowTokens: 1, reserveTokens: 0, maxOutputTokens: 1, maxWaitMs: 0 })
  checkOptionNames(options, prepareNames, "prepare")
  if (options.stack !== undefined) checkStackOption(options.stack, "prepare")
  const { request } = options
  if (request !== undefined && !(typeof request?.wire === "string" && Array.isArray(request.messages)))
    refuseValue("request", "a request as decodeRequest reads it", request)
}

/** Decodes a request and reuses the message objects of the previous one. */
const decodeFor = ({ client }: Live, format: Format, text: string): ModelRequest =>
  client?.format === format ? decodeNext(client, text) : decodeRequest(format, text)

function objectOf(body: object): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body
  throw new HoldfastError({ code: "request-invalid", path: "the body", expected: "an object", found: "an array" })
}

/** The fields in which the kinds of calls differ; the others are derived from them. */
type OpenedCall = Pick<Call, "kind" | "asText" | "came" | "compacted" | "view"> & {
  /** The request before the prompt stack and the operator's rules are added. */
  readonly bare: ModelRequest
  readonly separation?: Separation
  readonly events?: Trace
}

/** Number of cache markers for the stack in a request built from the log; the others that a provider allows are for the messages. */
const stackMarkers = 2

async function callOf(live: Live, options: PrepareOptions, opened: OpenedCall): Promise<Call> {
  const { bare, separation, events = [], ...call } = opened
  const isOurs = call.kind === "log"
  const meter = live.meterFor(options.model ?? bare.model ?? live.options.model, bare.format)
  const windowTokens = options.windowTokens ?? live.options.windowTokens ?? meter.model.windowTokens
  const stack = await stackForCall(live, options.stack, { meter, windowTokens })
  const reframe = (inForce: StackInForce | undefined): ModelRequest =>
    withStanding(live, bare, inForce, isOurs ? stackMarkers : undefined)
  const base = reframe(stack.inForce)
  if (call.kind !== "held") live.frame = base
  const frame = isOurs ? frameMessages(base, call.view, await finder(live, call.view)) : base
  return {
    ...call,
    frame,
    separation:
      separation === undefined ? separate(frame, { standing: live.documents }) : separateMade(separation, frame),
    events: [...events, ...stack.events],
    stack,
    base,
    reframe,
  }
}

async function clientCall(
  live: Live,
  options: PrepareOptions,
  request: ModelRequest,
  asText: boolean,
  pins: readonly SessionPin[],
): Promise<Call> {
  const { request: bare, separation, events, compacted } = await ingest(live, request, pins)
  live.client = bare
  const view = await readView(live, live.at)
  // The client sends all messages itself, so none need to be kept.
  release(live, { ...view, items: [], standing: [] })
  return callOf(live, options, { kind: "client", asText, came: bare.wire, compacted, view, bare, separation, events })
}

/** The provider holds the earlier history: all messages in the request are new, and they are the whole view. */
async function heldCall(
  live: Live,
  options: PrepareOptions,
  request: ModelRequest,
  asText: boolean,
  pins: readonly SessionPin[],
): Promise<Call> {
  const separation = separate(request, { standing: live.documents })
  const { placed, events } = await appendMessages(live, separation.conversation, pins, [])
  const names = new Map(separation.conversation.map(({ id }, n) => [id, messageId(entryId(placed[n] ?? 0))]))
  const messages = request.messages.map((message) => ({ ...message, id: names.get(message.id) ?? message.id }))
  const items = [...names.values()].flatMap((id): readonly Item[] => {
    const entry = seqOf(id)
    return entry === undefined ? [] : [{ type: "shown", entry }]
  })
  const view: View = { at: live.at, checkpoint: 0, items, standing: [] }
  const bare = { ...request, messages }
  return callOf(live, options, { kind: "held", asText, came: request.wire, view, bare, separation, events })
}

async function logCall(live: Live, options: PrepareOptions, bare: ModelRequest, asText: boolean): Promise<Call> {
  await requireLog(live)
  const events = await translateMessages(live, bare.format)
  const view = await readView(live, live.at)
  return callOf(live, options, { kind: "log", asText, came: bare.wire, view, bare, events })
}

/** The call with the current view. If the messages come from the log, the frame contains them as the view shows them. */
export async function withNewView(live: Live, call: Call): Promise<Call> {
  const view = await readView(live, live.at)
  if (call.kind !== "log") return { ...call, view }
  const frame = frameMessages(call.base, view, await finder(live, view))
  return { ...call, view, frame, separation: separateMade(call.separation, frame) }
}

export async function withOtherStack(live: Live, call: Call, inForce: StackInForce): Promise<Call> {
  const base = call.reframe(inForce)
  const frame = call.kind === "log" ? frameMessages(base, call.view, await finder(live, call.view)) : base
  const separation = separateMade(call.separation, frame)
  return { ...call, base, frame, separation, stack: { inForce, events: [] } }
}

/** The messages of a view by entry; missing ones are read from the log. */
async function finder(live: Live, view: View): Promise<(seq: number) => Message | undefined> {
  await readMessages(live, entriesIn(view))
  return (seq) => live.messages.get(seq)
}

/** Translates messages of another format once; from then on the conversation is in this format. */
async function translateMessages(live: Live, format: Format): Promise<Trace> {
  const view = await readView(live, live.at)
  const find = await finder(live, view)
  const messages = messagesOf(view, find)
  if (messages.every((message) => message.format === undefined || message.format === format)) return []
  const { messages: carried, lost } = translate(messages, format)
  const body: EntryBody = {
    type: "checkpoint-installed",
    node: view.at,
    base: view.checkpoint,
    items: carried.map((message) => ({ type: "made", message })),
    standing: [],
    remedy: "translation",
    beforeTokens: 0,
    afterTokens: 0,
    trace: JSON.stringify(lost),
  }
  const { entries } = await live.journal.commit((outline) =>
    outline.checkpointAt(view.at) === view.checkpoint ? [body] : [],
  )
  return [...lost, ...entries.map(({ seq }) => ({ type: "checkpoint-installed" as const, checkpoint: entryId(seq) }))]
}

/** Throws the store's Problem if the log cannot be read: without it, nothing is known about the session or its history. */
export async function requireLog(live: Live): Promise<void> {
  if (live.learned && live.journal.isKnown()) return
  const { problem } = await live.journal.commit(() => [])
  if (problem !== undefined) throw new HoldfastError(problem)
  await loadSession(live)
}

/** Throws the store's Problem if the rules of this session or of all sessions cannot be read. */
export async function requireRules(live: Live): Promise<void> {
  // Write pending entries first, if the store is back: that also reads what others wrote meanwhile.
  if (!live.journal.isDurable()) await live.journal.commit(() => [])
  await requireLog(live)
  await live.shared.require()
}

/** Throws while a shared store is unavailable, because others may have continued the session, unless the request has the last response. */
function requireNewest({ journal, store, answered }: Live, request: ModelRequest): void {
  const problem = journal.problem()
  if (problem === undefined || !store.isShared) return
  const newest = newestAnswer(request.messages)
  const isSame = newest !== undefined && answered !== undefined && messageKey(newest) === messageKey(answered)
  if (request.held !== undefined || !isSame) throw new HoldfastError(problem)
}
