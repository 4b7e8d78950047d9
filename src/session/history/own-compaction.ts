import { composeDigest } from "../../compact/compose-digest.ts"
import { readConversation } from "../../compact/knowledge.ts"
import { type IgnoredParts, noIgnoredParts } from "../../compact/state/user-texts.ts"
import { parseDigest } from "../../compact/summary/digest-text.ts"
import type { SchemaName, Summary } from "../../compact/summary/summary.ts"
import { HoldfastError } from "../../message/errors.ts"
import { isSpoken, isSpokenPart } from "../../message/fence.ts"
import { messageKey } from "../../message/lineage.ts"
import type { Message, Transcript } from "../../message/message.ts"
import { createMeter } from "../../tokens/meter.ts"
import type { Outline } from "../log/outline.ts"
import type { Live } from "../state/live.ts"
import { readMessages } from "./view.ts"

/** The state of a conversation when its client replaced its history. */
type ConversationEnd = {
  /** Number of messages at its end that are a request for a summary and the summary, which the new history contains. */
  readonly summaryCall: 0 | 2
  /** It was the model's turn, not the user's. */
  readonly isOpen: boolean
  /** It contained a response of the model. */
  readonly isAnswered: boolean
}

export const noEnd: ConversationEnd = { summaryCall: 0, isOpen: false, isAnswered: false }

/** Limit on the messages examined at the end of a history. */
const maxRead = 2000

/** The conversation that a client's new history replaces: `added` is new in the log, `left` the entries that it abandons. */
export async function conversationEnd(
  live: Live,
  added: Transcript,
  left: readonly number[],
): Promise<ConversationEnd> {
  const messages = await readMessages(live, left.slice(0, maxRead))
  const summaryCall = isSummaryCall(messages, added) ? 2 : 0
  const newest = messages[summaryCall]
  const asks = summaryCall === 0 ? undefined : messages[1]
  const isOpen = newest === undefined || newest.role !== "assistant" || newest.parts.some(isCall)
  return {
    summaryCall,
    isOpen: isOpen || asks?.parts.some(({ type }) => type === "tool-result") === true,
    isAnswered: messages.slice(summaryCall).some(({ role }) => role === "assistant"),
  }
}

const isCall = ({ type }: Message["parts"][number]): boolean => type === "tool-call"

/** True if the newest response is the summary that replaces the old messages: its request asked for a summary. */
function isSummaryCall([answer, asks]: Transcript, added: Transcript): boolean {
  if (answer?.role !== "assistant" || asks?.role !== "user" || answer.parts.some(isCall)) return false
  const isKept = added.some((message) => message.role === "assistant" && messageKey(message) === messageKey(answer))
  return !isKept && hasLineOf(spokenText(added), spokenText([answer]))
}

export const spokenText = (messages: Transcript): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : []))).join("\n")

/** Minimum length of a line in characters; shorter ones occur in many texts. */
const minLine = 12
const maxLines = 6

/** True if a text contains at least one of the longest lines of another one. */
function hasLineOf(text: string, other: string): boolean {
  const lines = other
    .split(/\n|<[^<>\n]{1,80}>/)
    .map((line) => line.trim())
    .filter((line) => line.length >= minLine)
  return lines
    .sort((one, two) => two.length - one.length)
    .slice(0, maxLines)
    .some((line) => text.includes(line))
}

export type ClientCompaction = {
  readonly ignoredParts: IgnoredParts
  /** The client shortened the history without taking anything back, so the removed messages still belong to the conversation. */
  readonly isCompacted: boolean
}

export const noRewrite: ClientCompaction = { ignoredParts: noIgnoredParts, isCompacted: false }

type RewriteInput = {
  /** The messages that the new history keeps from the beginning, and the messages after them. */
  readonly kept: Transcript
  readonly added: Transcript
  readonly left: ReadonlySet<string>
  /** The key of the newest abandoned message. */
  readonly newest: string | undefined
  readonly end: ConversationEnd
}

/**
 * Decides which messages of a rewritten history are not the user's new words. Messages that were there before were searched already. If all
 * responses of the model are gone, or a summary replaces them, the client compacted the history: the text that it put in their place, and
 * around its summary, is the client's own and contains no rules. Text after the kept messages, or written when it was the user's turn, is
 * the user's.
 */
export function readRewrite({ kept, added, left, newest, end }: RewriteInput): ClientCompaction {
  const isKnown = (message: Message): boolean => left.has(messageKey(message))
  const isGone = !kept.some(({ role }) => role === "assistant") || end.summaryCall > 0
  const isCompacted = end.isAnswered && isGone
  const lastKnown = added.findLastIndex(isKnown)
  const lastAnswer = isCompacted ? added.findLastIndex(({ role }) => role === "assistant") : -1
  const lastOld = Math.max(lastKnown, lastAnswer)
  const ignoredParts = new Map<string, number>(
    added.flatMap((message, n) => (n < lastOld || isKnown(message) ? [[message.id, message.parts.length]] : [])),
  )
  const [first, ...others] = added.slice(lastOld + 1)
  const rewrite = { ignoredParts, isCompacted: isCompacted || lastKnown >= 0 }
  if (!isCompacted || first === undefined) return rewrite
  // The client only removed the beginning: the message after the newest response, recorded here or not, is the user's next message.
  const last = added[lastKnown]
  const isTrimmed = last !== undefined && messageKey(last) === newest && end.summaryCall === 0
  const isAnswer = added.slice(lastKnown + 1, lastOld + 1).every(({ role }) => role === "assistant")
  if (isTrimmed && isAnswer && !isLong(first, end)) return rewrite
  const isTold = added.slice(0, lastOld + 1).some((message) => !isKnown(message))
  const isPrompt = isTold && lastAnswer > lastKnown && end.isOpen
  const isSummary =
    !isTold && (others.length > 0 || kept.length > 0 || lastKnown >= 0 || end.isOpen || isLong(first, end))
  const isAll = isPrompt || end.isOpen || others.length > 0
  if (isPrompt || isSummary) ignoredParts.set(first.id, isAll ? first.parts.length : partsBeforeUser(first))
  return rewrite
}

/** Undefined unless the client replaced its history with a summary. `asked`: the new history ends with the user's own words. */
export function summarized(
  ignoredParts: IgnoredParts,
  conversation: Transcript,
): { readonly asked: boolean } | undefined {
  const last = conversation.at(-1)
  if (ignoredParts.size === 0 || last === undefined) return undefined
  return { asked: isSpoken(last) && (ignoredParts.get(last.id) ?? 0) < last.parts.length }
}

/** Minimum length of a summary in characters; a single shorter message may be from a user who started over. */
const minSummary = 1000

const isLong = (message: Message, { summaryCall }: ConversationEnd): boolean =>
  summaryCall > 0 || spokenText([message]).length >= minSummary

/** The number of leading parts that the client wrote, if it put its summary and the user's next message into one message as two texts. */
function partsBeforeUser(message: Message): number {
  const { parts } = message
  const spoken = parts.flatMap((part, n) => (part.type === "text" && isSpokenPart(message, part) ? [n] : []))
  return spoken.length > 1 ? (spoken.at(-1) ?? parts.length) : parts.length
}

/** The last message of a conversation before its client compacted it, without the request for the summary. */
export function lastBeforeSummaryCall(outline: Outline, at: number, { summaryCall }: ConversationEnd): number {
  let reached = at
  for (let n = 0; n < summaryCall; n++) reached = outline.node(reached)?.parent ?? 0
  return reached
}

/** Token limit for facts kept from an abandoned branch: two pages, of which a digest shows what still matters. */
const inheritedTokens = 2000
/** Limit on the messages read from an abandoned branch; the newest ones matter most. */
const inheritedMessages = 2000
/** Limit on the abandoned branches whose facts are used. */
const inheritedBranches = 4

/** Facts from the messages of the entries that a new history abandons, as the text of a digest; empty if there are none. */
export async function inheritance(live: Live, abandoned: readonly number[], end: ConversationEnd): Promise<string> {
  // A request for a summary is the client's, and not a task.
  const left = abandoned.slice(end.summaryCall).filter((seq) => !live.unconfirmed.has(seq))
  if (left.length === 0) return ""
  const all = await knownMessages(live, left.slice(0, inheritedMessages).reverse())
  const newest = all.at(-1)
  // An unanswered message that the client dropped was a request for the summary too.
  const messages = newest !== undefined && isSpoken(newest) && end.summaryCall === 0 ? all.slice(0, -1) : all
  if (messages.length === 0) return ""
  const { schema = "handoff" } = live.options
  const composed = composeDigest(readConversation(messages, { schema }), {
    budgetTokens: inheritedTokens,
    covered: messages.length,
    shown: new Set(),
    stands: () => false,
    meter: createMeter(),
    arguments: new Set(),
  })
  return composed?.text ?? ""
}

/** The messages of these entries; while the store is unavailable those in memory, since inherited facts are not binding. */
async function knownMessages(live: Live, seqs: readonly number[]): Promise<readonly Message[]> {
  try {
    return await readMessages(live, seqs)
  } catch (error) {
    if (!(error instanceof HoldfastError) || !error.problem.code.startsWith("store-")) throw error
    return seqs.flatMap((seq) => live.messages.get(seq) ?? [])
  }
}

/** Facts from abandoned branches; undefined if there are none. */
export async function readInherited({ journal, options }: Live): Promise<Summary | undefined> {
  const newest = journal.outline().ofType("branch-opened").slice(-inheritedBranches)
  const branches = await journal.ofType("branch-opened", newest)
  const schema: SchemaName = options.schema ?? "handoff"
  const ledgers = branches.flatMap(({ body }) => (body.ledger === "" ? [] : (parseDigest(body.ledger)?.summary ?? [])))
  const sections = ledgers.flatMap((ledger, n) => (n === ledgers.length - 1 ? ledger : withoutEnd(ledger)).sections)
  return sections.length === 0 ? undefined : { schema, sections }
}

/** Drops the sections about the end of a branch, because another one followed; open items become plain statements. */
const withoutEnd = ({ schema, sections }: Summary): Summary => ({
  schema,
  sections: sections
    .filter(({ name }) => !endSections.has(name))
    .map(({ name, lines }) => ({
      name: name === "primary_requests" ? "user_messages" : name,
      lines: lines.map((line) =>
        line.state === "open" || line.state === "pending" ? { ...line, state: "said" } : line,
      ),
    })),
})

const endSections: ReadonlySet<string> = new Set(["current_work", "next_steps"])
