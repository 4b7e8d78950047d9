import type { Format, Message, ModelRequest, ModelResponse, Transcript, Wire } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { SessionGuarding } from "../../session/record.ts"
import type { Session } from "../../session/session.ts"
import { decodeRequest, decodeResponse } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { isObject, overlay, tryParse } from "../../wire/json.ts"
import {
  compactWhole,
  type OwnAnswer,
  threadUnsupported,
  triggeredAnswer,
  triggeredResponse,
} from "./compaction-answer.ts"
import { type Form, inlineForm } from "./form.ts"
import type { Minded } from "./held.ts"
import { asksToCompact, elementTexts, type FullHistory, withoutTrigger } from "./whole.ts"

/** What to do about a refusal: send something else, or answer the client ourselves. */
export type Instead =
  | {
      readonly type: "send"
      readonly body: Buffer
      /** Nobody said that it would help: if it is refused as well, the refusal before it is the client's to see. */
      readonly isTrial?: true
    }
  | { readonly type: "answer"; readonly answer: OwnAnswer; readonly response?: ModelResponse }

/** A request that was refused, as it was sent. */
export type RefusedCall = Refused & {
  readonly sent: Buffer
  readonly changed: boolean
  /** The refusal says that it is too long. */
  readonly isTooLong: boolean
  /** It is about the length, be it that of the request or that of the answer. */
  readonly isAboutLength: boolean
}

type InsteadFacts = {
  readonly id: string
  readonly atMs: number
  readonly model?: string
  readonly windowTokens?: number
}

/** What to do where an upstream refuses a request for another reason than its length; nothing if the refusal is the client's to see. */
export async function insteadOf(
  { request, session, sent }: { readonly request: ModelRequest; readonly session: Session; readonly sent: Sent },
  refused: RefusedCall,
  facts: InsteadFacts,
): Promise<Instead | undefined> {
  if (request.held?.type === "thread") {
    return refused.isTooLong ? { type: "answer", answer: threadUnsupported(`req_${facts.id}`) } : undefined
  }
  if (asksToCompact(request) && (knowsNoCompaction(refused) || refused.isTooLong)) {
    return answerTrigger(request, session, sent, facts)
  }
  const kind = refusalKind(request.format, refused)
  if (kind === "previous-unknown" || kind === "item-unknown") return inline(sent, request)
  if (!refused.changed) return undefined
  return kind === "reasoning" ? strip(sent, request, refused) : tryWithout(sent, request, refused)
}

/** Statuses of a request that is not taken as it is. */
const invalid: ReadonlySet<number> = new Set([400, 422])

/**
 * A changed request that was refused in words that we do not know: reasoning is what an upstream may mind in it, so it is sent once more
 * without any.
 */
function tryWithout(sent: Sent, { format }: ModelRequest, refused: RefusedCall): Instead | undefined {
  if (!invalid.has(refused.status) || refused.isAboutLength || sent.tried.has("without-reasoning")) return undefined
  const before = refused.sent.toString("utf8")
  const body = withoutReasoning(format, before, false)
  if (body === before) return undefined
  sent.tried.add("without-old-reasoning").add("without-reasoning")
  sent.isOther = true
  return { type: "send", body: Buffer.from(body), isTrial: true }
}

/** Everything written out, and none of the reasoning that only who keeps it can read. */
function inline(sent: Sent, { format, held }: ModelRequest): Instead | undefined {
  const { whole, tried } = sent
  const isReferring = held !== undefined || whole?.expanded.some(({ type }) => type === "reference") === true
  const isUnwanted = whole?.before?.upstream === "unstored" && !whole.stores
  if (whole === undefined || !isReferring || isUnwanted || tried.has("inline")) return undefined
  tried.add("inline")
  const form = inlineForm(whole, sent.wire)
  if (form.type !== "send") return undefined
  const body = withoutReasoning(format, form.body, false)
  sent.form = { type: "send", body, elements: () => elementTexts(decodeRequest(format, body)) }
  return { type: "send", body: Buffer.from(body) }
}

/** Without the reasoning of turns that are over, then without any. */
function strip(sent: Sent, { format }: ModelRequest, refused: RefusedCall): Instead | undefined {
  const before = refused.sent.toString("utf8")
  for (const [step, keepOpenRound] of steps) {
    if (sent.tried.has(step)) continue
    sent.tried.add(step)
    const body = withoutReasoning(format, before, keepOpenRound)
    if (body === before) continue
    sent.isOther = true
    return { type: "send", body: Buffer.from(body) }
  }
  return undefined
}

const steps = [
  ["without-old-reasoning", true],
  ["without-reasoning", false],
] as const

async function answerTrigger(
  request: ModelRequest,
  session: Session,
  sent: Sent,
  facts: InsteadFacts,
): Promise<Instead | undefined> {
  const { whole } = sent
  if (whole === undefined) return undefined
  const { model, windowTokens, id, atMs } = facts
  const compacted = await compactWhole(session, withoutTrigger(whole), {
    keepsUser: false,
    ...present({ model, windowTokens }),
  })
  const answer = { seed: id, atMs, ...present({ model }) }
  sent.isOther = true
  return {
    type: "answer",
    answer: triggeredAnswer(compacted, answer, request.stream),
    response: decodeResponse("openai-responses", JSON.stringify(triggeredResponse(compacted, answer))),
  }
}

/** What goes upstream for a request, as it stands now: it may have to be said in another way. */
export type Sent = {
  readonly whole?: FullHistory
  /** What the session made of the whole. */
  wire: string
  form: Form
  /** The provider will not have under the answer's id what the client has. */
  isOther: boolean
  /** What was tried already because the upstream refused. */
  readonly tried: Set<"inline" | "without-old-reasoning" | "without-reasoning">
}

/** Leave out at once, where something was changed, the reasoning that the upstream did not take in this session before. */
export function spare(sent: Sent, { format, wire }: ModelRequest, minded: Minded | undefined): void {
  const { form, tried } = sent
  if (minded === undefined || form.type !== "send" || form.body === wire) return
  tried.add("without-old-reasoning")
  if (minded === "all") tried.add("without-reasoning")
  const body = withoutReasoning(format, form.body, minded === "old")
  if (body === form.body) return
  sent.form = { ...form, body }
  sent.isOther = true
}

/** A call that is withheld stands in what the provider keeps of the answer, and not in what the client has of it. */
export function noting(
  guarding: SessionGuarding | undefined,
  sent: Pick<Sent, "isOther">,
): SessionGuarding | undefined {
  if (guarding === undefined) return undefined
  const onJudged: SessionGuarding["onJudged"] = async (judged) => {
    if (judged.result !== undefined) sent.isOther = true
    await guarding.onJudged(judged)
  }
  return { ...guarding, onJudged }
}

/** A request that an upstream refused: with what, in its own words. */
type Refused = { readonly status: number; readonly body: string }

/**
 * What an upstream misses or minds, where that can be fixed: it does not have the answer that the request goes on from, or an item
 * that it names; or it minds reasoning whose surroundings changed.
 */
export type RefusalKind = "previous-unknown" | "item-unknown" | "reasoning"

/** An error is a few lines; what is longer is something else. */
const maxLength = 100_000
const maxMessage = 4000

type Said = { readonly code: string; readonly message: string; readonly param: string }

function saidIn(body: string): Said {
  const parsed = body.length > maxLength ? undefined : tryParse(body)
  const outer = isObject(parsed) ? (parsed.error ?? parsed.detail ?? parsed) : body
  const error = isObject(outer) ? outer : { message: outer }
  const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, maxMessage) : "")
  return { code: text(error.code), message: text(error.message), param: text(error.param) }
}

export function refusalKind(format: Format, { status, body }: Refused): RefusalKind | undefined {
  if (status !== 400 && status !== 404 && status !== 422) return undefined
  const { code, message } = saidIn(body)
  const words = message.toLowerCase()
  if (format === "openai-responses") {
    const isMissing = words.includes("not found") || words.includes("does not exist")
    if (code === "previous_response_not_found" || isNotTaken(words, "previous_response_id")) return "previous-unknown"
    if (isMissing && words.includes("response with id")) return "previous-unknown"
    if (isMissing && words.includes("previous response")) return "previous-unknown"
    if ((isMissing && /\bitems?\b/.test(words)) || isNotTaken(words, "item_reference")) return "item-unknown"
  }
  return status !== 404 && mindsReasoning(words) ? "reasoning" : undefined
}

/** Words of upstreams that keep nothing for their clients. */
const notTakenWords = [
  "not supported",
  "unsupported",
  "invalid",
  "unknown",
  "not allowed",
  "not permitted",
  "unrecognized",
]

const isNotTaken = (words: string, name: string): boolean =>
  words.includes(name) && notTakenWords.some((word) => words.includes(word))

const reasoningWords = [
  "thinking",
  "reasoning",
  "encrypted content",
  "encrypted_content",
  "thought signature",
  "thought_signature",
]
const mindedWords = [
  "signature",
  "cannot be modified",
  "could not be verified",
  "could not be decrypted",
  "without its required",
  "binding",
  "bound to",
  "prefix",
  "invalid",
  "not valid",
  "corrupted",
  "expected `thinking`",
  "must start with a thinking block",
]

const mindsReasoning = (words: string): boolean =>
  reasoningWords.some((word) => words.includes(word)) && mindedWords.some((word) => words.includes(word))

/** Does an upstream say that it knows nothing of compacting: no such endpoint, no such item? */
export function knowsNoCompaction({ status, body }: Refused): boolean {
  if (status === 405 || status === 501) return true
  const { code, message, param } = saidIn(body)
  if (status === 404) return code !== "model_not_found" && code !== "previous_response_not_found"
  if (status !== 400 && status !== 422) return false
  return `${message} ${param}`.includes("compaction") || body.slice(0, maxLength).includes("compaction_trigger")
}

/**
 * A request without the model's reasoning, which an upstream takes only among the words that it was thought among; with
 * `keepOpenRound` that of the turn under way stays, which some models want to see again. The same text if there is none to leave out.
 */
export function withoutReasoning(format: Format, wire: string, keepOpenRound: boolean): string {
  const request = decodeRequest(format, wire)
  const from = keepOpenRound ? request.messages.findLastIndex(isSpoken) : request.messages.length
  const end = from < 0 ? 0 : from
  const messages = stripped(untied(request.messages, end), end)
  return messages.length === request.messages.length && messages.every((message, n) => message === request.messages[n])
    ? wire
    : encodeRequest(request, { messages })
}

/** The user's own words, not the result of a call. */
const isSpoken = ({ role, parts }: Message): boolean =>
  role === "user" && parts.some(({ type }) => type !== "tool-result")

const stripped = (messages: Transcript, end: number): Transcript =>
  messages.flatMap((message, n): readonly Message[] => {
    if (n >= end) return [message]
    const parts = message.parts.filter(({ type }) => type !== "reasoning")
    if (parts.length === message.parts.length) return [message]
    return parts.length === 0 ? [] : [{ ...message, parts }]
  })

/** On OpenAI Responses an item of the model's is tied to its reasoning by its id, which it may do without. */
function untied(messages: Transcript, end: number): Transcript {
  let isTied = false
  return messages.map((message, n) => {
    if (message.role !== "assistant") isTied = false
    else if (message.parts.some(({ type }) => type === "reasoning")) isTied = true
    else if (isTied && n < end && message.format === "openai-responses") return withoutId(message)
    return message
  })
}

function withoutId(message: Message): Message {
  const bare = (wire: Wire | undefined): Wire | undefined =>
    wire === undefined || !wire.startsWith("{") ? wire : overlay(wire, { id: undefined })
  const parts = message.parts.map((part) =>
    part.type === "tool-call" ? { ...part, ...present({ wire: bare(part.wire) }) } : part,
  )
  return { ...message, parts, ...present({ wire: bare(message.wire) }) }
}
