import type { Message, MessageId, Part, Tool, Transcript, Wire } from "../../message/message.ts"
import { createRecall } from "../../message/recall.ts"
import { hashData, hashText } from "../../message/sha256.ts"
import { type Marker, markersIn, type RequestPieces } from "./breakpoints.ts"
import { documentName } from "./document.ts"

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
 * Put infrastructure and conversation together again. An unchanged conversation gives the very pieces of the request; in a changed
 * one every lifted piece stands, unaltered, before the first thing that came after it, and so before any summary of what it led.
 */
export function rejoin(separation: Separation, conversation: Transcript = separation.conversation): RequestPieces {
  const { request, infrastructure } = separation
  if (conversation === separation.conversation) return request
  const origins = originsOf(separation)
  const places = conversation.map(({ id }) => origins.get(id)?.at)
  const kept = new Set(conversation.map(({ id }) => id))
  const whole = new Set(infrastructure.messages)
  const alone = request.messages.flatMap((message, at): readonly Lifted<Message>[] => {
    const lifted = origins.get(message.id)?.lifted ?? []
    if (whole.has(message)) return [{ at, item: message }]
    if (lifted.length === 0 || kept.has(message.id)) return []
    const parts = lifted.map(({ item }) => item)
    return [{ at, item: parts.length === message.parts.length ? message : { ...message, parts } }]
  })
  const restored = conversation.map((message) => restore(message, origins.get(message.id)))
  return { system: request.system, tools: request.tools, messages: weave(alone, restored, places) }
}

/** A message as the client sent it: where it stood, what was lifted out of it, and what it is in the conversation. */
type Origin = {
  readonly at: number
  readonly sent: Message
  readonly lifted: readonly Lifted<Part>[]
  readonly separated?: Message
}

function originsOf({ request, infrastructure, conversation }: Separation): ReadonlyMap<MessageId, Origin> {
  const documents = Map.groupBy(infrastructure.documents, ({ place }) => place.message)
  const separated = new Map(conversation.map((message) => [message.id, message]))
  return new Map(
    request.messages.map((sent, at): [MessageId, Origin] => {
      const lifted = (documents.get(at) ?? []).flatMap(({ place }): readonly Lifted<Part>[] => {
        const item = sent.parts[place.part]
        return item === undefined ? [] : [{ at: place.part, item }]
      })
      const left = separated.get(sent.id)
      return [sent.id, { at, sent, lifted, ...(left === undefined ? {} : { separated: left }) }]
    }),
  )
}

/** The message that was sent, or, if a stage changed it, the changed one with its documents back among its parts. */
function restore(message: Message, origin: Origin | undefined): Message {
  if (origin === undefined) return message
  const { sent, lifted, separated } = origin
  if (message === separated) return sent
  if (lifted.length === 0) return message
  const gone = new Set(lifted.map(({ at }) => at))
  const left = [...sent.parts.keys()].filter((at) => !gone.has(at))
  const known = new Map(separated?.parts.map((part, n) => [part, left[n]]))
  const inPlace = message.parts.length === left.length
  const places = message.parts.map((part, n) => known.get(part) ?? (inPlace ? left[n] : undefined))
  return { ...message, parts: weave(lifted, message.parts, places) }
}

/** Something that was lifted out of a list, and where it stood. */
type Lifted<Item> = { readonly at: number; readonly item: Item }

/**
 * Put each lifted item before the first kept one that stood after it. A kept item without a place is new: it stands for what led
 * to the next one that has a place.
 */
function weave<Item>(
  lifted: readonly Lifted<Item>[],
  kept: readonly Item[],
  placesOfKept: readonly (number | undefined)[],
): readonly Item[] {
  const places = [...placesOfKept]
  let next = Number.POSITIVE_INFINITY
  for (let n = places.length - 1; n >= 0; n--) {
    next = places[n] ?? next
    places[n] = next
  }
  const woven: Item[] = []
  let done = 0
  for (const [n, item] of kept.entries()) {
    const before = places[n] ?? next
    for (let piece = lifted[done]; piece !== undefined && piece.at < before; piece = lifted[++done]) {
      woven.push(piece.item)
    }
    woven.push(item)
  }
  return [...woven, ...lifted.slice(done).map(({ item }) => item)]
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
