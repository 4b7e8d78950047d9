import { textCouldHoldCall } from "../../guard/call-shape.ts"
import { guardResponse } from "../../guard/guard-response.ts"
import type { JudgedCall } from "../../guard/judge-call.ts"
import { spentWith, withSpent } from "../../guard/spend.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Format, Message } from "../../message/message.ts"
import type { ToolResultPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { ModelResponse } from "../../message/request.ts"
import { decodeResponse } from "../../wire/decode.ts"
import { boundRecall } from "./bound-recall.ts"
import { nextBody } from "./next-body.ts"
import { type RoundsOptions, usualRounds } from "./round.ts"
import { isDenied } from "./round-notes.ts"
import { besideText, isRecall, openCalls, roundResults, usedUpText, waitsForResults } from "./round-results.ts"
import { renamed, wholeAnswer, withoutRecallParts } from "./whole-answer.ts"

/** An answer that is there whole. */
export type WholeText = { readonly status: number; readonly text: string }

export type WholeRoundsOptions = RoundsOptions & {
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
