import type { PlanReason, Trigger } from "../compact/plan/plan.ts"
import { defaultPolicy } from "../compact/plan/policy.ts"
import type { ShortenReason } from "../compact/stages/edit.ts"
import type { Format, Message } from "../message/message.ts"
import { ownWords } from "../rules/own-words.ts"
import type { Report } from "../session/one-shot/report.ts"
import type { ConversationFile } from "./read-export.ts"
import type { OpenedRequest } from "./read-input.ts"
import { count, number } from "./terminal/output.ts"
import words from "./terminal/words.json" with { type: "json" }

/** The wire formats by the names that their providers use. */
export const formatWords: Readonly<Record<Format, string>> = words.formats

export const kindWords: Readonly<Record<OpenedRequest["kind"] | ConversationFile["kind"], string>> = words.inputs

export const shortenWords: Readonly<Record<ShortenReason, string>> = words.shortened

const remedyWords: Readonly<Record<Report["remedy"], string>> = words.remedies

export const remedySentence = ({ remedy }: Report): string => remedyWords[remedy]

const triggerWords: Readonly<Record<Trigger, string>> = words.triggers

/** The reason why a compaction was done, or why not. */
export function whySentence({ plan, limit, before, remedy }: Report): string {
  const room =
    limit.by === "budget"
      ? `outside the prompt stack, the budget is ${number(limit.tokens)}`
      : `of conversation, the window leaves ${number(limit.tokens)} beside the prompt stack and the answer`
  const sizes = `${count(before.outsideTokens, "token")} ${room}.`
  if (plan.type !== "compact") return remedy === "none" ? `It fits: ${sizes}` : sizes
  const reasons = plan.reasons.map((reason) => `${triggerWords[reason.trigger]}${figures(reason)}`)
  return `${reasons.join("; ")}: ${sizes}`
}

/** Figures of triggers that are not about the context size, which the sentence states anyway. */
const figures = ({ trigger, value, limit }: PlanReason): string =>
  trigger === "tool-output" || trigger === "tool-rounds" ? ` (${number(value)}, at most ${number(limit)})` : ""

/** How tokens were counted, and for which model. */
export function countingSentence({ counting, model }: Report): string {
  const name = model.id === "" ? "an unnamed model" : model.id
  if (counting === "exact")
    return model.known
      ? `exact, in the vocabulary of ${name}`
      : `in o200k tokens; ${name} is not in the table of models`
  return `estimated for ${name}, on the safe side${model.known ? "" : "; it is not in the table of models"}`
}

const dollars = (value: number): string => `$${value < 0.01 ? value.toFixed(5) : value.toFixed(3)}`

/** What the rewrite costs in cache and saves; in proportions if the model's prices are unknown. */
export function cacheSentence({ weighing, model }: Report): string | undefined {
  if (weighing === undefined) return undefined
  const { leaveDollars, rewriteDollars, breakEvenCalls, pays } = weighing
  const calls = defaultPolicy.expectedCalls
  const costs = model.known
    ? `Reading it from the cache for ${calls} more calls would cost ${dollars(leaveDollars)}; rewritten, with the cache filled anew, ${dollars(rewriteDollars)}.`
    : `Rewritten, with the cache filled anew, the next ${calls} calls cost ${((100 * rewriteDollars) / Math.max(leaveDollars, Number.MIN_VALUE)).toFixed(0)} % of what they would (at usual price ratios).`
  if (!pays) return `${costs} In cache alone the rewrite does not pay within these calls.`
  return `${costs} It has paid for itself after ${count(Math.max(1, Math.ceil(breakEvenCalls)), "call")}.`
}

/** The text that the user typed, without pasted text. */
export const ownTextOf = ({ parts }: Message): string =>
  parts
    .flatMap((part) =>
      part.type === "text" ? ownWords(part.text).map(({ start, end }) => part.text.slice(start, end)) : [],
    )
    .join(" ")
    .trim()
