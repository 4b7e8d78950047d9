import { textCouldHoldCall } from "../../guard/find-call.ts"
import { guardResponse, responseWire, textPart, writtenMessage } from "../../guard/guard-response.ts"
import { type JudgedCall, spentWith, withSpent } from "../../guard/judge-call.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type Format, type Message, type ModelResponse, messageId, type Part } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { decodeResponse } from "../../wire/decode.ts"
import { boundRecall } from "./recall-tool.ts"
import {
  besideText,
  bodyAfter,
  isDenied,
  isRecall,
  openCalls,
  type RoundsOptions,
  type RoundUsage,
  sumUsage,
  usageOfText,
  usedUpText,
  usualRounds,
  waitsForResults,
  withUsage,
} from "./round.ts"

/** A response that was read completely. */
export type WholeText = { readonly status: number; readonly text: string }

type WholeRoundsOptions = RoundsOptions & {
  readonly first: WholeText
  /** Sends a request body to the same upstream. Failures are thrown as Problems. */
  readonly send: (body: string) => Promise<WholeText>
}

type JudgedRound = {
  readonly answer: ModelResponse
  /** The response for the client: recalls removed, withheld calls replaced by text. */
  readonly shown: ModelResponse
  readonly recalls: number
  readonly denied: readonly JudgedCall[]
  readonly spentMinor: number
}

/**
 * Runs the tool rounds of a non-streamed response, like `streamRounds`: the client gets the last response, preceded by the text of the
 * earlier ones. If nothing was recalled or withheld, it is the original text. If a later round is refused, the client gets the refusal,
 * because nothing was sent to it yet.
 */
export async function wholeRounds(options: WholeRoundsOptions): Promise<WholeText> {
  const { format, send, maxRounds = usualRounds } = options
  const recall = options.recall === undefined ? undefined : boundRecall(options.recall)
  const earlier: Message[] = []
  let { first: reply, sent } = options
  let spentMinor = 0
  let usage: RoundUsage | undefined
  for (let number = 0; ; number++) {
    if (reply.status >= 300) return reply
    const read = readable(options, reply.text, number)
    if (read === undefined) return reply
    const judged = await judgeRound({ ...options, spentMinor }, renamed(read, number))
    const { id } = judged.answer
    const next = number < maxRounds ? await nextOf(format, sent, judged, recall) : undefined
    const counts =
      next === undefined ? { recalls: 0, denied: 0 } : { recalls: judged.recalls, denied: judged.denied.length }
    options.onRound?.({ ...counts, continues: next !== undefined, ...present({ id }) })
    if (next === undefined) {
      const text = lastText(format, reply.text, judged, earlier)
      const all = usage === undefined ? undefined : sumUsage(usage, usageOfText(format, text))
      return { status: reply.status, text: all === undefined ? text : withUsage(format, text, all) }
    }
    usage = sumUsage(usage, usageOfText(format, reply.text))
    earlier.push(...judged.shown.messages)
    spentMinor += judged.spentMinor
    sent = next
    reply = await send(next)
  }
}

/** Decodes a response; undefined if it cannot be decoded and contains no tool call to judge, so that it is relayed unchanged. */
function readable({ format, guarding }: RoundsOptions, text: string, number: number): ModelResponse | undefined {
  try {
    return decodeResponse(format, text)
  } catch (error) {
    const mustJudge = guarding !== undefined && textCouldHoldCall(text)
    if (mustJudge || number > 0 || !(error instanceof HoldfastError)) throw error
    return undefined
  }
}

async function judgeRound(
  { guarding, recall, spentMinor }: RoundsOptions & { readonly spentMinor: number },
  answer: ModelResponse,
): Promise<JudgedRound> {
  const rest = recall === undefined ? answer : withoutRecallParts(answer)
  const recalls = recall === undefined ? 0 : openCalls(answer).filter(isRecall).length
  if (guarding === undefined) return { answer, shown: rest, recalls, denied: [], spentMinor: 0 }
  const { guard, onJudged, ...use } = guarding
  const { response: shown, judged } = await guardResponse(rest, guard, withSpent(use, spentMinor))
  for (const one of judged) await onJudged(one, answer.id)
  return { answer, shown, recalls, denied: judged.filter(isDenied), spentMinor: spentWith(judged) }
}

/** The body of the next round, if every call of this response was recalled or withheld, and can be answered. */
async function nextOf(
  format: Format,
  sent: string | Buffer,
  { answer, shown, recalls, denied }: JudgedRound,
  recall: RoundsOptions["recall"],
): Promise<string | undefined> {
  const due = recalls + denied.length
  if (due === 0 || openCalls(shown).length > 0 || openCalls(answer).length !== due) return undefined
  if (!waitsForResults(answer.stop)) return undefined
  return bodyAfter({ answer, denied, recall }, sent, format)
}

/** The last response with the texts of earlier rounds, and with a text in place of each recall that was not answered. */
function lastText(
  format: Format,
  came: string,
  { answer, shown, recalls }: JudgedRound,
  earlier: readonly Message[],
): string {
  if (shown === answer && earlier.length === 0) return came
  const hasCalls = openCalls(shown).length > 0
  const stop = shown.stop === "tool-calls" && !hasCalls ? "end" : shown.stop
  const ownParts = Array.from({ length: recalls }, () => textPart(format, hasCalls ? besideText : usedUpText))
  const messages =
    format === "openai-responses"
      ? [...earlier, ...withItem(shown.messages, ownParts)]
      : oneMessage(shown, earlier, ownParts)
  const written = responseWire({ ...shown, messages, stop }, stop !== shown.stop)
  if (written === undefined) throw new HoldfastError({ code: "part-unwritable", part: "tool-call", format })
  return written
}

/** The response without its recalls; the same object if it has none. */
function withoutRecallParts(response: ModelResponse): ModelResponse {
  const { format } = response
  if (!response.messages.some(({ parts }) => parts.some(isRecallPart))) return response
  const messages = response.messages.flatMap((message): readonly Message[] => {
    const parts = message.parts.filter((part) => !isRecallPart(part))
    if (parts.length === message.parts.length) return [message]
    return parts.length === 0 && format === "openai-responses" ? [] : [writtenMessage(format, message, parts)]
  })
  return { ...response, messages }
}

const isRecallPart = (part: Part): boolean => part.type === "tool-call" && isRecall(part)

const isCall = (part: Part): boolean => part.type === "tool-call"

/** Puts our text before the first tool call: some clients ignore text after it. */
function beforeCalls(parts: readonly Part[], ownParts: readonly Part[]): readonly Part[] {
  const at = parts.findIndex(isCall)
  return parts.toSpliced(at < 0 ? parts.length : at, 0, ...ownParts)
}

/** In OpenAI Responses, text is an item of its own. */
function withItem(messages: readonly Message[], ownParts: readonly Part[]): readonly Message[] {
  if (ownParts.length === 0) return messages
  const at = messages.findIndex(({ parts }) => parts.some(isCall))
  const own: Message = { id: messageId("recall"), role: "assistant", parts: ownParts, format: "openai-responses" }
  return messages.toSpliced(at < 0 ? messages.length : at, 0, writtenMessage("openai-responses", own, ownParts))
}

function oneMessage(
  { format, messages }: ModelResponse,
  earlier: readonly Message[],
  ownParts: readonly Part[],
): readonly Message[] {
  const [message] = messages
  if (message === undefined) return messages
  const parts = [...earlier.flatMap((one) => one.parts), ...beforeCalls(message.parts, ownParts)]
  return [writtenMessage(format, message, format === "openai-chat" ? joined(parts) : parts)]
}

/** A Chat Completions message has one text and one reasoning text, before its calls. */
function joined(parts: readonly Part[]): readonly Part[] {
  const plain = (part: Part, type: Part["type"]): boolean => part.type === type && part.wire === undefined
  const textsOf = (type: "text" | "reasoning"): readonly Part[] => {
    const all = parts.flatMap((part) => (part.type === type && plain(part, type) ? part.text : []))
    const text = all.filter((one) => one !== "").join("\n\n")
    return text === "" ? [] : [{ type, text }]
  }
  const rest = parts.filter((part) => !plain(part, "text") && !plain(part, "reasoning"))
  return [...textsOf("reasoning"), ...textsOf("text"), ...rest]
}

/** Gives messages of later rounds distinct ids, so that no two items have the same id. */
const renamed = (response: ModelResponse, round: number): ModelResponse =>
  round === 0
    ? response
    : {
        ...response,
        messages: response.messages.map((message) => ({ ...message, id: messageId(`${round}${message.id}`) })),
      }
