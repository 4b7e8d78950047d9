import { createHash, hash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { type Format, type Message, type ModelRequest, wireText } from "../../message/message.ts"
import { codecs } from "../../wire/codecs.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { overlay, write } from "../../wire/json-write.ts"
import { bodyFields } from "../identity/identity.ts"

/** A request with its full history: what the provider stores, the items it refers to, and the content of our compaction items. */
export type FullHistory = {
  /** The request as the client sent it. */
  readonly request: ModelRequest
  /** The body as if the client had sent the full history. It is the client's own text if it did. */
  readonly text: string
  /** The stored conversation that the request continues. */
  readonly before?: ResponseChain
  readonly expanded: readonly ExpandedElement[]
  /** True if the provider stores the response, so that the client may continue from it. */
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

/** Only OpenAI Responses has references to items by id. */
const noItems: Items = { find: () => undefined, isLost: () => false }

/** All elements of the full history: those that the request continues, and the new ones. */
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

/** True if the provider stores the response: OpenAI does unless the client opts out, Anthropic only in a thread. */
export function storesAnswer(request: ModelRequest): boolean {
  const fields = bodyFields(request)
  if (request.format === "openai-responses") return fields.store !== false
  return request.format === "anthropic-messages" && isObject(fields.thread)
}

/** True if the last element is a request to compact the conversation. */
export function asksToCompact({ format, messages }: ModelRequest): boolean {
  const [only] = messages.at(-1)?.parts ?? []
  return format === "openai-responses" && only?.type === "opaque" && only.kind === "compaction_trigger"
}

/** The full history without the element that requests the compaction. */
export function withoutTrigger(whole: FullHistory): FullHistory {
  if (!asksToCompact(whole.request)) return whole
  const expanded = whole.expanded.slice(0, -1)
  const text = bodyOf(whole.request, whole.before, wholeElements({ ...whole, expanded }))
  return { ...whole, expanded, text }
}

/** The body's system part and tools, which an Anthropic thread stores, as one text. */
export function frameText(wire: string): string {
  const body = tryParse(wire)
  return isObject(body) ? JSON.stringify([body.system ?? null, body.tools ?? null]) : ""
}

/**
 * What a provider stores under a response id: a mark of the conversation if it is what was sent and received; `unstored` if it was asked to
 * store nothing; `other` if it differs from what the client has, because a tool call was withheld or the gateway itself responded.
 */
export type StoredAtProvider = Mark | "unstored" | "other"

/** A conversation up to a response, which a client can continue without sending it again. */
export type ResponseChain = {
  /** The conversation as the client has it: every element it sent, with references written out, and every response. */
  readonly elements: readonly string[]
  readonly upstream: StoredAtProvider
  /** True if the session's log has every element, so that the conversation can be rebuilt from it. */
  readonly logged: boolean
  /** The body that opened an Anthropic thread: its system part and tools are not sent again. */
  readonly frame?: string
}

/** Identifies a stored conversation by its number of elements and a hash over them. */
type Mark = { readonly count: number; readonly hash: string }

/** The mark of these elements, compared verbatim; `frame` is what else the provider stores with them. */
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

export const elementTexts = ({ wire, layout }: Pick<ModelRequest, "wire" | "layout">): readonly string[] =>
  (layout.messages?.elements ?? []).map(({ start, end }) => asElement(wire.slice(start, end)))

export const messageTexts = (format: Format, messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) => codecs[format].writeMessage(message).map(asElement))

/** In OpenAI Responses the input may be a plain string; in a list it becomes a user message. */
const asElement = (text: string): string => (text.startsWith('"') ? `{"role":"user","content":${text}}` : text)

/** Replaces a body's list of elements; the rest stays verbatim. */
export function withElements(format: Format, wire: string, elements: readonly string[]): string {
  const { layout } = decodeRequest(format, wire)
  const [name = ""] = codecs[format].names.messages
  if (layout.messages === undefined)
    return withElements(format, overlay(wireText(wire), { [name]: write([]) }), elements)
  const { start, end } = layout.messages
  return `${wire.slice(0, start)}[${elements.join(",")}]${wire.slice(end)}`
}

/**
 * An element of a client's list, and what it expands to: itself, the item that it refers to, such an item that the provider has lost, or
 * the content of a compaction item of the gateway.
 */
type ExpandedElement = {
  readonly own: string
  readonly texts: readonly string[]
  readonly type: "itself" | "reference" | "lost" | "compaction"
}

export type Items = {
  readonly find: (id: string) => string | undefined
  readonly isLost: (id: string) => boolean
}

/** Writes out references to known items and the gateway's compaction items. Other items stay verbatim. */
function expandElements(elements: readonly string[], { find, isLost }: Items): readonly ExpandedElement[] {
  return elements.map((own): ExpandedElement => {
    const id = referenceId(own)
    const item = id === undefined ? undefined : find(id)
    if (id !== undefined && item !== undefined) return { own, texts: [item], type: isLost(id) ? "lost" : "reference" }
    const content = compactionContent(own)
    const texts = content === undefined ? undefined : unpackElements(content)
    return texts === undefined ? { own, texts: [own], type: "itself" } : { own, texts, type: "compaction" }
  })
}

/** The id that an item reference contains; undefined for any other element. */
export function referenceId(element: string): string | undefined {
  if (element.length > maxReference || !element.includes("item_reference")) return undefined
  const read = tryParse(element)
  return isObject(read) && read.type === "item_reference" && typeof read.id === "string" ? read.id : undefined
}

/** Longest text that can be a reference, which has only a type and an id. */
const maxReference = 2000

/**
 * Prefix of the gateway's compaction items. An item contains the elements it replaces, so every replica can read it without the store.
 * Nothing is looked up by it, so it cannot open another client's conversation. It has a checksum but no signature: it expands only to user,
 * assistant and tool items, so it says nothing that its sender could not say in a message.
 */
const opening = "holdfast-1."

/** Size limit of an unpacked item: more than fits into any window. */
const maxLength = 64 * 1024 * 1024

/** The `encrypted_content` of an item that replaces these elements; the same elements give the same text. */
export function packElements(elements: readonly string[]): string {
  const packed = deflateRawSync(JSON.stringify(elements)).toString("base64url")
  return `${opening}${checkOf(packed)}.${packed}`
}

const checkOf = (packed: string): string => hash("sha256", packed, "hex").slice(0, 32)

/** The elements that a gateway item replaces; undefined if the item is not the gateway's or was altered. */
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

/** True for an item of the user, the assistant or a tool; false for a system or developer message. */
function isSpoken(text: string): boolean {
  const element = tryParse(text)
  return isObject(element) && element.role !== "system" && element.role !== "developer"
}

/** The content of any compaction item; undefined for other elements. */
export function compactionContent(element: string): string | undefined {
  if (!element.includes('"compaction')) return undefined
  const item = tryParse(element)
  const isItem = isObject(item) && (item.type === "compaction" || item.type === "compaction_summary")
  return isItem && typeof item.encrypted_content === "string" ? item.encrypted_content : undefined
}

/** Prefix of response ids that the gateway makes; no upstream knows them. */
const responseOpening = "resp_holdfast_"

export const ownResponseId = (seed: string): string => `${responseOpening}${hash("sha256", seed, "hex").slice(0, 32)}`

export const isOwnResponseId = (id: string): boolean => id.startsWith(responseOpening)

export const compactionItem = (content: string) =>
  ({
    type: "compaction",
    id: `cmp_${hash("sha256", content, "hex").slice(0, 32)}`,
    encrypted_content: content,
  }) as const
