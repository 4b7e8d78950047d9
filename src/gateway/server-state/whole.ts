import { createHash, hash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { type Format, type Message, type ModelRequest, wireText } from "../../message/message.ts"
import { codecs } from "../../wire/codecs.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { isObject, overlay, tryParse, write } from "../../wire/json.ts"
import { bodyFields } from "../identity/identity.ts"

/** A request with everything that it stands for: what the provider holds, what it names by id, what a compaction of ours holds. */
export type FullHistory = {
  /** As the client sent it. */
  readonly request: ModelRequest
  /** The body as it would be if the client carried all of it itself. The client's own text where it does. */
  readonly text: string
  /** What it goes on from. */
  readonly before?: ResponseChain
  readonly expanded: readonly Expanded[]
  /** Is the provider to keep the answer, so that the client may go on from it? */
  readonly stores: boolean
}

export function fullHistoryOf(request: ModelRequest, before: ResponseChain | undefined, items: Items): FullHistory {
  const expanded = expandElements(elementTexts(request), request.format === "openai-responses" ? items : noItems)
  const stores = storesAnswer(request)
  const isPlain = before === undefined && expanded.every(({ type }) => type === "itself")
  if (isPlain) return { request, text: request.wire, expanded, stores }
  const text = bodyOf(request, before, [...(before?.elements ?? []), ...expanded.flatMap(({ texts }) => texts)])
  return { request, text, expanded, stores, ...(before === undefined ? {} : { before }) }
}

/** Only on OpenAI Responses are items named by their ids. */
const noItems: Items = { find: () => undefined, isLost: () => false }

/** All elements of the whole: what it goes on from, and what is new. */
export const wholeElements = ({ before, expanded }: FullHistory): readonly string[] => [
  ...(before?.elements ?? []),
  ...expanded.flatMap(({ texts }) => texts),
]

function bodyOf(request: ModelRequest, before: ResponseChain | undefined, elements: readonly string[]): string {
  if (request.format === "anthropic-messages")
    return withElements(request.format, before?.frame ?? request.wire, elements)
  const wire =
    before === undefined ? request.wire : overlay(wireText(request.wire), { previous_response_id: undefined })
  return withElements(request.format, wire, elements)
}

/** Responses are kept unless the client says otherwise; of Anthropic's messages only those of a thread are. */
export function storesAnswer(request: ModelRequest): boolean {
  const fields = bodyFields(request)
  if (request.format === "openai-responses") return fields.store !== false
  return request.format === "anthropic-messages" && isObject(fields.thread)
}

/** The last element asks for the conversation to be compacted. */
export function asksToCompact({ format, messages }: ModelRequest): boolean {
  const [only] = messages.at(-1)?.parts ?? []
  return format === "openai-responses" && only?.type === "opaque" && only.kind === "compaction_trigger"
}

/** The whole without the element that asks for a compaction. */
export function withoutTrigger(whole: FullHistory): FullHistory {
  if (!asksToCompact(whole.request)) return whole
  const expanded = whole.expanded.slice(0, -1)
  const text = bodyOf(whole.request, whole.before, wholeElements({ ...whole, expanded }))
  return { ...whole, expanded, text }
}

/** The body's system part and tools, which a thread keeps, as one text. */
export function frameText(wire: string): string {
  const body = tryParse(wire)
  return isObject(body) ? JSON.stringify([body.system ?? null, body.tools ?? null]) : ""
}

/**
 * What a provider has under the id of an answer: a mark of it, if it is what was sent and answered; nothing, as it was asked to keep
 * nothing; or something else than the client has, as a call of the answer was withheld or nobody sent it.
 */
export type StoredAtProvider = Mark | "unstored" | "other"

/** A conversation up to an answer, by which clients go on from it without sending it again. */
export type ResponseChain = {
  /** All of it as the client has it: every element that it sent, with nothing left as a reference, and every answer. */
  readonly elements: readonly string[]
  readonly upstream: StoredAtProvider
  /** Does the session's log have every element, so that it can be had again from there? */
  readonly logged: boolean
  /** The body that opened an Anthropic thread: its system part and tools are not sent again. */
  readonly frame?: string
}

/** What a provider holds, told by how many elements it is and a hash of them all. */
type Mark = { readonly count: number; readonly hash: string }

/** The mark of elements, each verbatim; `frame` is what else the provider holds with them. */
export function markOf(elements: readonly string[], frame = ""): Mark {
  const sum = createHash("sha256")
  for (const text of [frame, ...elements]) sum.update(`${text.length} `).update(text)
  return { count: elements.length, hash: sum.digest("hex").slice(0, 32) }
}

export const isSameMark = (one: Mark, other: Mark): boolean => one.count === other.count && one.hash === other.hash

export const writeMark = ({ count, hash }: Mark): string => `${count}.${hash}`

export function readMark(text: string): Mark | undefined {
  const [, count, hash] = /^(\d{1,9})\.([0-9a-f]{32})$/.exec(text) ?? []
  return count === undefined || hash === undefined ? undefined : { count: Number(count), hash }
}

/** The elements of a request's list as texts, one for each of its messages. */
export const elementTexts = ({ wire, layout }: Pick<ModelRequest, "wire" | "layout">): readonly string[] =>
  (layout.messages?.elements ?? []).map(({ start, end }) => asElement(wire.slice(start, end)))

/** Messages as elements of a list. */
export const messageTexts = (format: Format, messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) => codecs[format].writeMessage(message).map(asElement))

/** On OpenAI Responses a bare text may be the whole input; in a list it is the message that it stands for. */
const asElement = (text: string): string => (text.startsWith('"') ? `{"role":"user","content":${text}}` : text)

/** A body with another list of elements; all else in it stays verbatim. */
export function withElements(format: Format, wire: string, elements: readonly string[]): string {
  const { layout } = decodeRequest(format, wire)
  const [name = ""] = codecs[format].names.messages
  if (layout.messages === undefined)
    return withElements(format, overlay(wireText(wire), { [name]: write([]) }), elements)
  const { start, end } = layout.messages
  return `${wire.slice(0, start)}[${elements.join(",")}]${wire.slice(end)}`
}

/**
 * An element of a client's list, and all that it stands for: itself, the item that it names, such an item that the provider has lost,
 * or what a compaction of ours holds.
 */
type Expanded = {
  readonly own: string
  readonly texts: readonly string[]
  readonly type: "itself" | "reference" | "lost" | "compaction"
}

/** Where items are found by their ids. */
export type Items = {
  readonly find: (id: string) => string | undefined
  readonly isLost: (id: string) => boolean
}

/** Write out references to items that are known, and compactions of ours. What is another's stays verbatim. */
function expandElements(elements: readonly string[], { find, isLost }: Items): readonly Expanded[] {
  return elements.map((own): Expanded => {
    const id = referenceId(own)
    const item = id === undefined ? undefined : find(id)
    if (id !== undefined && item !== undefined) return { own, texts: [item], type: isLost(id) ? "lost" : "reference" }
    const content = compactionContent(own)
    const texts = content === undefined ? undefined : unpackElements(content)
    return texts === undefined ? { own, texts: [own], type: "itself" } : { own, texts, type: "compaction" }
  })
}

/** The item that a reference names; nothing for any other element. */
export function referenceId(element: string): string | undefined {
  if (element.length > maxReference || !element.includes("item_reference")) return undefined
  const read = tryParse(element)
  return isObject(read) && read.type === "item_reference" && typeof read.id === "string" ? read.id : undefined
}

/** A reference has a type and an id. */
const maxReference = 2000

/**
 * A compaction item of ours. What it stands for is in it, so that any replica reads it at any time, with or without its store; nothing
 * is fetched by it, so that it opens nobody else's conversation. It has a checksum and no secret: it says nothing that its bearer could
 * not say in a message, for all that comes out of it is spoken by user and assistant.
 */
const opening = "holdfast-1."

/** What an item may come to: more than any window holds. */
const maxLength = 64 * 1024 * 1024

/** The `encrypted_content` of an item that stands for these elements: the same ones give the same text. */
export function packElements(elements: readonly string[]): string {
  const packed = deflateRawSync(JSON.stringify(elements)).toString("base64url")
  return `${opening}${checkOf(packed)}.${packed}`
}

const checkOf = (packed: string): string => hash("sha256", packed, "hex").slice(0, 32)

/** The elements that an item of ours stands for; nothing if it is another's, or is not what it was. */
export function unpackElements(content: string): readonly string[] | undefined {
  const [check, packed] = content.startsWith(opening) ? content.slice(opening.length).split(".", 2) : []
  if (check === undefined || packed === undefined || check !== checkOf(packed)) return undefined
  const read = tryParse(inflate(packed))
  if (!Array.isArray(read)) return undefined
  const elements = read.filter((text): text is string => typeof text === "string" && isSpoken(text))
  return elements.length === read.length ? elements : undefined
}

function inflate(packed: string): string {
  try {
    return inflateRawSync(Buffer.from(packed, "base64url"), { maxOutputLength: maxLength }).toString("utf8")
  } catch {
    return ""
  }
}

/** An item of a conversation that nobody but user, assistant or tool speaks. */
function isSpoken(text: string): boolean {
  const element = tryParse(text)
  return isObject(element) && element.role !== "system" && element.role !== "developer"
}

/** The content of a compaction item, ours or not; nothing for any other element. */
export function compactionContent(element: string): string | undefined {
  if (!element.includes('"compaction')) return undefined
  const item = tryParse(element)
  const isItem = isObject(item) && (item.type === "compaction" || item.type === "compaction_summary")
  return isItem && typeof item.encrypted_content === "string" ? item.encrypted_content : undefined
}

/** A response id of ours: no upstream has ever heard of it. */
const responseOpening = "resp_holdfast_"

export const ownResponseId = (seed: string): string => `${responseOpening}${hash("sha256", seed, "hex").slice(0, 32)}`

export const isOwnResponseId = (id: string): boolean => id.startsWith(responseOpening)

export const compactionItem = (content: string) =>
  ({
    type: "compaction",
    id: `cmp_${hash("sha256", content, "hex").slice(0, 32)}`,
    encrypted_content: content,
  }) as const
