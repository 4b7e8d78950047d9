import { nameWords, wordSet } from "../../language/word-forms.ts"
import type { Message, Part, Tool, Transcript, Wire } from "../../message/message.ts"
import { createRecall } from "../../message/recall.ts"
import { hashData, hashText } from "../../message/sha256.ts"
import { type Marker, markersIn, type RequestPieces } from "./breakpoints.ts"
import tagWords from "./tag-words.json" with { type: "json" }

/** A document that the client's harness injected into a user message; `part` is marked as one and so instructs no one. */
export type InjectedDocument = {
  readonly name: string
  readonly hash: string
  readonly part: Part
  readonly place: Place
}

type Place = { readonly message: number; readonly part: number }

/** What is in every call and belongs to no turn. It is never shown to a summarizer, and returns to its place unchanged. */
export type Infrastructure = {
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  /** System and developer messages before the first answer, and lists of tools wherever they are. */
  readonly messages: readonly Message[]
  readonly documents: readonly InjectedDocument[]
}

export type Separation = {
  readonly request: RequestPieces
  readonly infrastructure: Infrastructure
  readonly conversation: Transcript
  /** All documents in user messages: those that were removed, and later ones, which stay in their turn. */
  readonly found: readonly InjectedDocument[]
  /** Hashes of the documents that are known to have opened the session. */
  readonly standing: ReadonlySet<string>
  /** Places of the client's cache markers. */
  readonly breakpoints: readonly Marker[]
}

/**
 * Separates a request into infrastructure and conversation. Documents are removed from the turn that opens the session; later ones are new
 * content: they stay in their turn, marked as documents. `standing` lists by hash the documents that once opened this session: they are
 * removed wherever a client puts them again after its own compaction. If the request continues one that was separated before, only what is
 * new is examined.
 */
export function separate(
  request: RequestPieces,
  { standing = new Set() }: { readonly standing?: ReadonlySet<string> } = {},
): Separation {
  const separated = separateMessages(request.messages, standing)
  return separationOf(request, wholeOf(separated), separated)
}

/**
 * The separation of a request derived from a separated one: with other ids, with a message of ours added, rejoined, repaired. Known
 * documents stay documents; no text is examined again.
 */
export function separateMade(separation: Separation, request: RequestPieces): Separation {
  const { messages } = request
  const { infrastructure, conversation, found, standing } = separation
  const before = separation.request.messages
  const isSame = (same: (one: Message, other: Message | undefined) => boolean): boolean =>
    before.length === messages.length && before.every((message, n) => same(message, messages[n]))
  if (isSame((one, other) => one === other))
    return separationOf(request, infrastructure.messages, { ...infrastructure, conversation, found, standing })
  const known = new Map(found.map((document) => [before[document.place.message]?.parts[document.place.part], document]))
  const still = known.size === 0 ? [] : messages.flatMap((message, n) => knownDocuments(message, n, known))
  const separated = separateFrom(messages, standing, { found: still })
  if (isSame((one, other) => one.parts === other?.parts)) recall.keep(messages, separated)
  return separationOf(request, wholeOf(separated), separated)
}

const wholeOf = ({ whole }: SeparatedMessages): readonly Message[] => whole.map(({ message }) => message)

function separationOf(
  request: RequestPieces,
  whole: readonly Message[],
  {
    documents,
    conversation,
    found,
    standing,
  }: Pick<SeparatedMessages, "documents" | "conversation" | "found" | "standing">,
): Separation {
  const { system, tools } = request
  return {
    request,
    infrastructure: { system, tools, messages: whole, documents },
    conversation,
    found,
    standing,
    // Lazy, because few callers need it.
    get breakpoints() {
      return markersIn(request)
    },
  }
}

function knownDocuments(
  message: Message,
  at: number,
  known: ReadonlyMap<Part | undefined, InjectedDocument>,
): readonly InjectedDocument[] {
  return message.parts.flatMap((part, n) => {
    const document = known.get(part)
    return document === undefined ? [] : { ...document, place: { message: at, part: n } }
  })
}

/** The messages of a request after the separation. */
type SeparatedMessages = {
  readonly standing: ReadonlySet<string>
  readonly opening: number
  readonly whole: readonly { readonly message: Message; readonly at: number }[]
  readonly found: readonly InjectedDocument[]
  readonly documents: readonly InjectedDocument[]
  readonly conversation: Transcript
  /** Indexes of messages of which nothing is in the conversation. */
  readonly gone: readonly number[]
}

const recall = createRecall<SeparatedMessages>()

function separateMessages(messages: Transcript, standing: ReadonlySet<string>): SeparatedMessages {
  const known = recall.find(messages, (separated) => isSameSet(separated.standing, standing))
  const isWhole = known !== undefined && known.common === messages.length && known.of.length === messages.length
  if (isWhole) return known.made
  // A turn ends before each answer, and nothing after that changes what was found before it.
  const from = known === undefined ? -1 : lastAnswer(messages, known.common)
  const separated =
    known === undefined || from < 0 ? separateFrom(messages, standing) : continueFrom(messages, known.made, from)
  recall.keep(messages, separated)
  return separated
}

/** Index of the last answer among the first `length` messages; -1 if there is none. */
function lastAnswer(messages: Transcript, length: number): number {
  for (let at = length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message !== undefined && isAnswer(message)) return at
  }
  return -1
}

/** Separates the messages from an index on; `before` is the separation of an earlier state of them. */
function separateFrom(
  messages: Transcript,
  standing: ReadonlySet<string>,
  { from = 0, before, found = findDocuments(messages, from) }: PartFrom = {},
): SeparatedMessages {
  const opening = before?.opening ?? openingEnd(messages)
  const whole: SeparatedMessages["whole"] = messages
    .slice(from)
    .flatMap((message, n) =>
      isToolList(message) || (message.role === "system" && from + n < opening) ? { message, at: from + n } : [],
    )
  const documents = found.filter(({ place, hash }) => place.message < opening || standing.has(hash))
  const wholes = new Set([...(before?.whole ?? []), ...whole].map(({ message }) => message))
  const { conversation, gone } = withoutInfrastructure(messages, from, wholes, found, new Set(documents))
  // A copy, because the caller's set may grow.
  return { standing: new Set(standing), opening, whole, found, documents, conversation, gone }
}

type PartFrom = {
  readonly from?: number
  readonly before?: SeparatedMessages
  readonly found?: readonly InjectedDocument[]
}

/** Keeps what was separated before this index, and separates the rest again. */
function continueFrom(messages: Transcript, before: SeparatedMessages, from: number): SeparatedMessages {
  const rest = separateFrom(messages, before.standing, { from, before })
  const gone = before.gone.filter((at) => at < from)
  const isBefore = ({ place }: InjectedDocument): boolean => place.message < from
  return {
    ...rest,
    whole: [...before.whole.filter(({ at }) => at < from), ...rest.whole],
    found: [...before.found.filter(isBefore), ...rest.found],
    documents: [...before.documents.filter(isBefore), ...rest.documents],
    conversation: [...before.conversation.slice(0, from - gone.length), ...rest.conversation],
    gone: [...gone, ...rest.gone],
  }
}

const isSameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((item) => other.has(item))

/** The kinds of opaque parts that list tools. */
export const toolLists: ReadonlySet<string> = new Set(["additional_tools", "mcp_list_tools"])

const isToolList = ({ parts }: Message): boolean =>
  parts.length > 0 && parts.every((part) => part.type === "opaque" && toolLists.has(part.kind))

const isAnswer = (message: Message): boolean => message.role === "assistant" && !isToolList(message)

function openingEnd(messages: Transcript): number {
  const answer = messages.findIndex(isAnswer)
  return answer < 0 ? messages.length : answer
}

/**
 * Finds documents, turn by turn, from the start of a turn on. Each turn has words of the user: if all of it looks injected, the last part
 * is assumed to be the user's.
 */
function findDocuments(messages: Transcript, from: number): readonly InjectedDocument[] {
  const found: InjectedDocument[] = []
  let turn: InjectedDocument[] = []
  let spoken = false
  const endTurn = (): void => {
    found.push(...(spoken ? turn : turn.slice(0, -1)))
    turn = []
    spoken = false
  }
  for (let n = from; n < messages.length; n++) {
    const message = messages[n]
    if (message === undefined) break
    if (isAnswer(message)) endTurn()
    if (message.role !== "user") continue
    for (const [at, part] of message.parts.entries()) {
      const name = part.type === "text" ? documentName(part.text) : undefined
      if (name === undefined || part.type !== "text") spoken ||= part.type !== "text" || part.text.trim() !== ""
      else turn.push(asDocument(name, part, { message: n, part: at }))
    }
  }
  endTurn()
  return found
}

const asDocument = (name: string, part: Part & { type: "text" }, place: Place): InjectedDocument => {
  return { name, hash: hashText(part.text), part: { ...part, channel: "document" }, place }
}

/** Returns the messages without what was removed, and with later documents marked. A message without findings stays the same object. */
function withoutInfrastructure(
  messages: Transcript,
  from: number,
  whole: ReadonlySet<Message>,
  found: readonly InjectedDocument[],
  lifted: ReadonlySet<InjectedDocument>,
): Pick<SeparatedMessages, "conversation" | "gone"> {
  const byMessage = Map.groupBy(found, ({ place }) => place.message)
  const gone: number[] = []
  const conversation: Message[] = []
  for (let n = from; n < messages.length; n++) {
    const message = messages[n]
    if (message === undefined) break
    const remaining = whole.has(message) ? undefined : withoutDocuments(message, byMessage.get(n), lifted)
    if (remaining === undefined) gone.push(n)
    else conversation.push(remaining)
  }
  return { conversation, gone }
}

function withoutDocuments(
  message: Message,
  documents: readonly InjectedDocument[] | undefined,
  lifted: ReadonlySet<InjectedDocument>,
): Message | undefined {
  if (documents === undefined) return message
  const byPart = new Map(documents.map((document) => [document.place.part, document]))
  const parts = message.parts.flatMap((part, at) => {
    const document = byPart.get(at)
    if (document === undefined) return part
    return lifted.has(document) ? [] : document.part
  })
  return parts.length === 0 ? undefined : { ...message, parts }
}

/**
 * Returns a hash of a request's infrastructure: equal for all requests of a conversation until its instructions, tools or documents change.
 * Cache markers, the choice of text or list form, and volatile lines are ignored.
 */
export function stackFingerprint(request: RequestPieces): string {
  const { system, tools, messages, documents } = separate(request).infrastructure
  return hashData([
    keysOf(system),
    tools.map(({ wire }) => withoutMarker(wire)),
    messages.map(({ parts }) => keysOf(parts)),
    documents.map(({ hash }) => hash),
  ])
}

const keysOf = (parts: readonly Part[]): readonly unknown[] =>
  parts.filter((part) => !isVolatile(part)).map((part) => (part.type === "text" ? part.text : withoutMarker(part.wire)))

/**
 * True for a line in the form of a header for the provider's accounting, such as `x-anthropic-billing-header: …`, which changes from call
 * to call.
 */
export const isVolatile = (part: Part): boolean =>
  part.type === "text" && part.text.length < 1000 && /^\s*x-[a-z\d-]+:[^\n]*\s*$/i.test(part.text)

function withoutMarker(wire: Wire | undefined): unknown {
  if (wire === undefined) return undefined
  const block: unknown = JSON.parse(wire)
  if (typeof block !== "object" || block === null || Array.isArray(block)) return block
  return Object.entries(block).filter(([name]) => name !== "cache_control")
}

/** Words in the tag names of what a harness adds to a user message: environment, permissions, background knowledge. */
const setting = wordSet(tagWords.setting)

/** Those of them that are enough as the only word of a name; the others are common in a person's own markup. */
const settingAlone = wordSet(tagWords.settingAlone)

/** Words in the tag names of requests and events: a tag with one of these is conversation. */
const spoken = wordSet(tagWords.spoken)

function isSetting(name: string): boolean {
  const words = nameWords(name)
  if (words.some((word) => spoken.has(word))) return false
  return words.some((word) => (words.length === 1 ? settingAlone : setting).has(word))
}

/** Matches an opening tag with its attributes: `<system-reminder>`, `<context source="a.md">`, `<permissions instructions>`. */
const openingTag = /^<([A-Za-z][\w.:-]*(?: [\w-]+)?)(?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*>/
/** Maximum length of an opening tag; its end is not searched for beyond this. */
const maxTagLength = 512
const headingOfFile = /^#{1,6} [^\n]{0,400}?([\w.-]+\.mdc?)\b[^\n]*\n/
/** Matches a delimiter line: `[MEMORY START]`, `--- Context from: a.md ---`. */
const ruledLine = /^(?:\[.{1,400}\]|[-=*]{3,80} .{1,400} [-=*]{3,80})$/

/**
 * Returns the name of the document if a text consists only of documents wrapped by a harness: tagged blocks with white space between them,
 * such blocks under a heading that names a file, or lines between a pair of delimiter lines. A text that only mentions such a tag, or has
 * words of its own next to it, is conversation.
 */
export function documentName(text: string): string | undefined {
  const start = skipBlank(text, 0)
  if (sentInside(text) !== undefined) return undefined
  if (text[start] === "<") return taggedName(text, start)
  if (text[start] === "#") {
    const heading = headingOfFile.exec(text.slice(start, start + 1000))
    const body = heading === null ? text.length : skipBlank(text, start + heading[0].length)
    return heading === null || taggedName(text, body) === undefined ? undefined : heading[1]
  }
  return "[-=*".includes(text.charAt(start)) ? ruledName(text.slice(start).trimEnd()) : undefined
}

/** Returns what the user wrote while the agent was at work, which a client hands over inside a reminder of its own. */
export function sentInside(text: string): string | undefined {
  if (!text.includes("following message:")) return undefined
  return sentMessage.exec(text)?.[2]
}
const sentMessage =
  /^\s{0,8}<(system[-_]reminder)>\s{0,8}The user sent the following message:\s{0,8}(\S[\s\S]*?)(?:\n\s{0,8}\n(?:Please address|IMPORTANT: After completing)[^\n]{0,200})?\s{0,8}<\/\1>\s*$/

function taggedName(text: string, start: number): string | undefined {
  const document = leadingDocument(text, start)
  return document?.end === text.length ? document.name : undefined
}

/** Returns the name of the documents with which a text begins, as blocks between a harness's tags, and where the words after them begin. */
export function leadingDocument(
  text: string,
  start = skipBlank(text, 0),
): { readonly name: string; readonly end: number } | undefined {
  let first: string | undefined
  let at = start
  while (at < text.length) {
    const tag = openingTag.exec(text.slice(at, at + maxTagLength))
    const name = tag?.[1]
    if (tag === null || name === undefined || !isSetting(name)) break
    const closing = `</${name}>`
    const end = text.indexOf(closing, at + tag[0].length)
    if (end < 0) break
    first ??= name
    at = skipBlank(text, end + closing.length)
  }
  return first === undefined ? undefined : { name: first, end: at }
}

function ruledName(text: string): string | undefined {
  const opening = text.slice(0, Math.max(0, text.indexOf("\n"))).trimEnd()
  const closing = text.slice(text.lastIndexOf("\n") + 1)
  if (!ruledLine.test(opening) || !ruledLine.test(closing)) return undefined
  if (text.indexOf(closing) !== text.length - closing.length) return undefined
  const label = labelOf(opening).replace(/^begin (?:of )?| (?:start|begin)$/g, "")
  const end = labelOf(closing).replace(/^end (?:of )?| end$/g, "")
  const marked = labelOf(closing) !== end
  const [name] = label.split(":")
  return marked && label === end && name !== undefined && isSetting(name) ? label : undefined
}

const labelOf = (line: string): string => line.replace(/^[[\-=*\s]+|[\]\-=*\s]+$/g, "").toLowerCase()

const skipBlank = (text: string, from: number): number => {
  let at = from
  while (at < text.length && /\s/.test(text.charAt(at))) at++
  return at
}
