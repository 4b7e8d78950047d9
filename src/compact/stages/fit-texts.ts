import type { MessageId, Part, ToolCallPart, Transcript } from "../../message/message.ts"
import type { Edit } from "./edit.ts"
import { mentionsIn } from "./later-mentions.ts"
import { shareOut, wholeMarker } from "./marker.ts"
import { type Counting, type FitOptions, focusWords, minShare, replaceText } from "./microcompact.ts"
import { shortenText } from "./shorten-text.ts"
import type { ToolKind } from "./tool-kind.ts"

/** A text of a call or of the assistant, with its maximum size. */
export type TextBudget = { readonly messageId: MessageId; readonly part: number; readonly tokens: number }

/**
 * Shortens single calls and single assistant texts to their budgets: in a call its long texts are shortened, such as the content of a file
 * that it wrote, and every argument stays. What cannot be made small enough stays unchanged.
 */
export function fitTexts(messages: Transcript, wanted: readonly TextBudget[], options: FitOptions): readonly Edit[] {
  if (wanted.length === 0) return []
  const places = new Map(messages.map(({ id }, at) => [id, at]))
  const first = Math.min(...wanted.map(({ messageId }) => places.get(messageId) ?? messages.length))
  const mentions = mentionsIn(messages, first)
  return wanted.flatMap(({ messageId, part: n, tokens }): readonly Edit[] => {
    const at = places.get(messageId) ?? 0
    const part = messages[at]?.parts[n]
    const interest = { mentions, after: at, focus: focusWords(options.focus ?? "") }
    const shorten: ShortenTo = (text, sizes, kind) =>
      (sizes.budget < minShare
        ? undefined
        : shortenText(text, sizes, { kind, failed: false, interest }, options.count)) ?? wholeMarker(text)
    const by = part === undefined ? undefined : fitText(part, tokens, shorten, options)
    const beforeTokens = part === undefined ? 0 : options.partTokens(part)
    const afterTokens = by === undefined ? beforeTokens : options.partTokens(by)
    if (by === undefined || afterTokens >= beforeTokens) return []
    const { reason } = options
    return [{ type: "part-replaced", messageId, part: n, reason, beforeTokens, afterTokens, by: [by] }]
  })
}

type ShortenTo = (text: string, sizes: { readonly tokens: number; readonly budget: number }, kind: ToolKind) => string

function fitText(part: Part, budget: number, shorten: ShortenTo, { count, partTokens }: Counting): Part | undefined {
  if (part.type === "text") return replaceText(part, shorten(part.text, { tokens: partTokens(part), budget }, "web"))
  if (part.type !== "tool-call") return undefined
  const texts = longTexts(part, count)
  const besideTokens = tokensBesideTexts(part, { count, partTokens })
  const textTokens = texts.reduce((sum, { tokens }) => sum + tokens, 0)
  // A text takes more tokens inside JSON than by itself.
  const room = ((budget - besideTokens) * textTokens) / Math.max(1, partTokens(part) - besideTokens)
  const shares = shareOut(
    texts.map(({ tokens }) => tokens),
    room,
  )
  const shorter = new Map(
    texts.flatMap(({ text, tokens }, n): readonly (readonly [string, string])[] => {
      const share = shares[n] ?? 0
      return share >= tokens ? [] : [[text, shorten(text, { tokens, budget: share }, "read")]]
    }),
  )
  return { ...part, input: withTexts(part.input, shorter) }
}

/** Tokens of a call without its long texts. */
export function tokensBesideTexts(part: ToolCallPart, { count, partTokens }: Counting): number {
  const none = new Map(longTexts(part, count).map(({ text }) => [text, ""]))
  return none.size === 0 ? partTokens(part) : partTokens({ ...part, input: withTexts(part.input, none) })
}

/** Minimum length in tokens of a text in a call that counts as content; a shorter one describes the call. */
const longText = 64
/** The same in characters, checked first: a shorter text cannot have that many tokens. */
const longLength = 64

/** Returns the distinct texts in a call's input that are long enough to be shortened. Only the client's own calls are ever changed. */
function longTexts(
  { kind, input }: ToolCallPart,
  count: (text: string) => number,
): readonly { readonly text: string; readonly tokens: number }[] {
  if (kind !== "function" && kind !== "custom") return []
  return [...new Set(textsIn(input))]
    .filter(({ length }) => length >= longLength)
    .map((text) => ({ text, tokens: count(text) }))
    .filter(({ tokens }) => tokens > longText)
}

function textsIn(input: unknown): readonly string[] {
  if (typeof input === "string") return [input]
  return typeof input === "object" && input !== null ? Object.values(input).flatMap(textsIn) : []
}

function withTexts(input: unknown, by: ReadonlyMap<string, string>): unknown {
  if (typeof input === "string") return by.get(input) ?? input
  if (Array.isArray(input)) return input.map((item) => withTexts(item, by))
  if (typeof input !== "object" || input === null) return input
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, withTexts(value, by)]))
}
