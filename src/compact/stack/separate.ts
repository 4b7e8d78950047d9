import { nameWords, wordSet } from "../../language/word-forms.ts"
import type { Message, Part, Tool, Transcript, Wire } from "../../message/message.ts"
import { createRecall } from "../../message/recall.ts"
import { hashData, hashText } from "../../message/sha256.ts"
import { type Marker, markersIn, type RequestPieces } from "./breakpoints.ts"
import tagWords from "./tag-words.json" with { type: "json" }

/** A document that the client's harness put among the user's words; `part` is marked as one, and so instructs no one. */
export type InjectedDocument = {
  readonly name: string
  readonly hash: string
  readonly part: Part
  readonly place: Place
}

type Place = { readonly message: number; readonly part: number }

/** What is there on every call and no one's turn. It is never shown to a summarizer and returns to its place unchanged. */
export type Infrastructure = {
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  /** System and developer messages before the first answer, and lists of tools wherever they stand. */
  readonly messages: readonly Message[]
  readonly documents: readonly InjectedDocument[]
}

export type Separation = {
  readonly request: RequestPieces
  readonly infrastructure: Infrastructure
  readonly conversation: Transcript
  /** All documents among the user's words: those that were lifted, and later ones, which stay in their turn. */
  readonly found: readonly InjectedDocument[]
  /** The documents that were known to have opened the session, by hash. */
  readonly standing: ReadonlySet<string>
  /** Where the client put its cache markers. */
  readonly breakpoints: readonly Marker[]
}

/**
 * Part a request into what stands and what was said. Documents are lifted out of the turn that opens the session; later ones are
 * news: they stay in their turn, marked as documents, and age with it. `standing` names by hash the documents that opened this
 * session once: they are lifted wherever a client puts them again after its own compaction. Of a request that goes on from one that was
 * parted, only what is new is looked at.
 */
export function separate(
  request: RequestPieces,
  { standing = new Set() }: { readonly standing?: ReadonlySet<string> } = {},
): Separation {
  const parted = partOf(request.messages, standing)
  return separationOf(request, wholeOf(parted), parted)
}

/**
 * The separation of a request that was made from a separated one: under other ids, with a message of ours, rejoined, repaired. What was
 * told apart stays apart; no text is read again.
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
  const made = partFrom(messages, standing, { found: still })
  if (isSame((one, other) => one.parts === other?.parts)) recall.keep(messages, made)
  return separationOf(request, wholeOf(made), made)
}

const wholeOf = ({ whole }: Parted): readonly Message[] => whole.map(({ message }) => message)

function separationOf(
  request: RequestPieces,
  whole: readonly Message[],
  { documents, conversation, found, standing }: Pick<Parted, "documents" | "conversation" | "found" | "standing">,
): Separation {
  const { system, tools } = request
  return {
    request,
    infrastructure: { system, tools, messages: whole, documents },
    conversation,
    found,
    standing,
    // Few ask for them.
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

/** The messages of a request, parted. */
type Parted = {
  readonly standing: ReadonlySet<string>
  readonly opening: number
  readonly whole: readonly { readonly message: Message; readonly at: number }[]
  readonly found: readonly InjectedDocument[]
  readonly documents: readonly InjectedDocument[]
  readonly conversation: Transcript
  /** The places of messages of which nothing is in the conversation. */
  readonly gone: readonly number[]
}

const recall = createRecall<Parted>()

function partOf(messages: Transcript, standing: ReadonlySet<string>): Parted {
  const known = recall.find(messages, (made) => isSameSet(made.standing, standing))
  const isWhole = known !== undefined && known.common === messages.length && known.of.length === messages.length
  if (isWhole) return known.made
  // A turn ends before each answer, and nothing behind that changes what was found before it.
  const from = known === undefined ? -1 : lastAnswer(messages, known.common)
  const made = known === undefined || from < 0 ? partFrom(messages, standing) : partOn(messages, known.made, from)
  recall.keep(messages, made)
  return made
}

/** Where the last answer of the first messages stands; -1 if there is none. */
function lastAnswer(messages: Transcript, length: number): number {
  for (let at = length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message !== undefined && isAnswer(message)) return at
  }
  return -1
}

/** The messages from a place on; `before` is what was parted up to there. */
function partFrom(
  messages: Transcript,
  standing: ReadonlySet<string>,
  { from = 0, before, found = findDocuments(messages, from) }: PartFrom = {},
): Parted {
  const opening = before?.opening ?? openingEnd(messages)
  const whole: Parted["whole"] = messages
    .slice(from)
    .flatMap((message, n) =>
      isToolList(message) || (message.role === "system" && from + n < opening) ? { message, at: from + n } : [],
    )
  const documents = found.filter(({ place, hash }) => place.message < opening || standing.has(hash))
  const wholes = new Set([...(before?.whole ?? []), ...whole].map(({ message }) => message))
  const { conversation, gone } = withoutInfrastructure(messages, from, wholes, found, new Set(documents))
  // A copy: the caller's set may grow.
  return { standing: new Set(standing), opening, whole, found, documents, conversation, gone }
}

type PartFrom = {
  readonly from?: number
  readonly before?: Parted
  readonly found?: readonly InjectedDocument[]
}

/** What was parted before this place, and the rest anew. */
function partOn(messages: Transcript, before: Parted, from: number): Parted {
  const rest = partFrom(messages, before.standing, { from, before })
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

/** Documents, turn by turn, from where a turn begins on. In each turn someone speaks: where all of it looks injected, the last part is taken as the user's own. */
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

/** The messages without what was lifted, later documents marked; a message that nothing was found in stays the same object. */
function withoutInfrastructure(
  messages: Transcript,
  from: number,
  whole: ReadonlySet<Message>,
  found: readonly InjectedDocument[],
  lifted: ReadonlySet<InjectedDocument>,
): Pick<Parted, "conversation" | "gone"> {
  const byMessage = Map.groupBy(found, ({ place }) => place.message)
  const gone: number[] = []
  const conversation: Message[] = []
  for (let n = from; n < messages.length; n++) {
    const message = messages[n]
    if (message === undefined) break
    const left = whole.has(message) ? undefined : withoutDocuments(message, byMessage.get(n), lifted)
    if (left === undefined) gone.push(n)
    else conversation.push(left)
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
 * What a request's infrastructure says, as one hash: equal over all requests of a conversation until its instructions, tools or
 * documents change. Cache markers, text or list form, and volatile lines are left out.
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

/** A line for the provider's books in the form of a header, such as `x-anthropic-billing-header: …`; it changes from call to call. */
export const isVolatile = (part: Part): boolean =>
  part.type === "text" && part.text.length < 1000 && /^\s*x-[a-z\d-]+:[^\n]*\s*$/i.test(part.text)

function withoutMarker(wire: Wire | undefined): unknown {
  if (wire === undefined) return undefined
  const block: unknown = JSON.parse(wire)
  if (typeof block !== "object" || block === null || Array.isArray(block)) return block
  return Object.entries(block).filter(([name]) => name !== "cache_control")
}

/** Words in the names of what a harness puts beside a person's words: where the agent is, what it may do, what it should know. */
const setting = wordSet(tagWords.setting)

/** Those of them that say it alone; the others are common in a person's own markup. */
const settingAlone = wordSet(tagWords.settingAlone)

/** Words in the names of what a person asks, or of what happened since: with one of these it is conversation. */
const spoken = wordSet(tagWords.spoken)

function isSetting(name: string): boolean {
  const words = nameWords(name)
  if (words.some((word) => spoken.has(word))) return false
  return words.some((word) => (words.length === 1 ? settingAlone : setting).has(word))
}

/** An opening tag with its attributes: `<system-reminder>`, `<context source="a.md">`, `<permissions instructions>`. */
const openingTag = /^<([A-Za-z][\w.:-]*(?: [\w-]+)?)(?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*>/
/** No opening tag is longer; the rest of a text is not searched for its end. */
const maxTagLength = 512
const headingOfFile = /^#{1,6} [^\n]{0,400}?([\w.-]+\.mdc?)\b[^\n]*\n/
/** `[MEMORY START]`, `--- Context from: a.md ---`. */
const ruledLine = /^(?:\[.{1,400}\]|[-=*]{3,80} .{1,400} [-=*]{3,80})$/

/**
 * The name of the document that a text is, if it is nothing but documents that a harness wrapped: tagged blocks and white space
 * between them, such blocks under a heading that names a file, or lines between a ruled pair. A text that only mentions such a tag,
 * or has a word of its own beside it, is conversation.
 */
export function documentName(text: string): string | undefined {
  const start = skipBlank(text, 0)
  if (text[start] === "<") return taggedName(text, start)
  if (text[start] === "#") {
    const heading = headingOfFile.exec(text.slice(start, start + 1000))
    const body = heading === null ? text.length : skipBlank(text, start + heading[0].length)
    return heading === null || taggedName(text, body) === undefined ? undefined : heading[1]
  }
  return "[-=*".includes(text.charAt(start)) ? ruledName(text.slice(start).trimEnd()) : undefined
}

function taggedName(text: string, start: number): string | undefined {
  let first: string | undefined
  for (let at = start; at < text.length; ) {
    const tag = openingTag.exec(text.slice(at, at + maxTagLength))
    const name = tag?.[1]
    if (tag === null || name === undefined || !isSetting(name)) return undefined
    const closing = `</${name}>`
    const end = text.indexOf(closing, at + tag[0].length)
    if (end < 0) return undefined
    first ??= name
    at = skipBlank(text, end + closing.length)
  }
  return first
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
