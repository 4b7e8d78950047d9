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

/** A context as it would go out, or came in. */
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
  /** Calls that nobody has answered yet: they stay, whatever goes. */
  readonly waiting: ReadonlySet<CallId>
  /** Results that the model has not read and that there is room for: they are there whole. */
  readonly unread: readonly ToolResultPart[]
  /** Was the middle of the user's latest message left out, because the message alone is larger than the limit? */
  readonly wordsShortened: boolean
  /** What the digest promises: acts, words and values. */
  readonly lines: readonly string[]
  /** What the rules take that were added: nothing else may grow. */
  readonly addedTokens: number
  /** Were rules to be added, and nothing to shrink? */
  readonly onlyAdds: boolean
}

/** One part of the acceptance test: what is wrong with `after`, given what came in. */
type Check = (before: VerifiedContext, after: VerifiedContext, acceptance: Acceptance) => readonly VerifyFailure[]

/** A call by what it asks for. Formats without ids name calls by place, and places change when something before them goes. */
const requestOf = ({ tool, input }: ToolCallPart): string => `${tool} ${JSON.stringify(input) ?? ""}`

/** A fault that the context came in with, because the provider holds the other half, is not the compaction's. */
const pairFailures: Check = (before, after, { format }) => {
  const adjacent = adjacencyOf[format]
  const faultsOf = ({ messages }: VerifiedContext): readonly TranscriptFault[] =>
    checkTranscript(messages, { ended: true, ...(adjacent === undefined ? {} : { adjacent }) })
  const known = new Map<string, number>()
  const found = faultsOf(after)
  if (found.length === 0) return []
  const nameBefore = faultName(before)
  for (const fault of faultsOf(before)) known.set(nameBefore(fault), (known.get(nameBefore(fault)) ?? 0) + 1)
  const nameAfter = faultName(after)
  return found
    .filter((fault) => {
      const left = known.get(nameAfter(fault)) ?? 0
      known.set(nameAfter(fault), left - 1)
      return left <= 0
    })
    .map(({ code, messageId }) => ({ code: "pair-broken", fault: `${code} at ${messageId}` }))
}

/** What a fault is called in a context and in what became of it. */
function faultName({ messages }: VerifiedContext): (fault: TranscriptFault) => string {
  const requests = new Map(callsIn(messages).map((call) => [call.callId, requestOf(call)]))
  return ({ code, callId }) => `${code} ${callId === undefined ? "" : (requests.get(callId) ?? callId)}`
}

const pinFailures: Check = (_, { messages, infrastructure: { system } }, { pins }) => {
  const stands = rulePresence({ system, messages })
  return pins.flatMap((pin, n) => (stands(pin) ? [] : { code: "pin-missing", pin: n }))
}

const wiresOf = (items: readonly { readonly wire?: string }[]): readonly string[] => items.map(({ wire = "" }) => wire)

/**
 * The stack's bytes equal those that came in: system and tools the same, the messages that stand and the documents each there and in
 * order. Later ones may have joined them, now that less stands before the first answer.
 */
const stackFailures: Check = ({ infrastructure: before }, { infrastructure: after, messages }) => {
  const same = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && holdsInOrder(other, one)
  const holds: Readonly<Record<string, boolean>> = {
    system: same(wiresOf(before.system), wiresOf(after.system)),
    tools: same(wiresOf(before.tools), wiresOf(after.tools)),
    messages: holdsInOrder(wiresOf(after.messages), wiresOf(before.messages)),
    // Alone in its turn a document reads like the user's own words: it is looked for among all of them.
    documents: holdsInOrder(
      messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts.map(textOrWire)),
      before.documents.map(({ part }) => textOrWire(part)),
    ),
  }
  return Object.entries(holds).flatMap(([piece, isHeld]) => (isHeld ? [] : { code: "stack-changed", piece }))
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

/** The user's latest words, without what came with them. */
export function latestWords(messages: Transcript): readonly Part[] | undefined {
  const at = latestSpoken(messages)
  const message = at === undefined ? undefined : messages[at]
  return message?.parts.filter((part) => isSpokenPart(message, part))
}

const latestFailures: Check = (before, after, { wordsShortened }) => {
  const said = latestWords(before.conversation)?.map(textOrWire)
  if (said === undefined) return []
  const isSame = (text: string, wanted: string): boolean => text === wanted || (wordsShortened && isCutOf(text, wanted))
  const stands = after.messages.some(
    ({ role, parts }) => role === "user" && holdsInOrder(parts.map(textOrWire), said, isSame),
  )
  return stands ? [] : [{ code: "latest-user-message-missing" }]
}

/** How much of either end of a shortened message has to be there. */
const leastEndLength = 40

/** Is this a text with a marker in place of its middle? */
function isCutOf(text: string, whole: string): boolean {
  const [head = "", ...rest] = text.split("\n[… ")
  const tail = rest.at(-1)?.split("]\n").at(-1) ?? ""
  const isLong = head.length >= leastEndLength && tail.length >= leastEndLength
  return isLong && whole.startsWith(head) && whole.endsWith(tail)
}

/** The calls that wait stand at the end, as they came, among those that were made with them. */
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

/** Ids may be made up from places, so a result is found by what it says. */
const unreadFailures: Check = (_, { messages }, { unread }) => {
  if (unread.length === 0) return []
  const sayAll = ({ content }: ToolResultPart): string => content.map(textOrWire).join("\n")
  const shown = new Set(
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? sayAll(part) : []))),
  )
  return unread.flatMap((result) => (shown.has(sayAll(result)) ? [] : { code: "unread-cut", callId: result.callId }))
}

const tokensOf = (messages: Transcript, meter: Meter): number =>
  messages.reduce((total, message) => total + meter.message(message), 0)

/** What a context takes beside the prompt stack. */
export const tokensOutsideStack = (context: VerifiedContext, meter: Meter): number =>
  tokensBeside(context, context, meter)

/** What a context takes beside the stack that came in: system messages that join it because the first answer is gone still take room. */
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
 * The acceptance test: everything that must hold of a compacted context before anyone sees it. `after` is what a reader of the
 * outgoing body finds, not what we meant to write.
 */
export const verify: Check = (before, after, acceptance) => checks.flatMap((check) => check(before, after, acceptance))
