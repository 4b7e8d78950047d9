import { composeDigest } from "../compact/compose-digest.ts"
import { readConversation } from "../compact/knowledge.ts"
import { isSpokenPart } from "../compact/stages/spoken.ts"
import { parseDigest } from "../compact/summary/digest-text.ts"
import type { SchemaName, Summary } from "../compact/summary/summary.ts"
import { HoldfastError } from "../message/errors.ts"
import { lineageKey } from "../message/lineage.ts"
import type { Message, Transcript } from "../message/message.ts"
import { commonLength } from "../message/recall.ts"
import { createMeter } from "../tokens/meter.ts"
import type { Live } from "./live.ts"
import type { Outline } from "./log/outline.ts"
import { readMessages } from "./view.ts"

/** How a conversation stood when its client left its history and sent another one. */
type ConversationEnd = {
  /** Its newest messages were a call for a summary and the summary, which the new history has: so many of them. */
  readonly summaryCall: 0 | 2
  /** It was the model's turn, and the user had not been given the word. */
  readonly isOpen: boolean
  /** The model had said something in it. */
  readonly isAnswered: boolean
}

const noEnd: ConversationEnd = { summaryCall: 0, isOpen: false, isAnswered: false }

/** More messages at the end of a history are not looked at. */
const maxRead = 2000

/** How the conversation stands that a client's history is about to leave; nothing of note where it only goes on. */
export async function conversationEnd(live: Live, conversation: Transcript): Promise<ConversationEnd> {
  const outline = live.journal.outline()
  const path = matchHistory(outline, conversation)
  const added = conversation.slice(path.length)
  const left = added.length === 0 ? [] : leftBehind(outline, live.at, path)
  if (left.length === 0) return noEnd
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

/** Is the newest answer what the new history tells instead of the old one? Then what it answers was a call for a summary. */
function isSummaryCall([answer, asks]: Transcript, added: Transcript): boolean {
  if (answer?.role !== "assistant" || asks?.role !== "user" || answer.parts.some(isCall)) return false
  const isKept = added.some((message) => message.role === "assistant" && messageKey(message) === messageKey(answer))
  return !isKept && retells(textOf(added), textOf([answer]))
}

const textOf = (messages: Transcript): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : []))).join("\n")

/** Shorter lines stand in every text. */
const leastLine = 12
const maxLines = 6

/** Does a text have the longest lines of another one in it, or at least one of them? */
function retells(text: string, other: string): boolean {
  const lines = other
    .split(/\n|<[^<>\n]{1,80}>/)
    .map((line) => line.trim())
    .filter((line) => line.length >= leastLine)
  return lines
    .sort((one, two) => two.length - one.length)
    .slice(0, maxLines)
    .some((line) => text.includes(line))
}

/** Of messages by id: how many of their parts, from the first on, lay down nothing. */
export type IgnoredParts = ReadonlyMap<string, number>

export const noIgnoredParts: IgnoredParts = new Map()

export type ClientCompaction = {
  readonly ignoredParts: IgnoredParts
  /** What was left out still belongs to the conversation: its client made the history shorter, and took nothing back. */
  readonly isCompacted: boolean
}

export const noRewrite: ClientCompaction = { ignoredParts: noIgnoredParts, isCompacted: false }

type Rewritten = {
  /** What is kept of the history as it was, from its first message on, and what comes behind that. */
  readonly kept: Transcript
  readonly added: Transcript
  /** What the messages say that were left behind, as keys. */
  readonly left: ReadonlySet<string>
  /** The key of the newest of them. */
  readonly newest: string | undefined
  readonly end: ConversationEnd
}

/**
 * The messages of a rewritten history in which nobody speaks now. Those that were there before have been heard. Where all that the model
 * had said is gone, or a summary of it is there, the client compacted the history: what it put in the place of that, and around its
 * summary, are its own words and nobody's rule, whatever they say. What comes behind what was kept, or when the user had the word, is
 * the user's.
 */
export function readRewrite({ kept, added, left, newest, end }: Rewritten): ClientCompaction {
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
  // The client left out the beginning alone: what follows the newest answer, recorded here or not yet, is the user's next word.
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

/** Shorter than this, the only message of a history may be the user's, who began anew. */
const leastSummary = 1000

const isLong = (message: Message, { summaryCall }: ConversationEnd): boolean =>
  summaryCall > 0 || textOf([message]).length >= leastSummary

/** A client may write its summary and the user's next words into one message, as two texts. */
function partsBeforeUser(message: Message): number {
  const { parts } = message
  const spoken = parts.flatMap((part, n) => (part.type === "text" && isSpokenPart(message, part) ? [n] : []))
  return spoken.length > 1 ? (spoken.at(-1) ?? parts.length) : parts.length
}

/** The message that a conversation had reached before its client compacted it, the call for the summary left out. */
export function lastBeforeSummaryCall(outline: Outline, at: number, { summaryCall }: ConversationEnd): number {
  let reached = at
  for (let n = 0; n < summaryCall; n++) reached = outline.node(reached)?.parent ?? 0
  return reached
}

const keys = new WeakMap<Message, string>()

/** What a message says, as a key; read once for each message. */
export function messageKey(message: Message): string {
  const known = keys.get(message)
  if (known !== undefined) return known
  const key = lineageKey(message)
  keys.set(message, key)
  return key
}

/** The same message under another id says the same. */
export function renamed(message: Message, id: Message["id"]): Message {
  const known = keys.get(message)
  const as = { ...message, id }
  if (known !== undefined) keys.set(as, known)
  return as
}

type Matched = { readonly conversation: Transcript; readonly path: readonly number[]; readonly seen: number }

const matched = new WeakMap<Outline, Matched>()

/** How a whole history meets the log: the entries that say what it says, from its first message on, as far as they go. */
export function matchHistory(outline: Outline, conversation: Transcript): readonly number[] {
  const path = [...knownPath(outline, conversation)]
  let at = path.at(-1) ?? 0
  for (let n = path.length; n < conversation.length; n++) {
    const message = conversation[n]
    const next = message === undefined ? undefined : outline.child(at, messageKey(message))
    if (next === undefined) break
    path.push(next)
    at = next
  }
  matched.set(outline, { conversation: [...conversation], path, seen: outline.head().seq })
  return path
}

/** What is known from before: the same messages meet the same entries, unless others were written beside them since. */
function knownPath(outline: Outline, conversation: Transcript): readonly number[] {
  const known = matched.get(outline)
  if (known === undefined) return []
  const length = Math.min(commonLength(known.conversation, conversation), known.path.length)
  for (let seq = known.seen + 1; seq <= outline.head().seq; seq++) {
    const parent = outline.node(seq)?.parent
    if (parent === undefined) continue
    const place = parent === 0 ? 0 : (outline.node(parent)?.depth ?? 0)
    if (place < length && (parent === 0 || known.path[place - 1] === parent)) return []
  }
  return known.path.slice(0, length)
}

/** The entries that a move leaves behind: those of the way to `from` that are not on the way to `to`, newest first. */
export function leftBehind(outline: Outline, from: number, path: readonly number[]): readonly number[] {
  const left: number[] = []
  for (let at = from; at > 0; at = outline.node(at)?.parent ?? 0) {
    const node = outline.node(at)
    if (node !== undefined && path[node.depth - 1] === at) break
    left.push(at)
  }
  return left
}

/** What is kept of a way not taken, at most: two pages, of which a digest shows what still matters. */
const inheritedTokens = 2000
/** Of a very long way the newest messages say what still holds. */
const inheritedMessages = 2000
/** Ways not taken, at most, that are looked back at. */
const inheritedBranches = 4

/** What the messages say that this history leaves behind, as a digest's text; empty if it leaves none. */
export async function inheritance(live: Live, conversation: Transcript): Promise<string> {
  const outline = live.journal.outline()
  const path = matchHistory(outline, conversation)
  if (path.length === conversation.length) return ""
  const left = leftBehind(outline, live.at, path).filter((seq) => !live.unconfirmed.has(seq))
  if (left.length === 0) return ""
  const messages = await knownMessages(live, left.slice(0, inheritedMessages).reverse())
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

/** The messages of these entries; while the store is away, those that are in memory: what is handed on binds nobody, and rules stand by themselves. */
async function knownMessages(live: Live, seqs: readonly number[]): Promise<readonly Message[]> {
  try {
    return await readMessages(live, seqs)
  } catch (error) {
    if (!(error instanceof HoldfastError) || !error.problem.code.startsWith("store-")) throw error
    return seqs.flatMap((seq) => live.messages.get(seq) ?? [])
  }
}

/** What a session carries on from ways not taken; nothing where there are none. */
export async function readInherited({ journal, options }: Live): Promise<Summary | undefined> {
  const branches = journal.outline().ofType("branch-opened").slice(-inheritedBranches)
  const entries = await journal.entries(branches)
  const schema: SchemaName = options.schema ?? "handoff"
  const sections = [...entries.values()].flatMap(({ body }) =>
    body.type === "branch-opened" && body.ledger !== "" ? (parseDigest(body.ledger)?.summary.sections ?? []) : [],
  )
  return sections.length === 0 ? undefined : { schema, sections }
}
