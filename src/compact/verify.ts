import { digestTag, isSpokenPart, latestSpoken, unfence } from "../message/fence.ts"
import { checkTranscript, type TranscriptFault } from "../message/group.ts"
import {
  type CallId,
  callsIn,
  type Format,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  type Transcript,
  textOf,
  textOrWire,
} from "../message/message.ts"
import type { PinnedRule } from "../rules/pin.ts"
import type { Meter } from "../tokens/meter.ts"
import { adjacencyOf } from "../wire/codecs.ts"
import { rulePresence } from "./pins.ts"
import type { Infrastructure } from "./stack/separate.ts"
import { digestOf, ownMessage } from "./standing.ts"

/** Why a compacted context may not be sent. */
export type VerifyFailure =
  | { readonly code: "pair-broken"; readonly fault: string }
  | { readonly code: "pin-missing"; readonly pin: number }
  | { readonly code: "stack-changed"; readonly piece: string }
  | { readonly code: "latest-user-message-missing" }
  | { readonly code: "pending-lost"; readonly callId: string }
  | { readonly code: "unread-cut"; readonly callId: string }
  | { readonly code: "not-smaller"; readonly beforeTokens: number; readonly afterTokens: number }
  | { readonly code: "over-budget"; readonly tokens: number; readonly limitTokens: number }
  | { readonly code: "fence-broken" }
  | { readonly code: "line-missing"; readonly line: string }

/** A context as it came in or as it would be sent. */
export type VerifiedContext = {
  readonly messages: Transcript
  readonly infrastructure: Infrastructure
  readonly conversation: Transcript
}

export type Acceptance = {
  readonly format: Format
  readonly meter: Meter
  readonly limitTokens: number
  readonly pins: readonly PinnedRule[]
  /** Calls without a result: they always stay. */
  readonly waiting: ReadonlySet<CallId>
  /** Unread results that fit: they have to be present whole. */
  readonly unread: readonly ToolResultPart[]
  /** True if the middle of the user's latest message was left out because the message does not fit whole. */
  readonly wordsShortened: boolean
  /** Lines that the digest has to contain: actions, quotes and values. */
  readonly lines: readonly string[]
  /** Tokens of the added rules: nothing else may grow. */
  readonly addedTokens: number
  /** True if rules were only added and nothing was to shrink. */
  readonly onlyAdds: boolean
}

/** One check of the acceptance test: returns what is wrong with `after`, compared with what came in. */
type Check = (before: VerifiedContext, after: VerifiedContext, acceptance: Acceptance) => readonly VerifyFailure[]

/**
 * Identifies a call by tool and input. Formats without ids derive call ids from positions, which change when an earlier message is dropped.
 */
const requestOf = ({ tool, input }: ToolCallPart): string => `${tool} ${JSON.stringify(input) ?? ""}`

/**
 * Finds calls and results without their counterpart. A fault that was there before, because the provider unchanged the other half, is not
 * reported.
 */
const pairFailures: Check = (before, after, { format }) => {
  const adjacent = adjacencyOf[format]
  const faultsOf = ({ messages }: VerifiedContext): readonly TranscriptFault[] =>
    checkTranscript(messages, { ended: true, ...(adjacent === undefined ? {} : { adjacent }) })
  const known = new Map<string, number>()
  const found = faultsOf(after)
  if (found.length === 0) return []
  const nameBefore = faultNamer(before)
  for (const fault of faultsOf(before)) known.set(nameBefore(fault), (known.get(nameBefore(fault)) ?? 0) + 1)
  const nameAfter = faultNamer(after)
  return found
    .filter((fault) => {
      const left = known.get(nameAfter(fault)) ?? 0
      known.set(nameAfter(fault), left - 1)
      return left <= 0
    })
    .map(({ code, messageId }) => ({ code: "pair-broken", fault: `${code} at ${messageId}` }))
}

/** Returns a function that names a fault the areEqual way before and after the compaction. */
function faultNamer({ messages }: VerifiedContext): (fault: TranscriptFault) => string {
  const requests = new Map(callsIn(messages).map((call) => [call.callId, requestOf(call)]))
  return ({ code, callId }) => `${code} ${callId === undefined ? "" : (requests.get(callId) ?? callId)}`
}

const pinFailures: Check = (_, { messages, infrastructure: { system } }, { pins }) => {
  const stands = rulePresence({ system, messages })
  return pins.flatMap((pin, n) => (stands(pin) ? [] : { code: "pin-missing", pin: n }))
}

const wiresOf = (items: readonly { readonly wire?: string }[]): readonly string[] => items.map(({ wire = "" }) => wire)

/**
 * Checks that the stack's bytes are unchanged: system and tools identical; the incoming stack messages and documents all present and in
 * order. Later ones may have joined them, because less comes before the first answer now.
 */
const stackFailures: Check = ({ infrastructure: before }, { infrastructure: after, messages }) => {
  const areEqual = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && holdsInOrder(other, one)
  const unchanged: Readonly<Record<string, boolean>> = {
    system: areEqual(wiresOf(before.system), wiresOf(after.system)),
    tools: areEqual(wiresOf(before.tools), wiresOf(after.tools)),
    messages: holdsInOrder(wiresOf(after.messages), wiresOf(before.messages)),
    // A document alone in its message looks like the user's own words, so documents are looked for among all user messages.
    documents: holdsInOrder(
      messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts.map(textOrWire)),
      before.documents.map(({ part }) => textOrWire(part)),
    ),
  }
  return Object.entries(unchanged).flatMap(([piece, isHeld]) => (isHeld ? [] : { code: "stack-changed", piece }))
}

function holdsInOrder(
  all: readonly string[],
  some: readonly string[],
  isSame = (one: string, wanted: string): boolean => one === wanted,
): boolean {
  let found = 0
  for (const item of all) {
    const wanted = some[found]
    if (wanted !== undefined && isSame(item, wanted)) found++
  }
  return found === some.length
}

/** Returns the parts of the user's latest message that the user wrote, without injected data. */
export function latestWords(messages: Transcript): readonly Part[] | undefined {
  const at = latestSpoken(messages)
  const message = at === undefined ? undefined : messages[at]
  return message?.parts.filter((part) => isSpokenPart(message, part))
}

const latestFailures: Check = (before, after, { wordsShortened }) => {
  const words = latestWords(before.conversation)?.map(textOrWire)
  if (words === undefined) return []
  const isSame = (text: string, wanted: string): boolean => text === wanted || (wordsShortened && isCutOf(text, wanted))
  const stands = after.messages.some(
    ({ role, parts }) => role === "user" && holdsInOrder(parts.map(textOrWire), words, isSame),
  )
  return stands ? [] : [{ code: "latest-user-message-missing" }]
}

/** Minimum length in characters of either end of a shortened message. */
const leastEndLength = 40

/** True if the text is the whole one with a marker in place of its middle. */
function isCutOf(text: string, whole: string): boolean {
  const [head = "", ...rest] = text.split("\n[… ")
  const tail = rest.at(-1)?.split("]\n").at(-1) ?? ""
  const isLong = head.length >= leastEndLength && tail.length >= leastEndLength
  return isLong && whole.startsWith(head) && whole.endsWith(tail)
}

/** Checks that the pending calls are still at the end, in their order, among the calls made with them. */
const pendingFailures: Check = (before, after, { waiting }) => {
  if (waiting.size === 0) return []
  const calls = callsIn(before.messages)
  const first = calls.findIndex(({ callId }) => waiting.has(callId))
  const last = first < 0 ? [] : calls.slice(first)
  const left = last.length === 0 ? [] : callsIn(after.messages).slice(-last.length).map(requestOf)
  return last.flatMap((call): readonly VerifyFailure[] => {
    if (!waiting.has(call.callId)) return []
    const at = left.indexOf(requestOf(call))
    if (at < 0) return [{ code: "pending-lost", callId: call.callId }]
    left.splice(0, at + 1)
    return []
  })
}

/** Checks that unread results are present whole. They are compared by content, because ids may be derived from positions. */
const unreadFailures: Check = (_, { messages }, { unread }) => {
  if (unread.length === 0) return []
  const fullText = ({ content }: ToolResultPart): string => content.map(textOrWire).join("\n")
  const shown = new Set(
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? fullText(part) : []))),
  )
  return unread.flatMap((result) => (shown.has(fullText(result)) ? [] : { code: "unread-cut", callId: result.callId }))
}

const tokensOf = (messages: Transcript, meter: Meter): number =>
  messages.reduce((total, message) => total + meter.message(message), 0)

/** Tokens of a context outside the prompt stack. */
export const tokensOutsideStack = (context: VerifiedContext, meter: Meter): number =>
  tokensBeside(context, context, meter)

/**
 * Tokens of a context outside the stack that came in: system messages that join the stack later, because the first answer was dropped,
 * still count.
 */
export function tokensBeside({ infrastructure }: VerifiedContext, { messages }: VerifiedContext, meter: Meter): number {
  return tokensOf(messages, meter) - tokensOf(infrastructure.messages, meter)
}

const sizeFailures: Check = (before, after, { meter, limitTokens, addedTokens, onlyAdds }) => {
  const [beforeTokens, afterTokens] = [tokensBeside(before, before, meter), tokensBeside(before, after, meter)]
  return [
    ...(onlyAdds || afterTokens - addedTokens < beforeTokens
      ? []
      : [{ code: "not-smaller" as const, beforeTokens, afterTokens }]),
    ...(afterTokens <= limitTokens ? [] : [{ code: "over-budget" as const, tokens: afterTokens, limitTokens }]),
  ]
}

const digestFailures: Check = (_, { conversation }, { lines }) => {
  const digest = conversation.find((message) => ownMessage(message) === "digest")
  const text = digest?.parts.map(textOf).join("") ?? ""
  if (lines.length === 0 && digest === undefined) return []
  const inner = unfence(digestTag, text)
  if (inner === undefined) return [{ code: "fence-broken" }]
  const told = new Set(
    (digest && digestOf(digest))?.summary.sections.flatMap((section) => section.lines.map((line) => line.text)),
  )
  return lines.flatMap((line) => (told.has(line) ? [] : { code: "line-missing", line }))
}

const checks: readonly Check[] = [
  pairFailures,
  pinFailures,
  stackFailures,
  latestFailures,
  pendingFailures,
  unreadFailures,
  sizeFailures,
  digestFailures,
]

/**
 * The acceptance test: everything that must hold for a compacted context before it is used. `after` is decoded from the outgoing body, not
 * what we meant to write.
 */
export const verify: Check = (before, after, acceptance) => checks.flatMap((check) => check(before, after, acceptance))
