import type { Message, ModelRequest, Part, Transcript } from "../../message/message.ts"
import { messageKey } from "../../session/own-compaction.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type BodyFields, objectIn, textField } from "./identity.ts"
import { digest } from "./names.ts"

/** A request's messages as marks: each stands for all that was said up to a place. */
export type History = {
  /** All that was said. */
  readonly whole: string
  /** Up to each message, the last included. */
  readonly marks: readonly string[]
  /** Up to the last answer, if there is one, and how many messages that is. */
  readonly answered?: { readonly mark: string; readonly messages: number }
  /** Up to what the last answer answers. */
  readonly asked?: string
  /** Newest first, at most `maxAnchors`. */
  readonly anchors: readonly string[]
  /** The newest answers, newest first. */
  readonly answers: Transcript
}

/** Only the newest are asked for: whoever rewrites a history keeps its end. */
const maxAnchors = 16
const maxAnswers = 4

const beginning = "-"

/** A system message before the first turn, or a list of tools: it belongs to the frame, and is no one's turn. */
export const isFrame = ({ role, parts }: Message, spoken: boolean): boolean =>
  (role === "system" && !spoken) ||
  (parts.length > 0 && parts.every((part) => part.type === "opaque" && isToolList(part.kind)))

export const isToolList = (kind: string): boolean => kind === "additional_tools" || kind === "mcp_list_tools"

export function readHistory({ messages }: ModelRequest): History {
  const marks: string[] = []
  let mark = beginning
  let asked: string | undefined
  let answered: History["answered"]
  let spoken = false
  let answering = false
  const answers: Message[] = []
  for (const [n, message] of messages.entries()) {
    if (isFrame(message, spoken)) continue
    const isAnswer = message.role === "assistant"
    if (isAnswer && !answering && spoken) asked = mark
    spoken = true
    answering = isAnswer
    mark = markAfter(mark, message)
    marks.push(mark)
    if (isAnswer) {
      answered = { mark, messages: n + 1 }
      answers.push(message)
    }
  }
  return {
    whole: mark,
    marks,
    ...(answered === undefined ? {} : { answered }),
    ...(asked === undefined || answered === undefined ? {} : { asked }),
    anchors: newestAnchors(messages),
    answers: answers.slice(-maxAnswers).toReversed(),
  }
}

/** Did it go through this place? The last places are looked at first: a conversation mostly goes on from there. */
export const holds = ({ marks }: History, mark: string): boolean => marks.lastIndexOf(mark) >= 0

const known = new WeakMap<Message, { readonly before: string; readonly after: string }>()

/** The mark of a history with one more message; a message that says nothing leaves it as it is. */
export function markAfter(before: string, message: Message): string {
  const last = known.get(message)
  if (last?.before === before) return last.after
  const key = saidKey(message)
  const after = key === "" ? before : digest(before, key)
  known.set(message, { before, after })
  return after
}

function newestAnchors(messages: Transcript): readonly string[] {
  const found = new Set<string>()
  for (let n = messages.length - 1; n >= 0 && found.size < maxAnchors; n--) {
    const message = messages[n]
    if (message !== undefined) for (const anchor of anchorsOf(message).toReversed()) found.add(anchor)
  }
  return [...found].slice(0, maxAnchors)
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

/** Longer ids are looked at up to here. */
const maxId = 300
/** Of letters and digits in one piece: the shortest that providers give are nine. */
const leastPiece = 9
const leastDistinct = 4

/**
 * Is it an id that no two conversations have by chance? Clients and small servers also number their calls (`call_0`, `1`,
 * `functions.read:3`): such ids tell nothing.
 */
export function isRandomId(id: string): boolean {
  const text = id.slice(0, maxId)
  return uuid.test(text) || text.split(/[^A-Za-z0-9]+/).some(isRandomPiece)
}

/** Digits among letters, not only behind them: that would be a name with a number. */
function isRandomPiece(piece: string): boolean {
  if (piece.length < leastPiece || new Set(piece).size < leastDistinct) return false
  const trunk = piece.replace(/\d{1,300}$/, "")
  return /\d/.test(trunk) && /[A-Za-z]/.test(trunk)
}

const knownAnchors = new WeakMap<Message, readonly string[]>()

/**
 * What in a message only one conversation can have: random ids of calls and of items that the provider holds, the provider's seal on
 * a call without such an id, and what the provider wrote in place of a history. Clients that rewrite everything else send these back
 * as they are.
 */
export function anchorsOf(message: Message): readonly string[] {
  const before = knownAnchors.get(message)
  if (before !== undefined) return before
  const found = [...new Set([...itemId(message), ...message.parts.flatMap(anchorsIn)])]
  knownAnchors.set(message, found)
  return found
}

function anchorsIn(part: Part): readonly string[] {
  if (part.type === "tool-call" || part.type === "tool-result") {
    const id = isRandomId(part.callId) ? part.callId : timeIn(part.callId)
    return id === undefined ? sealOf(part.wire) : [id]
  }
  if (part.type !== "opaque") return []
  if (part.kind === "item_reference") return random(textField(objectIn(part.wire), "id"))
  return part.kind.startsWith("compaction") && part.kind !== "compaction_trigger" ? compaction(part.wire) : []
}

/** Milliseconds since 1970 at the end of an id, from 2020 to 2050, and the number of the call in its answer. */
const time = /(?:1[5-9]|2[0-4])\d{11}(?:[_-]\d{1,4})?$/

/** Some clients make up ids from the tool's name and the time, and may write another name before it later; the time stays. */
const timeIn = (id: string): string | undefined => time.exec(id.slice(-40))?.[0]

/** Shorter ones are words in the place of a seal, the same for everyone. */
const leastSeal = 64

/** Gemini's calls have short ids, or none that clients send back; the first of each answer bears a seal on the thoughts before it. */
function sealOf(wire: string | undefined): readonly string[] {
  const parsed = wire?.includes("ignature") === true ? tryParse(wire) : undefined
  const fields: BodyFields = isObject(parsed) ? parsed : {}
  const seal = textField(fields, "thoughtSignature") ?? textField(fields, "thought_signature")
  return seal === undefined || seal.length < leastSeal ? [] : [digest("seal", seal)]
}

/** Shorter texts are no history in a nutshell. */
const leastCompaction = 16

/** It comes back with its keys in another order, or with a cache marker; what it says stays. */
function compaction(wire: string): readonly string[] {
  const parsed = tryParse(wire)
  const block: BodyFields = isObject(parsed) ? parsed : {}
  const said = textField(block, "encrypted_content") ?? textField(block, "content") ?? textField(block, "id")
  return said === undefined || said.length < leastCompaction ? [] : [digest("compaction", said)]
}

/** On OpenAI Responses each item of an answer has an id, by which clients may refer to it. */
const itemId = ({ format, role, wire }: Message): readonly string[] =>
  format === "openai-responses" && role === "assistant" ? random(textField(objectIn(wire), "id")) : []

const random = (id: string | undefined): readonly string[] => (id !== undefined && isRandomId(id) ? [id] : [])

const knownKeys = new WeakMap<Message, string>()

/**
 * What a message says, as a key that stays when its client sends it back: of an answer, clients join the texts, trim them, and leave
 * the thinking out. Empty if it says nothing.
 */
export function saidKey(message: Message): string {
  const before = knownKeys.get(message)
  if (before !== undefined) return before
  const key = message.role === "assistant" ? answerKey(message) : message.parts.length === 0 ? "" : messageKey(message)
  knownKeys.set(message, key)
  return key
}

function answerKey({ parts }: Message): string {
  const text = steadyText(parts)
  const rest = parts.flatMap(otherKey)
  return text === "" && rest.length === 0 ? "" : digest("answer", text, ...rest)
}

/** Longer answers are taken as they are: nobody writes so much anew. */
const maxSpaced = 200_000

/** The words of an answer, however they are spaced. */
function steadyText(parts: readonly Part[]): string {
  const text = withoutThinking(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join(""))
  return (text.length > maxSpaced ? text : text.replace(/\s+/g, " ")).trim()
}

/** Some models think in the text itself, and clients take that out. */
function withoutThinking(text: string): string {
  const start = text.trimStart()
  const end = start.startsWith("<think>") ? start.indexOf("</think>") : -1
  return end < 0 ? text : start.slice(end + "</think>".length)
}

/** Shorter answers are given in every conversation. */
const leastTelling = 24

/** Would another conversation of the same client hardly have this answer? */
export const isTelling = (message: Message): boolean =>
  message.parts.some(({ type }) => type === "tool-call") || hasTellingWords(message)

/** The same by its words alone: many conversations begin with the same call. */
export const hasTellingWords = ({ parts }: Message): boolean => steadyText(parts).length >= leastTelling

function otherKey(part: Part): readonly unknown[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return []
    case "tool-call":
      // An id that is a place or a number may be another one when the call is sent back.
      return [isRandomId(part.callId) ? part.callId : [part.tool, part.input]]
    case "tool-result":
      return [["result", part.callId]]
    case "image":
    case "document":
    case "opaque":
    case "unknown":
      return [[part.type, part.wire?.length]]
  }
}
