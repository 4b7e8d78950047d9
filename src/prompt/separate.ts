import type { Message, Transcript } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { Tool } from "../message/request.ts"
import { type Marker, markersIn, type RequestPieces } from "./breakpoint.ts"
import { documentName } from "./document.ts"
import { hashText } from "./hash.ts"

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
 * session once: they are lifted wherever a client puts them again after its own compaction.
 */
export function separate(
  request: RequestPieces,
  { standing = new Set() }: { readonly standing?: ReadonlySet<string> } = {},
): Separation {
  const { messages, system, tools } = request
  const opening = openingEnd(messages)
  const whole = messages.filter((message, n) => isToolList(message) || (message.role === "system" && n < opening))
  const found = findDocuments(messages)
  const documents = found.filter(({ place, hash }) => place.message < opening || standing.has(hash))
  return {
    request,
    infrastructure: { system, tools, messages: whole, documents },
    conversation: withoutInfrastructure(messages, new Set(whole), found, new Set(documents)),
    breakpoints: markersIn(request),
  }
}

const toolLists: ReadonlySet<string> = new Set(["additional_tools", "mcp_list_tools"])

const isToolList = ({ parts }: Message): boolean =>
  parts.length > 0 && parts.every((part) => part.type === "opaque" && toolLists.has(part.kind))

const isAnswer = (message: Message): boolean => message.role === "assistant" && !isToolList(message)

function openingEnd(messages: Transcript): number {
  const answer = messages.findIndex(isAnswer)
  return answer < 0 ? messages.length : answer
}

/** Documents, turn by turn. In each turn someone speaks: where all of it looks injected, the last part is taken as the user's own. */
function findDocuments(messages: Transcript): readonly InjectedDocument[] {
  const found: InjectedDocument[] = []
  let turn: InjectedDocument[] = []
  let spoken = false
  const endTurn = (): void => {
    found.push(...(spoken ? turn : turn.slice(0, -1)))
    turn = []
    spoken = false
  }
  for (const [n, message] of messages.entries()) {
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
  whole: ReadonlySet<Message>,
  found: readonly InjectedDocument[],
  lifted: ReadonlySet<InjectedDocument>,
): Transcript {
  const byMessage = Map.groupBy(found, ({ place }) => place.message)
  return messages.flatMap((message, n) => {
    if (whole.has(message)) return []
    const byPart = new Map(byMessage.get(n)?.map((document) => [document.place.part, document]))
    if (byPart.size === 0) return message
    const parts = message.parts.flatMap((part, at) => {
      const document = byPart.get(at)
      if (document === undefined) return part
      return lifted.has(document) ? [] : document.part
    })
    return parts.length === 0 ? [] : { ...message, parts }
  })
}
