import { type InjectedDocument, type Separation, separate, separateMade } from "../../compact/stack/separate.ts"
import { messageKey, renamed } from "../../message/lineage.ts"
import { type Message, type ModelRequest, messageId, type Transcript, textOf } from "../../message/message.ts"
import { hashData, hashText } from "../../message/sha256.ts"
import type { Steps } from "../../message/steps.ts"
import { survivalOf } from "../../rules/survival.ts"
import { runPaced } from "../../store/pace.ts"
import { type EntryBody, entryId, freeze } from "../log/entry.ts"
import type { LogEvent, Trace } from "../log/event.ts"
import type { CommitResult } from "../log/journal.ts"
import type { Outline } from "../log/outline.ts"
import {
  askFinder,
  isRewind,
  newRules,
  noDocuments,
  reportFound,
  reportUnmatched,
  rewoundPins,
  type SearchInput,
  unpinEntries,
} from "../rules/new-rules.ts"
import { isInForce, type SessionPin } from "../rules/pins.ts"
import { type Live, nextParent } from "../state/live.ts"
import {
  type ClientCompaction,
  conversationEnd,
  inheritance,
  lastBeforeSummaryCall,
  noEnd,
  noRewrite,
  readRewrite,
  summarized,
} from "./own-compaction.ts"

type MessageBody = Extract<EntryBody, { type: "message-appended" }>

/** Messages as log entries, each with the previous one as parent. `stored` are the same with their documents, as the log keeps them. */
const messageBodies = (messages: Transcript, parent: number, next: number, stored = messages): readonly MessageBody[] =>
  messages.map((message, n) => ({
    type: "message-appended",
    parent: n === 0 ? parent : next + n - 1,
    key: messageKey(message),
    message: freeze(stored[n] ?? message),
  }))

/** Entries, followed by those of the rules that are found; a promise if the search takes so long that it runs in slices. */
function withRules(
  written: readonly EntryBody[],
  finding: Steps<readonly EntryBody[]>,
): readonly EntryBody[] | Promise<readonly EntryBody[]> {
  const found = runPaced(finding)
  return found instanceof Promise ? found.then((rules) => [...written, ...rules]) : [...written, ...found]
}

/**
 * Appends messages after the session's current message. `placed` is the entry of each; those already in the log are not written again.
 * `opening` are the documents at the start of a session; by default they are separated from the messages.
 */
export async function appendMessages(
  live: Live,
  messages: Transcript,
  pins: readonly SessionPin[],
  opening?: readonly InjectedDocument[],
): Promise<{ readonly placed: readonly number[]; readonly events: Trace }> {
  let added = messages
  let news: SearchInput = { messages, before: [], ...noDocuments }
  let placed: readonly number[] = []
  const committed = await live.journal.commit((outline, next) => {
    const from = nextParent(live, outline)
    const known = knownAfter(outline, from, messages)
    added = messages.slice(known.length)
    placed = [...known, ...added.map((_, n) => next + n)]
    news = ruleSearchInput(live, added, opening)
    const written = [...messageBodies(added, known.at(-1) ?? from, next), ...unpinEntries(pins, added, news.before)]
    const places = { first: next, next: next + written.length }
    return withRules(written, newRules(live, pins, news, places))
  })
  keepMessages(live, committed, added)
  live.at = placed.at(-1) ?? live.at
  live.opened ||= placed.length > 0
  live.answered = newestAnswer(messages) ?? live.answered
  const events = [...reportFound(live, committed.entries), ...reportUnmatched(live, pins, added, news.before)]
  askFinder(live, committed, news)
  return { placed, events }
}

/**
 * Writes a response after its request. A client that sends its whole history may already have sent the response to another process: then
 * that process has written it, and the conversation stays where that process left it. A model's response never adds rules.
 */
export async function appendAnswer(
  live: Live,
  messages: Transcript,
  extraEntries: (from: number) => readonly EntryBody[],
): Promise<readonly number[]> {
  let added = messages
  let placed: readonly number[] = []
  const committed = await live.journal.commit((outline, next) => {
    const from = responseParent(live, outline)
    const tip = outline.tip()
    const isLeft = from > 0 && tip !== from && outline.path(tip, from) === undefined
    const known =
      (isLeft ? knownOnPath(outline, tip, from, messages) : undefined) ?? knownAfter(outline, from, messages)
    added = messages.slice(known.length)
    placed = [...known, ...added.map((_, n) => next + n)]
    const back: EntryBody = { type: "branch-opened", from: tip, left: 0, ledger: "" }
    return [
      ...messageBodies(added, known.at(-1) ?? from, next).map((body) => ({ ...body, recorded: true as const })),
      ...extraEntries(from),
      // The conversation continued on another branch and stays there.
      ...(isLeft && added.length > 0 ? [back] : []),
    ]
  })
  keepMessages(live, committed, added)
  const last = placed.at(-1)
  if (last !== undefined) {
    live.at = live.client === undefined ? last : live.journal.outline().tip()
    live.opened = true
    if (live.sent !== undefined) live.sent = { ...live.sent, at: last }
  }
  live.answered = newestAnswer(messages) ?? live.answered
  for (const seq of placed.slice(messages.length - added.length)) live.unconfirmed.add(seq)
  return placed
}

/** The entries of a whole response on the path to `tip`, after a message with the same content as `from`. */
function knownOnPath(outline: Outline, tip: number, from: number, messages: Transcript): readonly number[] | undefined {
  const asked = outline.node(from)?.key
  for (const seq of outline.path(tip)?.toReversed() ?? []) {
    if (outline.node(seq)?.key !== asked) continue
    const known = knownAfter(outline, seq, messages)
    if (known.length === messages.length) return known
  }
  return undefined
}

/** The entries that match the first of these messages right after `from`, as far as they match. */
function knownAfter(outline: Outline, from: number, messages: Transcript): readonly number[] {
  const known: number[] = []
  for (const message of messages) {
    const next = outline.child(known.at(-1) ?? from, messageKey(message))
    if (next === undefined) break
    known.push(next)
  }
  return known
}

export const newestAnswer = (messages: Transcript): Message | undefined =>
  messages.findLast(({ role }) => role === "assistant")

/** The rule-search input for appended messages. */
function ruleSearchInput(live: Live, messages: Transcript, opening?: readonly InjectedDocument[]): SearchInput {
  const before = [...live.messages.values()].slice(-maxBefore)
  if (live.at !== 0) return { messages, before, ...noDocuments }
  const documents = opening ?? separate({ system: [], tools: [], messages }).infrastructure.documents
  return { messages, before, documents, lifted: textsOf(documents) }
}

/** Messages before the new ones that are searched for the calls of new results; a call is right before its results. */
const maxBefore = 8

const textsOf = (documents: readonly InjectedDocument[]): ReadonlySet<string> =>
  new Set(documents.flatMap(({ part }) => (part.type === "text" ? part.text : [])))

/**
 * The parent of a response. A client that sends its whole history may have sent later messages, even to another process, before the
 * response is recorded here: the response then goes after its request, not after those.
 */
function responseParent(live: Live, outline: Outline): number {
  const { client, sent } = live
  const isThere = sent !== undefined && (sent.at === 0 || outline.node(sent.at) !== undefined)
  return client !== undefined && isThere && !sent.held ? sent.at : nextParent(live, outline)
}

function keepMessages({ messages }: Live, { entries }: CommitResult, added: Transcript): void {
  const appended = entries.filter(({ body }) => body.type === "message-appended")
  for (const [n, { seq }] of appended.entries()) {
    const message = added[n]
    if (message !== undefined) messages.set(seq, { ...message, id: messageId(entryId(seq)) })
  }
}

export type IngestResult = {
  /** The client's request, with its messages under entry ids. */
  readonly request: ModelRequest
  readonly separation: Separation
  readonly events: readonly LogEvent[]
  /** Present if the client replaced its history with a summary. `asked`: the new history ends with the user's own words. */
  readonly compacted: ReturnType<typeof summarized>
}

/**
 * Stores a client's whole history: messages that the log has, from the first on, are not stored again; the rest is new. A history that
 * diverges from the previous one becomes a branch, and facts from the abandoned messages are kept.
 */
export async function ingest(live: Live, request: ModelRequest, pins: readonly SessionPin[]): Promise<IngestResult> {
  const separation = separate(request, { standing: live.documents })
  const { conversation } = separation
  const { end, inherited } = await replacedHistory(live, conversation)
  const stack = stackOf(live, separation)
  const { documents } = separation.infrastructure
  const unseen = documents.filter(({ hash }) => !live.documents.has(hash))
  let path: readonly number[] = []
  let spoken: Transcript = []
  let news: SearchInput = { messages: [], before: [], ...noDocuments }
  let events: readonly LogEvent[] = []
  let placed: readonly number[] = []
  let replaced = false
  let rewrite: ClientCompaction = noRewrite
  const committed = await live.journal.commit((outline, next) => {
    path = matchHistory(outline, conversation)
    const added = conversation.slice(path.length)
    const from = path.at(-1) ?? 0
    const behind = added.length === 0 ? [] : abandonedEntries(outline, live.at, path)
    const left = behind.filter((seq) => !live.unconfirmed.has(seq))
    const isBack = end.summaryCall === 0 && left.length > 0 && isRewind(oldestAbandoned(live, left), added, path.length)
    replaced = left.length > 0 && !isBack
    const kept = conversation.slice(0, path.length)
    rewrite = replaced
      ? readRewrite({ kept, added, left: keysAt(outline, behind), newest: outline.node(live.at)?.key, end })
      : noRewrite
    const reached = rewrite.isCompacted ? { reached: lastBeforeSummaryCall(outline, live.at, end) } : {}
    const branch = { type: "branch-opened", from, left: left.length, ledger: inherited, ...reached } as const
    const before: readonly EntryBody[] = [
      ...(stack.hash === live.stack ? [] : [stack]),
      ...(left.length === 0 ? [] : [branch]),
    ]
    const first = next + before.length
    placed = [...path, ...added.map((_, n) => first + n)]
    events = [
      { type: "history-matched", known: path.length, added: added.length },
      ...(left.length === 0 ? [] : [{ type: "branch-opened" as const, from: entryId(from), left: left.length }]),
    ]
    const originals = originalsOf(request, added)
    news = {
      messages: originals,
      ignoredParts: rewrite.ignoredParts,
      before: conversation.slice(Math.max(0, path.length - maxBefore), path.length),
      documents: unseen,
      lifted: textsOf(documents),
    }
    spoken = originals.filter(({ id }) => !rewrite.ignoredParts.has(id))
    const taken = [...(isBack ? rewoundPins(pins, left) : []), ...unpinEntries(pins, spoken, news.before)]
    const written = [...before, ...messageBodies(added, from, first, originals), ...taken]
    return withRules(written, newRules(live, pins, news, { first, next: next + written.length }))
  })
  for (const event of events) if (event.type === "branch-opened") live.emit(event)
  const found = [...reportFound(live, committed.entries), ...reportUnmatched(live, pins, spoken, news.before)]
  askFinder(live, committed, news)
  for (const seq of placed) live.unconfirmed.delete(seq)
  live.at = placed.at(-1) ?? 0
  live.opened = true
  live.answered = newestAnswer(conversation) ?? live.answered
  live.stack = stack.hash
  live.documents = new Set(stack.documents)
  const named = { ...request, messages: namedMessages(request, conversation, placed) }
  const judged = replaced ? judgeHistory(pins, conversation.slice(path.length)) : []
  const compacted = rewrite.isCompacted ? summarized(rewrite.ignoredParts, conversation) : undefined
  return {
    request: named,
    separation: separateMade(separation, named),
    events: [...events, ...judged, ...found],
    compacted,
  }
}

/** The state of the history that this conversation replaces, and the facts from the messages that it abandons. */
async function replacedHistory(live: Live, conversation: Transcript) {
  const outline = live.journal.outline()
  const path = matchHistory(outline, conversation)
  const left = path.length === conversation.length ? [] : abandonedEntries(outline, live.at, path)
  if (left.length === 0) return { end: noEnd, inherited: "" }
  const end = await conversationEnd(live, conversation.slice(path.length), left)
  return { end, inherited: await inheritance(live, left, end) }
}

const keysAt = (outline: Outline, seqs: readonly number[]): ReadonlySet<string> =>
  new Set(seqs.flatMap((seq) => outline.node(seq)?.key ?? []))

/** Messages of the conversation as they are in the request, with documents not yet separated from them. */
function originalsOf({ messages }: ModelRequest, conversation: Transcript): Transcript {
  if (conversation.length === 0) return []
  const wanted = new Set(conversation.map(({ id }) => id))
  const originals = new Map(messages.flatMap((message) => (wanted.has(message.id) ? [[message.id, message]] : [])))
  return conversation.map((message) => originals.get(message.id) ?? message)
}

/** The messages of a request with entry ids. Messages that already have theirs stay the same objects. */
function namedMessages(
  { messages }: ModelRequest,
  conversation: Transcript,
  placed: readonly number[],
): readonly Message[] {
  const ids = placed.map(entryId)
  const first = conversation.findIndex(({ id }, n) => id !== ids[n])
  if (first < 0) return messages
  const from = messages.findIndex(({ id }) => id === conversation[first]?.id)
  const names = new Map(conversation.slice(first).map(({ id }, n) => [id, messageId(ids[first + n] ?? id)]))
  const named = messages.slice(from).map((message) => {
    const id = names.get(message.id)
    return id === undefined || id === message.id ? message : renamed(message, id)
  })
  return [...messages.slice(0, from), ...named]
}

/** The oldest abandoned message, if it is in memory. */
const oldestAbandoned = ({ messages, client }: Live, left: readonly number[]): Transcript => {
  const oldest = left.at(-1)
  if (oldest === undefined) return []
  const message = messages.get(oldest) ?? client?.messages.find(({ id }) => id === entryId(oldest))
  return message === undefined ? [] : [message]
}

/** The infrastructure of a request as a log entry: the documents that opened the session, and a hash of everything. */
function stackOf(live: Live, { infrastructure }: Separation): Extract<EntryBody, { type: "stack-seen" }> {
  const documents = [...new Set([...live.documents, ...infrastructure.documents.map(({ hash }) => hash)])]
  return { type: "stack-seen", hash: stackHash(infrastructure, documents), documents }
}

type Stack = Pick<Separation["infrastructure"], "system" | "tools">

/** The infrastructure is the same on almost every call, so its hash is cached by its system part. */
const hashes = new WeakMap<Stack["system"], Pick<Stack, "tools"> & { documents: string; hash: string }>()

function stackHash({ system, tools }: Stack, named: readonly string[]): string {
  const documents = named.join()
  const known = hashes.get(system)
  if (known?.tools === tools && known.documents === documents) return known.hash
  // Hash each tool separately: hashing them together would serialize them again, and they may be megabytes.
  const hash = hashData([
    system.map(({ wire, ...part }) => wire ?? part),
    tools.map(({ wire }) => hashText(wire)),
    named,
  ])
  hashes.set(system, { tools, documents, hash })
  return hash
}

/** Limit on the characters checked for rules: a client's summary has a few pages. */
const maxLength = 60_000

/** Reports how the rules survived the client's own compaction. This changes nothing: the client's text is not trusted to contain them. */
function judgeHistory(pins: readonly SessionPin[], messages: Transcript): readonly LogEvent[] {
  const standing = pins.filter(isInForce)
  if (standing.length === 0) return []
  const said = messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts)
  const text = said
    .flatMap((part) => (part.type === "text" ? textOf(part) : []))
    .join("\n\n")
    .slice(0, maxLength)
  const verdicts = survivalOf(
    standing.map((pin) => pin.text),
    text,
  )
  return [
    {
      type: "rules-judged",
      pins: standing.flatMap(({ id }, n) =>
        verdicts[n] === undefined ? [] : [{ pin: id, verdict: verdicts[n].verdict }],
      ),
    },
  ]
}

type HistoryMatch = {
  readonly of: Transcript
  /** A copy, because the list may grow. */
  readonly conversation: Transcript
  readonly path: readonly number[]
  readonly seen: number
}

const lastMatches = new WeakMap<Outline, HistoryMatch>()

/** Matches a whole history with the log: the entries with the same content, from the first message on, as far as they match. */
function matchHistory(outline: Outline, conversation: Transcript): readonly number[] {
  const last = lastMatches.get(outline)
  if (last?.of === conversation && last.seen === outline.head().seq) return last.path
  const path = [...knownPath(outline, conversation)]
  let at = path.at(-1) ?? 0
  for (let n = path.length; n < conversation.length; n++) {
    const message = conversation[n]
    const next = message === undefined ? undefined : outline.child(at, messageKey(message))
    if (next === undefined) break
    path.push(next)
    at = next
  }
  lastMatches.set(outline, { of: conversation, conversation: [...conversation], path, seen: outline.head().seq })
  return path
}

/** The part known from the last match: the same messages match the same entries, unless siblings were written since. */
function knownPath(outline: Outline, conversation: Transcript): readonly number[] {
  const known = lastMatches.get(outline)
  if (known === undefined) return []
  let length = 0
  while (length < known.path.length && known.conversation[length] === conversation[length]) length++
  for (let seq = known.seen + 1; seq <= outline.head().seq; seq++) {
    const parent = outline.node(seq)?.parent
    if (parent === undefined) continue
    const place = parent === 0 ? 0 : (outline.node(parent)?.depth ?? 0)
    if (place < length && (parent === 0 || known.path[place - 1] === parent)) return []
  }
  return known.path.slice(0, length)
}

/** The entries that a new path abandons: those on the way to `from` that are not on `path`, newest first. */
function abandonedEntries(outline: Outline, from: number, path: readonly number[]): readonly number[] {
  const left: number[] = []
  for (let at = from; at > 0; at = outline.node(at)?.parent ?? 0) {
    const node = outline.node(at)
    if (node !== undefined && path[node.depth - 1] === at) break
    left.push(at)
  }
  return left
}
