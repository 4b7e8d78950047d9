import { textCouldHoldCall } from "../../guard/find-call.ts"
import { guardResponse } from "../../guard/guard-response.ts"
import { type JudgedCall, spentWith, withSpent } from "../../guard/judge-call.ts"
import { responseWire, textPart, writtenMessage } from "../../guard/response-wire.ts"
import { HoldfastError } from "../../message/errors.ts"
import {
  type Format,
  type Message,
  type ModelResponse,
  messageId,
  type Part,
  type ToolResultPart,
} from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { decodeResponse } from "../../wire/decode.ts"
import { boundRecall } from "./bound-recall.ts"
import { nextBody } from "./next-body.ts"
import { type RoundsOptions, usualRounds } from "./round.ts"
import { isDenied } from "./round-notes.ts"
import { besideText, isRecall, openCalls, roundResults, usedUpText, waitsForResults } from "./round-results.ts"

/** An answer that is there whole. */
export type WholeText = { readonly status: number; readonly text: string }

type WholeRoundsOptions = RoundsOptions & {
  /** The first answer. */
  readonly first: WholeText
  /** Send a body to where the first one went. What goes wrong is thrown as a Problem. */
  readonly send: (body: string) => Promise<WholeText>
}

/** One answer, read and judged. */
type Judged = {
  readonly answer: ModelResponse
  /** What of it the client may see: recalls taken out, withheld calls replaced by words. */
  readonly shown: ModelResponse
  readonly recalls: number
  readonly denied: readonly JudgedCall[]
  readonly spentMinor: number
}

/**
 * A whole answer in as many rounds as it takes, as `streamRounds` has it: the client gets the last one, with what the earlier ones said
 * before it. With nothing recalled and nothing withheld it is the very text that came. Where a further round is refused, the refusal is
 * the answer: nothing has gone out yet.
 */
export async function wholeRounds(options: WholeRoundsOptions): Promise<WholeText> {
  const { format, send, maxRounds = usualRounds } = options
  const recall = options.recall === undefined ? undefined : boundRecall(options.recall)
  const earlier: Message[] = []
  let { first: reply, sent } = options
  let spentMinor = 0
  for (let number = 0; ; number++) {
    if (reply.status >= 300) return reply
    const read = readable(options, reply.text, number)
    if (read === undefined) return reply
    const judged = await judgeRound({ ...options, spentMinor }, renamed(read, number))
    const { id } = judged.answer
    const next = number < maxRounds ? await nextOf(format, sent, judged, recall) : undefined
    const counts =
      next === undefined ? { recalls: 0, denied: 0 } : { recalls: judged.recalls, denied: judged.denied.length }
    options.onRound?.({ ...counts, goesOn: next !== undefined, ...present({ id }) })
    if (next === undefined) return { status: reply.status, text: lastText(format, reply.text, judged, earlier) }
    earlier.push(...judged.shown.messages)
    spentMinor += judged.spentMinor
    sent = next
    reply = await send(next)
  }
}

/** An answer that nobody can read goes on as it came, unless it could hold a call that somebody has to judge. */
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
): Promise<Judged> {
  const rest = recall === undefined ? answer : withoutRecallParts(answer)
  const recalls = recall === undefined ? 0 : openCalls(answer).filter(isRecall).length
  if (guarding === undefined) return { answer, shown: rest, recalls, denied: [], spentMinor: 0 }
  const { guard, onJudged, ...use } = guarding
  const { response: shown, judged } = await guardResponse(rest, guard, withSpent(use, spentMinor))
  for (const one of judged) await onJudged(one)
  return { answer, shown, recalls, denied: judged.filter(isDenied), spentMinor: spentWith(judged) }
}

/** The body of the next round, if there is to be one: every call of this answer was a recall or withheld, and can be answered. */
async function nextOf(
  format: Format,
  sent: string,
  { answer, shown, recalls, denied }: Judged,
  recall: RoundsOptions["recall"],
): Promise<string | undefined> {
  const due = recalls + denied.length
  if (due === 0 || openCalls(shown).length > 0 || openCalls(answer).length !== due) return undefined
  if (!waitsForResults(answer.stop)) return undefined
  try {
    const results: readonly ToolResultPart[] | undefined = await roundResults({ answer, denied, recall })
    return results === undefined ? undefined : nextBody(sent, format, answer, results)
  } catch (error) {
    // A body that was sent unread has no place for an answer that we know of.
    if (error instanceof HoldfastError) return undefined
    throw error
  }
}

function lastText(
  format: Format,
  came: string,
  { answer, shown, recalls }: Judged,
  earlier: readonly Message[],
): string {
  if (shown === answer && earlier.length === 0) return came
  const text = openCalls(shown).length > 0 ? besideText : usedUpText
  const written = wholeAnswer(shown, { earlier, words: Array.from({ length: recalls }, () => text) })
  if (written === undefined) throw new HoldfastError({ code: "part-unwritable", part: "tool-call", format })
  return written
}

/** The answer without its recalls; the very object if it has none. */
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

/** What of an exchange is not in its last answer as it came. */
type Laid = {
  /** What earlier rounds said, the oldest first. */
  readonly earlier: readonly Message[]
  /** Words of ours in the place of recalls that were not answered. */
  readonly words: readonly string[]
}

/** The last answer with all that went before it, in the shape of its wire; without a wire there is nothing to lay it over. */
function wholeAnswer(last: ModelResponse, { earlier, words }: Laid): string | undefined {
  const { format } = last
  const left = openCalls(last).length
  const stop = last.stop === "tool-calls" && left === 0 ? "end" : last.stop
  const said = words.map((text) => textPart(format, text))
  const messages =
    format === "openai-responses" ? [...earlier, ...withItem(last.messages, said)] : oneMessage(last, earlier, said)
  return responseWire({ ...last, messages, stop }, stop !== last.stop)
}

const isCall = (part: Part): boolean => part.type === "tool-call"

/** Words of ours stand before the first call: behind it nothing is read by some clients. */
function beforeCalls(parts: readonly Part[], said: readonly Part[]): readonly Part[] {
  const at = parts.findIndex(isCall)
  return parts.toSpliced(at < 0 ? parts.length : at, 0, ...said)
}

/** On this wire what is said is an item of its own. */
function withItem(messages: readonly Message[], said: readonly Part[]): readonly Message[] {
  if (said.length === 0) return messages
  const at = messages.findIndex(({ parts }) => parts.some(isCall))
  const own: Message = { id: messageId("recall"), role: "assistant", parts: said, format: "openai-responses" }
  return messages.toSpliced(at < 0 ? messages.length : at, 0, writtenMessage("openai-responses", own, said))
}

function oneMessage(
  { format, messages }: ModelResponse,
  earlier: readonly Message[],
  said: readonly Part[],
): readonly Message[] {
  const [message] = messages
  if (message === undefined) return messages
  const parts = [...earlier.flatMap((one) => one.parts), ...beforeCalls(message.parts, said)]
  return [writtenMessage(format, message, format === "openai-chat" ? joined(parts) : parts)]
}

/** Chat has one text and one piece of reasoning for the whole message, before its calls. */
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

/** Messages of further rounds under names of their own, so that no two items of ours have the same. */
const renamed = (response: ModelResponse, round: number): ModelResponse =>
  round === 0
    ? response
    : {
        ...response,
        messages: response.messages.map((message) => ({ ...message, id: messageId(`${round}${message.id}`) })),
      }
