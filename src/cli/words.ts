import type { PlanReason, Trigger } from "../compact/plan/plan.ts"
import { defaultPolicy } from "../compact/plan/policy.ts"
import type { ShortenReason } from "../compact/stages/edit.ts"
import type { Format, Message } from "../message/message.ts"
import { ownWords } from "../rules/own-words.ts"
import type { Report } from "../session/one-shot/report.ts"
import type { OpenedRequest } from "./read-input.ts"
import { count, number } from "./terminal/output.ts"

/** The wire formats under the names that their providers use. */
export const formatWords: Readonly<Record<Format, string>> = {
  "anthropic-messages": "Anthropic Messages",
  "openai-chat": "OpenAI Chat",
  "openai-responses": "OpenAI Responses",
  gemini: "Gemini",
}

export const kindWords: Readonly<Record<OpenedRequest["kind"], string>> = {
  request: "request body",
  messages: "list of messages",
  trace: "trace",
  "claude-code": "session of Claude Code",
  codex: "session of Codex",
  pi: "session of pi",
}

export const shortenWords: Readonly<Record<ShortenReason, string>> = {
  "over-budget": "over its tool's budget",
  superseded: "a newer one came later",
  repeated: "the same stands elsewhere",
  media: "an older picture",
  "older-round": "of an older round",
  "no-room": "larger than what fits",
}

const remedyWords: Readonly<Record<Report["remedy"], string>> = {
  none: "Nothing was changed.",
  repair: "Only broken pairs of calls and results were repaired.",
  pins: "It fits as it is; only the pinned rules were put in.",
  micro: "Shortening older tool results was enough; nothing that was said is left out.",
  summary: "Shortening tool results was not enough: older turns are left out, and a digest stands for them.",
  fallback: "Last resort: only the digest and the last words are left.",
}

export const remedySentence = ({ remedy }: Report): string => remedyWords[remedy]

const triggerWords: Readonly<Record<Trigger, string>> = {
  asked: "It was asked for",
  "provider-refused": "The provider refused it as too long",
  "window-share": "It does not fit",
  "absolute-tokens": "It is longer than it may become",
  "phase-end": "A phase of the work has ended",
  "tool-output": "A tool result is larger than it may be",
  "tool-rounds": "There are more tool rounds than may stay whole",
}

/** Why something was done, or nothing. */
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

/** How tokens were counted, and for whom. */
export function countingSentence({ counting, model }: Report): string {
  const name = model.id === "" ? "an unnamed model" : model.id
  if (counting === "exact")
    return model.known
      ? `exact, in the vocabulary of ${name}`
      : `in o200k tokens; ${name} is not in the table of models`
  return `estimated for ${name}, on the safe side${model.known ? "" : "; it is not in the table of models"}`
}

const dollars = (value: number): string => `$${value < 0.01 ? value.toFixed(5) : value.toFixed(3)}`

/** What the rewrite costs in cache and saves; in proportions where nobody knows the model's prices. */
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
