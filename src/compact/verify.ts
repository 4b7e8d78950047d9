import { checkTranscript } from "../message/check.ts"
import { unfence } from "../message/fence.ts"
import { groupTurns } from "../message/group.ts"
import type { Format, Transcript } from "../message/message.ts"
import { digestTag } from "../message/own-text.ts"
import type { Part } from "../message/part.ts"
import { textOf } from "../message/text.ts"
import type { Infrastructure } from "../prompt/separate.ts"
import type { Meter } from "../tokens/meter.ts"
import { adjacencyOf } from "../wire/order.ts"
import { isSpokenPart, latestSpoken, ownMessage } from "./standing.ts"

/** Why a compacted context may not be sent. */
export type Failure =
  | { readonly code: "pair-broken"; readonly fault: string }
  | { readonly code: "pin-missing"; readonly pin: number }
  | { readonly code: "stack-changed"; readonly piece: string }
  | { readonly code: "latest-user-message-missing" }
  | { readonly code: "pending-lost"; readonly callId: string }
  | { readonly code: "not-smaller"; readonly beforeTokens: number; readonly afterTokens: number }
  | { readonly code: "over-budget"; readonly tokens: number; readonly limitTokens: number }
  | { readonly code: "fence-broken" }
  | { readonly code: "fact-missing"; readonly value: string }

/** A context as it would go out, or came in. */
export type Context = {
  readonly messages: Transcript
  readonly infrastructure: Infrastructure
  readonly conversation: Transcript
}

export type Acceptance = {
  readonly format: Format
  readonly meter: Meter
  readonly limitTokens: number
  readonly pins: readonly string[]
  /** Values that the digest promises. */
  readonly facts: readonly string[]
  /** Rules were added and nothing was to shrink. */
  readonly mayGrow: boolean
}

/**
 * The acceptance test: everything that must hold of a compacted context before anyone sees it. `after` is what a reader of the
 * outgoing body finds, not what we meant to write.
 */
export function verify(before: Context, after: Context, acceptance: Acceptance): readonly Failure[] {
  return [
    ...pairFailures(after, acceptance),
    ...pinFailures(after, acceptance),
    ...stackFailures(before, after),
    ...latestFailures(before, after),
    ...pendingFailures(before, after),
    ...sizeFailures(before, after, acceptance),
    ...digestFailures(after, acceptance),
  ]
}

function pairFailures({ messages }: Context, { format }: Acceptance): readonly Failure[] {
  const adjacent = adjacencyOf[format]
  return checkTranscript(messages, { ended: true, ...(adjacent === undefined ? {} : { adjacent }) }).map(
    ({ code, messageId }) => ({ code: "pair-broken", fault: `${code} at ${messageId}` }),
  )
}

function pinFailures({ messages, infrastructure }: Context, { pins }: Acceptance): readonly Failure[] {
  if (pins.length === 0) return []
  const texts = [infrastructure.system, ...messages.map(({ parts }) => parts)].flat().map(textOf)
  return pins.flatMap((pin, n): readonly Failure[] =>
    texts.some((text) => text.includes(pin)) ? [] : [{ code: "pin-missing", pin: n }],
  )
}

const wiresOf = (items: readonly { readonly wire?: string }[]): readonly string[] => items.map(({ wire = "" }) => wire)

/**
 * The stack's bytes equal those that came in: system and tools the same, the messages that stand and the documents each there and in
 * order. Later ones may have joined them, now that less stands before the first answer.
 */
function stackFailures({ infrastructure: before }: Context, { infrastructure: after }: Context): readonly Failure[] {
  const same = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && holdsInOrder(other, one)
  const holds: Readonly<Record<string, boolean>> = {
    system: same(wiresOf(before.system), wiresOf(after.system)),
    tools: same(wiresOf(before.tools), wiresOf(after.tools)),
    messages: holdsInOrder(wiresOf(after.messages), wiresOf(before.messages)),
    documents: holdsInOrder(
      after.documents.map(({ hash }) => hash),
      before.documents.map(({ hash }) => hash),
    ),
  }
  return Object.keys(holds).flatMap((piece): readonly Failure[] =>
    holds[piece] === true ? [] : [{ code: "stack-changed", piece }],
  )
}

function holdsInOrder(all: readonly string[], some: readonly string[]): boolean {
  let found = 0
  for (const item of all) if (item === some[found]) found++
  return found === some.length
}

/** The user's latest words, without what came with them. */
export function latestWords(messages: Transcript): readonly Part[] | undefined {
  const at = latestSpoken(messages)
  const message = at === undefined ? undefined : messages[at]
  return message?.parts.filter((part) => isSpokenPart(message, part))
}

function latestFailures(before: Context, after: Context): readonly Failure[] {
  const said = latestWords(before.conversation)?.map(sayOf)
  if (said === undefined) return []
  const stands = after.messages.some(({ role, parts }) => role === "user" && holdsInOrder(parts.map(sayOf), said))
  return stands ? [] : [{ code: "latest-user-message-missing" }]
}

const sayOf = (part: Part): string => (part.type === "text" ? part.text : (part.wire ?? ""))

function pendingFailures(before: Context, after: Context): readonly Failure[] {
  const calls = new Set(groupTurns(after.messages).flatMap((group) => group.calls))
  const pending = groupTurns(before.messages).flatMap((group) => group.pending)
  return pending.flatMap((callId): readonly Failure[] => (calls.has(callId) ? [] : [{ code: "pending-lost", callId }]))
}

/** What a context takes beside the prompt stack. */
export function tokensOutsideStack({ messages, infrastructure }: Context, meter: Meter): number {
  const sum = (all: Transcript): number => all.reduce((total, message) => total + meter.message(message), 0)
  return sum(messages) - sum(infrastructure.messages)
}

function sizeFailures(
  before: Context,
  after: Context,
  { meter, limitTokens, mayGrow }: Acceptance,
): readonly Failure[] {
  const [beforeTokens, afterTokens] = [tokensOutsideStack(before, meter), tokensOutsideStack(after, meter)]
  return [
    ...(mayGrow || afterTokens < beforeTokens ? [] : [{ code: "not-smaller" as const, beforeTokens, afterTokens }]),
    ...(afterTokens <= limitTokens ? [] : [{ code: "over-budget" as const, tokens: afterTokens, limitTokens }]),
  ]
}

function digestFailures({ conversation }: Context, { facts }: Acceptance): readonly Failure[] {
  const digest = conversation.find((message) => ownMessage(message) === "digest")
  const text = digest?.parts.map(textOf).join("") ?? ""
  if (facts.length === 0 && digest === undefined) return []
  const inner = unfence(digestTag, text)
  if (inner === undefined) return [{ code: "fence-broken" }]
  return facts.flatMap((value): readonly Failure[] => (inner.includes(value) ? [] : [{ code: "fact-missing", value }]))
}
