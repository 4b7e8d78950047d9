import { isStray } from "../../guard/find-call.ts"
import { deniedResults, type JudgedCall } from "../../guard/judge-call.ts"
import { ignoreProblem } from "../../message/errors.ts"
import {
  type Format,
  type Message,
  type ModelRequest,
  type ModelResponse,
  messageId,
  type Part,
  type StopReason,
  type ToolCallPart,
  type ToolResultPart,
  wireText,
} from "../../message/message.ts"
import type { SessionGuarding } from "../../session/record.ts"
import { runPaced } from "../../store/pace.ts"
import { decodeRequestSteps } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { elements, isObject, member, readJson, tryParse, valueIn, wireOf } from "../../wire/json.ts"
import { overlay, write, writeList } from "../../wire/json-write.ts"
import { replaceData, type SseEvent } from "../../wire/sse.ts"
import { indexOf, type StreamEvent } from "../../wire/stream.ts"
import { type CollectState, startCollect } from "../../wire/stream-steps.ts"
import { type Recall, recallName } from "./recall-tool.ts"

/** The outcome of a finished round. */
export type Round = {
  /** The response's id. In a stream the client sees the id of the first round; the provider's state is under that of the last one. */
  readonly id?: string
  /** Number of answered recalls, and of denials sent to the model. Zero in the last round: nothing is sent after it. */
  readonly recalls: number
  readonly denied: number
  /** True if another round follows. */
  readonly continues: boolean
}

export type RoundsOptions = {
  readonly format: Format
  /** The request body of the first response, as text or in bytes: it is read only if another round follows. */
  readonly sent: string | Buffer
  readonly guarding?: SessionGuarding
  /** Answers recalls; without it, no call counts as a recall. */
  readonly recall?: Recall
  /** Limit on the rounds after the first. */
  readonly maxRounds?: number
  readonly onRound?: (round: Round) => void
}

/** Default limit on rounds after the first: enough for a recalled text of several pages or a second try. More is a loop. */
export const usualRounds = 5

export const isRecall = ({ tool, kind }: Pick<ToolCallPart, "tool" | "kind">): boolean =>
  tool === recallName && kind === "function"

/** The tool calls of a response that need a result from the client. */
export const openCalls = ({ messages }: Pick<ModelResponse, "messages">): readonly ToolCallPart[] =>
  messages.flatMap(({ parts }) => parts.filter(isOpenCall))

const isOpenCall = (part: Part): part is Part & ToolCallPart => part.type === "tool-call" && part.kind !== "provider"

/** True if the model stopped to wait for tool results. Some servers report a plain end instead. */
export const waitsForResults = (stop: StopReason): boolean => stop === "tool-calls" || stop === "end"

type AnsweredRound = {
  readonly answer: ModelResponse
  /** Its tool calls that were withheld. */
  readonly denied: readonly JudgedCall[]
  readonly recall?: Recall | undefined
}

/** The request body of the round after one whose calls can all be answered; undefined if they cannot. */
export async function bodyAfter(
  round: AnsweredRound,
  sent: string | Buffer,
  format: Format,
): Promise<string | undefined> {
  try {
    const results = await roundResults(round)
    return results === undefined ? undefined : await nextBody(sent.toString(), format, round.answer, results)
  } catch (error) {
    // The request was forwarded without being decoded, so a response cannot be added to it.
    return ignoreProblem(error)
  }
}

/**
 * A result for every tool call of a response: the recalled text, or the reason for a refusal. Undefined if a call would be left without a
 * result, or if the response cannot be sent back as it is.
 */
async function roundResults({ answer, denied, recall }: AnsweredRound): Promise<readonly ToolResultPart[] | undefined> {
  const calls = openCalls(answer)
  const refusals = new Map(deniedResults(denied, answer).map((result) => [result.callId, result]))
  const known = calls.every((call) => (recall !== undefined && isRecall(call)) || refusals.has(call.callId))
  const unique = new Set(calls.map(({ callId }) => callId)).size === calls.length
  if (!known || !unique || refusals.size < denied.length || !calls.every((call) => canReturn(answer.format, call))) {
    return undefined
  }
  const results: ToolResultPart[] = []
  for (const call of calls) results.push(refusals.get(call.callId) ?? (await recallResult(call, recall)))
  return results
}

/** True if a call can be sent back. The Anthropic and Gemini formats accept only an object as a call's input. */
const canReturn = (format: Format, { input }: ToolCallPart): boolean =>
  format === "openai-chat" || format === "openai-responses" || input === undefined || isObject(input)

async function recallResult({ callId, kind, tool, input }: ToolCallPart, recall?: Recall): Promise<ToolResultPart> {
  const { text, failed } = (await recall?.(input)) ?? { text: "It was not run.", failed: true }
  return { type: "tool-result", callId, kind, tool, content: [{ type: "text", text }], ...(failed ? { failed } : {}) }
}

/** Text that replaces a recall that was not answered. */
export const besideText = `[${recallName} was not run: it has to be called alone. Call it again without other tools beside it.]`
export const usedUpText = `[${recallName} was not run: no more can be fetched in this turn.]`

/**
 * The provider's usage object. The client pays for rounds that it does not see, so their usage is added to the usage that it gets: every
 * number of every field, including unknown fields.
 */
export type RoundUsage = Readonly<Record<string, unknown>>

/** The sum of two usages: numbers are added, any other value is taken from the later one. */
export function sumUsage(one: RoundUsage | undefined, other: RoundUsage | undefined): RoundUsage | undefined {
  if (one === undefined || other === undefined) return other ?? one
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...names].map((name) => [name, addedValue(one[name], other[name])]))
}

function addedValue(one: unknown, other: unknown): unknown {
  if (typeof one === "number" && typeof other === "number") return one + other
  if (isObject(one) && isObject(other)) return sumUsage(one, other)
  return other ?? one
}

/** The usage field of each format; and the member that contains it in formats whose events carry a whole response. */
const field: Readonly<Record<Format, string>> = {
  "anthropic-messages": "usage",
  "openai-chat": "usage",
  "openai-responses": "usage",
  gemini: "usageMetadata",
}
const inner: Readonly<Partial<Record<Format, string>>> = {
  "anthropic-messages": "message",
  "openai-responses": "response",
}

/** The usage in a response, or in one event of a stream. */
export function usageOfText(format: Format, text: string): RoundUsage | undefined {
  const body = text.includes(field[format]) ? tryParse(text) : undefined
  if (!isObject(body)) return undefined
  const within = body[inner[format] ?? ""]
  const usage = (isObject(within) ? within : body)[field[format]]
  return isObject(usage) ? usage : undefined
}

/** A response, or an event, with its usage replaced. */
export function withUsage(format: Format, text: string, usage: RoundUsage): string {
  const body = tryParse(text)
  if (!isObject(body)) return text
  const name = inner[format]
  const told = { [field[format]]: write(usage) }
  const holder = name === undefined ? undefined : body[name]
  return name !== undefined && isObject(holder)
    ? overlay(wireText(text), { [name]: overlay(write(holder), told) })
    : overlay(wireText(text), told)
}

/** Collects the usage of one round of a stream, and adds that of earlier rounds to the events that contain usage. */
export function createUsageAdder(format: Format, earlier: RoundUsage | undefined) {
  let own: RoundUsage | undefined
  return {
    add: (event: SseEvent): SseEvent => {
      const usage = usageOfText(format, event.data)
      if (usage === undefined) return event
      // An event may contain only the fields that changed since the last one.
      own = { ...own, ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)) }
      const sum = earlier === undefined ? undefined : sumUsage(earlier, own)
      return sum === undefined ? event : replaceData(event, withUsage(format, event.data, sum))
    },
    counted: (): RoundUsage | undefined => sumUsage(earlier, own),
  }
}

/** Recalls removed from a stream: their call ids by part index. */
type TakenRecalls = Map<number, string>

/**
 * Removes the recalls from a stream, so that neither the guard nor the client sees them. The guard also checks each wire event for content
 * outside the decoded parts; if the first part of an event is removed here, that check is done here.
 */
export async function* withoutRecalls(
  format: Format,
  events: AsyncIterable<StreamEvent>,
  taken: TakenRecalls,
  guarded: boolean,
): AsyncGenerator<StreamEvent, void, undefined> {
  let listed: { readonly sse: SseEvent; readonly rest: SseEvent } | undefined
  for await (const event of events) {
    if (event.type === "part-start" && event.part === "tool-call" && isRecall(event)) {
      taken.set(event.index, event.callId)
    }
    const index = indexOf(event)
    if (index !== undefined && taken.has(index)) {
      if (!guarded || !isStray(format, event, true)) continue
      yield { type: "error", problem: stray }
      return
    }
    const { wire } = event
    if (wire === undefined || taken.size === 0 || !listsItems(format, event)) {
      yield event
      continue
    }
    if (listed?.sse !== wire.sse) listed = { sse: wire.sse, rest: withoutListedRecalls(wire.sse, taken) }
    yield { ...event, wire: { ...wire, sse: listed.rest } }
  }
}

const stray = {
  code: "stream-invalid",
  event: "data",
  expected: "tool calls only in places where they can be judged",
  found: "a possible tool call in another place",
} as const

/** True for the final events of OpenAI Responses, which list all items again. */
const listsItems = (format: Format, { type }: StreamEvent): boolean =>
  format === "openai-responses" && (type === "usage" || type === "response-stop" || type === "response-end")

function withoutListedRecalls(sse: SseEvent, taken: TakenRecalls): SseEvent {
  const ids = new Set(taken.values())
  const body = readJson(sse.data, "response")
  const response = member(body, "response")
  const output = member(response, "output")
  if (response === undefined || output === undefined) return sse
  const left = elements(output).filter(({ value }) => !isObject(value) || !ids.has(String(value.call_id)))
  const answer = overlay(wireOf(response), { output: writeList(left.map(wireOf)) })
  return replaceData(sse, overlay(wireOf(body), { response: answer }))
}

/** The inputs of one round of a streamed exchange: the request body, its response events, and the state after the earlier rounds. */
export type RoundSetup = {
  readonly format: Format
  readonly events: AsyncIterable<SseEvent>
  readonly sent: string | Buffer
  readonly guarding?: SessionGuarding | undefined
  readonly recall?: Recall | undefined
  /** True if another round may follow. */
  readonly mayGoOn: boolean
  readonly isFirst: boolean
  /** Number of parts in earlier rounds; parts of this round are numbered from here. */
  readonly offset: number
  /** True if earlier rounds contained text, so that the text of this round needs a separator. */
  readonly spoken: boolean
  /** Money spent by calls of earlier rounds, in hundredths of the currency. */
  readonly spentMinor: number
  /** The usage of earlier rounds. */
  readonly usage: RoundUsage | undefined
}

/** The state of a round in progress. */
export type RoundNotes = {
  id: string | undefined
  parts: number
  spoken: boolean
  /** The id that the upstream gave the response of this round. */
  responseId: string | undefined
  /** Tool calls that were sent to the client. */
  released: number
  stopped: boolean
  /** The request body of the next round, if there is one. */
  next: string | undefined
  collecting: CollectState
  usage: ReturnType<typeof createUsageAdder> | undefined
  readonly judged: JudgedCall[]
  readonly taken: TakenRecalls
  /** The taken recalls that were replaced by text. */
  readonly placed: Set<number>
}

export const openNotes = ({ format, offset }: RoundSetup): RoundNotes => ({
  id: undefined,
  parts: offset,
  spoken: false,
  responseId: undefined,
  released: 0,
  stopped: false,
  next: undefined,
  collecting: startCollect(format),
  usage: undefined,
  judged: [],
  taken: new Map(),
  placed: new Set(),
})

export const isDenied = ({ result }: Pick<JudgedCall, "result">): boolean => result !== undefined

/**
 * The request body of the next round: the previous one, followed by the model's whole response (calls, thinking and signatures unchanged)
 * and the tool results. Existing bytes stay unchanged.
 */
export async function nextBody(
  sent: string,
  format: Format,
  answer: ModelResponse,
  results: readonly ToolResultPart[],
): Promise<string> {
  const request = await runPaced(decodeRequestSteps(format, sent))
  const told: Message = { id: messageId("results"), role: "user", parts: results }
  const messages = [...request.messages, ...answersFor(request, answer), told]
  return encodeRequest(request, { messages })
}

function answersFor({ format, wire }: ModelRequest, { messages }: ModelResponse): readonly Message[] {
  if (format !== "openai-responses") return messages.map((message) => ({ ...message, role: "assistant" }))
  const body = readJson(wire, "request")
  // A conversation that the provider stores already contains the response.
  if (valueIn(body, "conversation") !== undefined && valueIn(body, "conversation") !== null) return []
  return valueIn(body, "store") === false ? messages.filter(isWhole) : messages
}

/** False for a reasoning item without encrypted content: if the provider stores nothing, it refers to something that does not exist. */
function isWhole({ parts, wire }: Message): boolean {
  if (parts[0]?.type !== "reasoning" || wire === undefined) return true
  const item = tryParse(wire)
  return isObject(item) && typeof item.encrypted_content === "string"
}
