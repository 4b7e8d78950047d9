import { present } from "../../message/present.ts"
import type { ModelRequest, ModelResponse } from "../../message/request.ts"
import type { Session } from "../../session/session.ts"
import { decodeRequest, decodeResponse } from "../../wire/decode.ts"
import { compactWhole } from "./compact-whole.ts"
import { triggeredAnswer, triggeredResponse } from "./compaction-answer.ts"
import { elementTexts } from "./element-texts.ts"
import { inlineForm } from "./form.ts"
import { type OwnAnswer, threadUnsupported } from "./own-answer.ts"
import { knowsNoCompaction, type Refused, refusalKind } from "./refusal-kind.ts"
import type { Sent } from "./sent.ts"
import { asksToCompact, withoutTrigger } from "./whole.ts"
import { withoutReasoning } from "./without-reasoning.ts"

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

export type InsteadFacts = {
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
