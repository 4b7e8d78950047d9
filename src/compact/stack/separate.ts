import { hashText } from "../../message/hash-data.ts"
import type { Message, Transcript } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { createRecall } from "../../message/recall.ts"
import type { Tool } from "../../message/request.ts"
import { type Marker, markersIn, type RequestPieces } from "./breakpoint.ts"
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
  const { messages, system, tools } = request
  const { conversation, ...found } = partOf(messages, standing)
  return {
    request,
    infrastructure: { system, tools, messages: found.whole.map(({ message }) => message), documents: found.documents },
    conversation,
    // Few ask for them.
    get breakpoints() {
      return markersIn(request)
    },
  }
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
function partFrom(messages: Transcript, standing: ReadonlySet<string>, from = 0, before?: Parted): Parted {
  const opening = before?.opening ?? openingEnd(messages)
  const whole: Parted["whole"] = messages
    .slice(from)
    .flatMap((message, n) =>
      isToolList(message) || (message.role === "system" && from + n < opening) ? { message, at: from + n } : [],
    )
  const found = findDocuments(messages, from)
  const documents = found.filter(({ place, hash }) => place.message < opening || standing.has(hash))
  const wholes = new Set([...(before?.whole ?? []), ...whole].map(({ message }) => message))
  const { conversation, gone } = withoutInfrastructure(messages, from, wholes, found, new Set(documents))
  // A copy: the caller's set may grow.
  return { standing: new Set(standing), opening, whole, found, documents, conversation, gone }
}

/** What was parted before this place, and the rest anew. */
function partOn(messages: Transcript, before: Parted, from: number): Parted {
  const rest = partFrom(messages, before.standing, from, before)
  const gone = before.gone.filter((at) => at < from)
  const isBefore = ({ place }: InjectedDocument): boolean => place.message < from
  return {
    standing: rest.standing,
    opening: before.opening,
    whole: [...before.whole.filter(({ at }) => at < from), ...rest.whole],
    found: [...before.found.filter(isBefore), ...rest.found],
    documents: [...before.documents.filter(isBefore), ...rest.documents],
    conversation: [...before.conversation.slice(0, from - gone.length), ...rest.conversation],
    gone: [...gone, ...rest.gone],
  }
}

const isSameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((item) => other.has(item))

const toolLists: ReadonlySet<string> = new Set(["additional_tools", "mcp_list_tools"])

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
