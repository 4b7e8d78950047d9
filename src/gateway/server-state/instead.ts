import type { Format, Message, ModelRequest, ModelResponse, Transcript, Wire } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { readErrorBody } from "../../model/too-long.ts"
import type { SessionGuarding } from "../../session/record.ts"
import type { Session } from "../../session/session.ts"
import { decodeRequest, decodeResponse } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { overlay } from "../../wire/json-write.ts"
import {
  type AnswerFacts,
  compactWhole,
  type OwnAnswer,
  threadUnsupported,
  triggeredAnswer,
  triggeredResponse,
} from "./compaction-answer.ts"
import { type Form, inlineForm } from "./form.ts"
import type { RejectedReasoning } from "./held.ts"
import phrases from "./refusal-words.json" with { type: "json" }
import { asksToCompact, elementTexts, type FullHistory, withoutTrigger } from "./whole.ts"

/** How to proceed after a refusal: send a different request, or answer the client ourselves. */
export type Instead =
  | {
      readonly type: "send"
      readonly body: Buffer
      /** A guess: if this is refused as well, the client gets the first refusal. */
      readonly isTrial?: true
    }
  | { readonly type: "answer"; readonly answer: OwnAnswer; readonly response?: ModelResponse }

export type RefusedCall = Refused & {
  readonly sent: Buffer
  readonly changed: boolean
  readonly isTooLong: boolean
  /** The refusal is about a length: of the request or of the response. */
  readonly isAboutLength: boolean
}

/** Chooses how to proceed after a refusal for a reason other than length; undefined if the client should see the refusal. */
export async function insteadOf(
  { request, session, sent }: { readonly request: ModelRequest; readonly session: Session; readonly sent: Sent },
  refused: RefusedCall,
  facts: AnswerFacts,
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

/** Status codes that say the request is invalid. */
const invalid: ReadonlySet<number> = new Set([400, 422])

/** Tries a changed request that was refused with an unknown error once without reasoning, which is the likely cause. */
function tryWithout(sent: Sent, { format }: ModelRequest, refused: RefusedCall): Instead | undefined {
  if (!invalid.has(refused.status) || refused.isAboutLength || sent.tried.has("without-reasoning")) return undefined
  const before = refused.sent.toString("utf8")
  const body = withoutReasoning(format, before, false)
  if (body === before) return undefined
  sent.tried.add("without-old-reasoning").add("without-reasoning")
  sent.isOther = true
  return { type: "send", body: Buffer.from(body), isTrial: true }
}

/** Sends the full history, without reasoning, which only the provider that stored it can read. */
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

/** Removes the reasoning of finished turns; if that is refused too, removes all reasoning. */
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
  facts: AnswerFacts,
): Promise<Instead | undefined> {
  const { whole } = sent
  if (whole === undefined) return undefined
  const compacted = await compactWhole(session, withoutTrigger(whole), facts, false)
  sent.isOther = true
  return {
    type: "answer",
    answer: triggeredAnswer(compacted, facts, request.stream),
    response: decodeResponse("openai-responses", JSON.stringify(triggeredResponse(compacted, facts))),
  }
}

/** What is sent upstream for a request. It changes if the upstream refuses the first attempt. */
export type Sent = {
  readonly whole?: FullHistory | undefined
  /** The full request as the session prepared it. */
  wire: string
  form: Form
  /** The provider's stored response differs from the one the client got. */
  isOther: boolean
  /** Fallbacks already tried after refusals. */
  readonly tried: Set<"inline" | "without-old-reasoning" | "without-reasoning">
}

/** If the request was changed, removes the reasoning that the upstream rejected earlier in this session. */
export function removeRejectedReasoning(
  sent: Sent,
  { format, wire }: ModelRequest,
  rejectedReasoning: RejectedReasoning,
): void {
  const { form, tried } = sent
  if (form.type !== "send" || form.body === wire) return
  tried.add("without-old-reasoning")
  if (rejectedReasoning === "all") tried.add("without-reasoning")
  const body = withoutReasoning(format, form.body, rejectedReasoning === "old")
  if (body === form.body) return
  sent.form = { ...form, body }
  sent.isOther = true
}

/** Notes if a tool call is withheld: the provider's stored response still contains it, the client's does not. */
export function noteWithheldCalls(
  guarding: SessionGuarding | undefined,
  sent: Pick<Sent, "isOther">,
): SessionGuarding | undefined {
  if (guarding === undefined) return undefined
  const onJudged: SessionGuarding["onJudged"] = async (judged, response) => {
    if (judged.result !== undefined) sent.isOther = true
    await guarding.onJudged(judged, response)
  }
  return { ...guarding, onJudged }
}

type Refused = { readonly status: number; readonly body: string }

/**
 * A refusal that can be fixed: the upstream does not have the response that the request continues, does not have an item that the request
 * refers to, or rejects reasoning because the messages around it changed.
 */
export type RefusalKind = "previous-unknown" | "item-unknown" | "reasoning"

/** Limit on the characters of an error body that are read; an error is a few lines. */
const maxLength = 100_000

const errorOf = (format: Format, body: string) => readErrorBody(format, body.slice(0, maxLength))

export function refusalKind(format: Format, { status, body }: Refused): RefusalKind | undefined {
  if (status !== 400 && status !== 404 && status !== 422) return undefined
  const { code, message } = errorOf(format, body)
  const words = message.toLowerCase()
  if (format === "openai-responses") {
    const isMissing = words.includes("not found") || words.includes("does not exist")
    if (code === "previous_response_not_found" || isNotTaken(words, "previous_response_id")) return "previous-unknown"
    if (isMissing && words.includes("response with id")) return "previous-unknown"
    if (isMissing && words.includes("previous response")) return "previous-unknown"
    if ((isMissing && /\bitems?\b/.test(words)) || isNotTaken(words, "item_reference")) return "item-unknown"
  }
  return status !== 404 && rejectsReasoning(words) ? "reasoning" : undefined
}

const hasSome = (text: string, phrases: readonly string[]): boolean => phrases.some((phrase) => text.includes(phrase))

/** True if an upstream that stores no responses refuses this parameter. */
const isNotTaken = (text: string, name: string): boolean => text.includes(name) && hasSome(text, phrases.notTaken)

const rejectsReasoning = (text: string): boolean => hasSome(text, phrases.reasoning) && hasSome(text, phrases.rejection)

/** True if the refusal says that the upstream does not support compaction: no such endpoint, no such item type. */
export function knowsNoCompaction({ status, body }: Refused): boolean {
  if (status === 405 || status === 501) return true
  const { code, message, param } = errorOf("openai-responses", body)
  if (status === 404) return code !== "model_not_found" && code !== "previous_response_not_found"
  if (status !== 400 && status !== 422) return false
  return `${message} ${param}`.includes("compaction") || body.slice(0, maxLength).includes("compaction_trigger")
}

/**
 * Removes the model's reasoning, which an upstream accepts only in its original context. With `keepOpenRound`, keeps the reasoning of the
 * current turn, which some models require. Returns the same text if there is nothing to remove.
 */
export function withoutReasoning(format: Format, wire: string, keepOpenRound: boolean): string {
  const request = decodeRequest(format, wire)
  const from = keepOpenRound ? request.messages.findLastIndex(isSpoken) : request.messages.length
  const end = from < 0 ? 0 : from
  const messages = dropReasoning(unlinkItems(request.messages, end), end)
  return messages.length === request.messages.length && messages.every((message, n) => message === request.messages[n])
    ? wire
    : encodeRequest(request, { messages })
}

/** A message of the user, not a tool result. */
const isSpoken = ({ role, parts }: Message): boolean =>
  role === "user" && parts.some(({ type }) => type !== "tool-result")

const dropReasoning = (messages: Transcript, end: number): Transcript =>
  messages.flatMap((message, n): readonly Message[] => {
    if (n >= end) return [message]
    const parts = message.parts.filter(({ type }) => type !== "reasoning")
    if (parts.length === message.parts.length) return [message]
    return parts.length === 0 ? [] : [{ ...message, parts }]
  })

/** Removes the ids of items after reasoning: in OpenAI Responses the optional id of an output item links it to its reasoning item. */
function unlinkItems(messages: Transcript, end: number): Transcript {
  let isLinked = false
  return messages.map((message, n) => {
    if (message.role !== "assistant") isLinked = false
    else if (message.parts.some(({ type }) => type === "reasoning")) isLinked = true
    else if (isLinked && n < end && message.format === "openai-responses") return withoutId(message)
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
