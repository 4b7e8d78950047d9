import { hash } from "node:crypto"
import { isVolatile, toolLists } from "../../compact/stack/separate.ts"
import { messageKey } from "../../message/lineage.ts"
import { type Message, type ModelRequest, type Part, type Transcript, textOrWire } from "../../message/message.ts"
import { createPerObject } from "../../message/recall.ts"
import { toolsSession } from "../../session/rules/pins.ts"
import { tryParse } from "../../wire/json.ts"
import type { Look, Write } from "./decision.ts"
import { fieldsOf, type Headers, type Identity, objectIn, textField } from "./identity.ts"

/** A hash of plain data: the first 128 bits of the SHA-256 of its JSON, in hex. JSON keeps different lists distinct. */
export const digest = (...data: readonly unknown[]): string =>
  hash("sha256", JSON.stringify(data).toWellFormed(), "hex").slice(0, 32)

export const ambiguous = "ambiguous"
export const unshown = "unshown"

/** The names of a tenant's agent. An agent that the client names has names of its own, so that no conversation belongs to two agents. */
export const namesFor = (tenant: string, { named }: Pick<Identity, "named">): Names =>
  namesOf(named === undefined ? tenant : digest("holdfast agent", tenant, named))

const tipKind = "t:"

/** True for names whose value changes as a conversation continues. */
export const isTip = (name: string): boolean => name.startsWith(tipKind)

/**
 * The names under which sessions are found. Each is a hash of the tenant and of what it names, so that no tenant can find another's
 * sessions, and a name contains no text of a conversation.
 */
export type Names = ReturnType<typeof namesOf>

const namesOf = (tenant: string) => ({
  /** The main conversation of a group; stored with a sample of its instructions and tools. */
  group: (base: string) => `g:${digest(tenant, base)}`,
  /** A session of a group that exists. */
  known: (session: string) => `s:${digest(tenant, session)}`,
  /** The id of a tool call, an item or a compaction; stored with `ambiguous` if two sessions had it. */
  anchor: (id: string) => `c:${digest(tenant, id)}`,
  /** A response within a group. */
  answer: (base: string, key: string) => `a:${digest(tenant, base, key)}`,
  /** The session of a group that began with these instructions and tools. */
  framed: (base: string, frame: string) => `f:${digest(tenant, base, frame)}`,
  /** A history up to a response; stored with the log entry of the response. */
  history: (frame: string, mark: string) => `h:${digest(tenant, frame, mark)}`,
  /** A request; stored with whether it was answered. */
  asked: (frame: string, mark: string) => `o:${digest(tenant, frame, mark)}`,
  /**
   * A line of a response that the client may send back as a summary; stored with the session's mark at that time, whether only the client
   * program saw it, and how many lines of the response are stored.
   */
  told: (frame: string, line: string) => `l:${digest(tenant, frame, line)}`,
  /** A line of a session without an id, to find a request that has the conversation as text; `ambiguous` if two sessions had it. */
  said: (line: string) => `w:${digest(tenant, line)}`,
  /** The newest response of a session without an id; stored with the mark of its request, and the key of the message right before it. */
  newest: (key: string) => `n:${digest(tenant, key)}`,
  /** A response of a session without an id that a request continued; stored with that request's mark and the key of its last message. */
  goneOn: (frame: string, key: string) => `b:${digest(tenant, frame, key)}`,
  /** The last request of a session without an id; stored with its mark and its frame. */
  tip: (session: string) => `${tipKind}${digest(tenant, session)}`,
  /** The last side call of a session with these instructions; stored with the session's mark at that time and with its own mark. */
  aside: (session: string, frame: string) => `${tipKind}${digest(tenant, session, frame)}`,
  /** A response by the provider's id; stored with its log entry. */
  response: (id: string) => `r:${digest(tenant, id)}`,
  /** A response by the provider's id; stored with the mark of its request. */
  responseTo: (id: string) => `q:${digest(tenant, id)}`,
})

type Lookup = { readonly look: Look; readonly names: Names }

/** The last request of a session: the marks of its history, its frame, and its tools (absent in stores of older versions). */
export type Tip = { readonly mark: string; readonly frame: string; readonly tools?: string | undefined }

/** The last request of a session; undefined for sessions of a client's id. */
export function tipOf({ look, names }: Lookup, session: string): Tip | undefined {
  const [mark, frame, tools] = look(names.tip(session))?.entry?.split(".") ?? []
  return mark === undefined || frame === undefined ? undefined : { mark, frame, tools }
}

/** The write of a name that is one session's newest. If it is also another session's newest name, it identifies neither session. */
export function claim(from: Lookup, write: Write): Write {
  const known = from.look(write.name)
  if (known === undefined || known.session === write.session) return write
  const tip = tipOf(from, known.session)
  const isTaken = known.entry === ambiguous || (tip !== undefined && known.entry?.startsWith(`${tip.mark}.`) === true)
  return isTaken ? { ...write, session: known.session, entry: ambiguous } : write
}

/** Claims for this session the anchors of a request that no session has yet. */
export const unseenAnchors = (
  { history, names, look }: Lookup & { readonly history: History },
  session: string,
): readonly Write[] =>
  history.anchors
    .map(names.anchor)
    .filter((name) => look(name) === undefined)
    .map((name) => ({ name, session }))

/** Matches client ids that are used verbatim in a session's name. `~` is reserved: it separates a conversation from its side sessions. */
const plain = /^[A-Za-z0-9_.:@-]{1,64}$/

/** Client text as part of a name. Long or unusual text, or text that looks like one of our hashes, is hashed. */
const clean = (text: string): string => (plain.test(text) && !text.startsWith("h-") ? text : `h-${digest(text)}`)

/** Names begin with their tenant's fingerprint and a dot, which no fingerprint has: no client id can reach another tenant's. */
const within = (tenant: string): string => (/^[A-Za-z0-9_-]{1,32}$/.test(tenant) ? tenant : digest("tenant", tenant))

export const anonymousSession = (tenant: string, id: string): string => `${within(tenant)}.~${clean(id)}`

export const groupSession = (tenant: string, id: string, agent: string | undefined): string =>
  `${within(tenant)}.${clean(id)}${agent === undefined ? "" : `~agent-${clean(agent)}`}`

export const sideSession = (base: string, key: string): string => `${base}~side-${key.slice(0, 16)}`

export const isInGroup = (base: string, session: string): boolean =>
  session === base || session === toolsSession(base) || session.startsWith(`${base}~side-`)

/** The tenant of requests without a credential. */
const nobody = "none"

const keyHeaders = ["x-api-key", "x-goog-api-key", "api-key"]

/**
 * The tenant of a request: a fingerprint of its credential, from whichever header or query parameter it came. The same key is the same
 * tenant. On a personal gateway the same login is the same tenant too, because its tokens change every few hours.
 */
export function tenantOf(headers: Headers, queryKey?: string, isPersonal = false): string {
  const authorization = headers.authorization?.trim().replace(/^(?:bearer|basic|token)$|^[a-z][a-z\d-]{0,40}\s+/i, "")
  const key = [authorization, ...keyHeaders.map((name) => headers[name]?.trim()), queryKey?.trim()].find(
    (value) => value !== undefined && value !== "",
  )
  if (key === undefined) return nobody
  const login = isPersonal ? loginOf(key) : undefined
  return (login === undefined ? digest("holdfast tenant", key) : digest("holdfast login", login)).slice(0, 16)
}

/** Prefixes of login tokens and their provider. Such a token is replaced every few hours. */
const logins: readonly (readonly [begins: RegExp, provider: string])[] = [
  [/^sk-ant-oat/, "anthropic"],
  [/^ya29\./, "google"],
  [/^gh[ou]_/, "github"],
]

/**
 * The login behind a credential that is refreshed; undefined for a key, which does not change. Only the upstream verifies it, so it may
 * tell apart one person's logins, but not people.
 */
function loginOf(credential: string): string | undefined {
  const provider = logins.find(([begins]) => begins.test(credential))?.[1]
  return provider ?? subjectOf(credential)
}

/** Limit on the length of a token that is parsed. */
const maxLength = 20_000

/** The issuer and subject of a JSON Web Token. */
function subjectOf(credential: string): string | undefined {
  const claims = /^eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+$/.exec(credential.length > maxLength ? "" : credential)?.[1]
  if (claims === undefined) return undefined
  const { iss, sub } = fieldsOf(tryParse(Buffer.from(claims, "base64url").toString("utf8")))
  return typeof sub === "string" && sub !== "" ? JSON.stringify([typeof iss === "string" ? iss : "", sub]) : undefined
}

/** A request's messages as marks: each mark is a hash of the conversation up to one message. */
export type History = {
  readonly whole: string
  readonly marks: readonly string[]
  /** The mark after the last assistant message, if there is one, and the number of messages up to it. */
  readonly answered?: { readonly mark: string; readonly messages: number }
  /** The mark right before the last response. */
  readonly asked?: string
  /** Newest first, at most `maxAnchors`. */
  readonly anchors: readonly string[]
  /** The last assistant messages, newest first. */
  readonly answers: Transcript
}

/** Limits on anchors and responses that are looked up, newest first: a client that rewrites its history keeps the end. */
const maxAnchors = 16
const maxAnswers = 4

const beginning = "-"

/** True for a system message before the first turn, and for a tool list: they belong to the frame and are not turns. */
export const isFrame = ({ role, parts }: Message, spoken: boolean): boolean =>
  (role === "system" && !spoken) ||
  (parts.length > 0 && parts.every((part) => part.type === "opaque" && toolLists.has(part.kind)))

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
    ...(answered !== undefined && { answered, ...(asked !== undefined && { asked }) }),
    anchors: newestAnchors(messages),
    answers: answers.slice(-maxAnswers).toReversed(),
  }
}

/** True if the history contains this mark. Searched from the end, where it usually is. */
export const holds = ({ marks }: History, mark: string): boolean => marks.lastIndexOf(mark) >= 0

const known = new WeakMap<Message, { readonly before: string; readonly after: string }>()

/** The mark after one more message; an empty message does not change it. */
export function markAfter(before: string, message: Message): string {
  const last = known.get(message)
  if (last?.before === before) return last.after
  const key = contentKey(message)
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

/** Limit on the characters of an id that are examined. */
const maxIdLength = 300
/** Minimum number of letters and digits in a random id (the shortest that providers generate has nine), and of distinct ones. */
const minPiece = 9
const minDistinct = 4

/**
 * True for an id that two conversations cannot share by chance. Some clients and small servers number their calls (`call_0`, `1`,
 * `functions.read:3`); such ids identify nothing.
 */
export function isRandomId(id: string): boolean {
  const text = id.slice(0, maxIdLength)
  return uuid.test(text) || text.split(/[^A-Za-z0-9]+/).some(isRandomPiece)
}

/** True if a piece has digits between letters, not only at the end, as a name with a number. */
function isRandomPiece(piece: string): boolean {
  if (piece.length < minPiece || new Set(piece).size < minDistinct) return false
  const stem = piece.replace(/\d{1,300}$/, "")
  return /\d/.test(stem) && /[A-Za-z]/.test(stem)
}

/**
 * Values in a message that only one conversation can have: random ids of calls and stored items, the provider's signature on a call without
 * such an id, and a provider's compaction item. Clients that rewrite everything else send these back unchanged.
 */
export const anchorsOf = (message: Message): readonly string[] => keptAnchors(message)

const keptAnchors = createPerObject((message: Message): readonly string[] => [
  ...new Set([...itemId(message), ...message.parts.flatMap(anchorsIn)]),
])

function anchorsIn(part: Part): readonly string[] {
  if (part.type === "tool-call" || part.type === "tool-result") {
    const named =
      (part.type === "tool-result" && isPlace.test(part.callId) ? madeUpId(part.wire) : undefined) ?? part.callId
    const id = isRandomId(named) ? named : timeIn(named)
    return id === undefined ? signatureOf(part.wire) : [id]
  }
  if (part.type !== "opaque") return []
  if (part.kind === "item_reference") return random(textField(objectIn(part.wire), "id"))
  return part.kind.startsWith("compaction") && part.kind !== "compaction_trigger" ? compaction(part.wire) : []
}

/** Matches a Unix time in milliseconds at the end of an id, from 2017 to 2049, and the number of the call in its response. */
const time = /(?:1[5-9]|2[0-4])\d{11}(?:[_-]\d{1,4})?$/

/** Some clients build ids from the tool's name and the time, and may change the name later; the time stays. */
const timeIn = (id: string): string | undefined => time.exec(id.slice(-40))?.[0]

/** Minimum length of a signature; shorter ones are placeholder words that many conversations share. */
const minSignature = 64

/** Matches the id that we give a call without one: its position in the request. */
const isPlace = /^m\d+\.\d+$/

/** The id that a client of Gemini generated for a result whose call has none. */
function madeUpId(wire: string | undefined): string | undefined {
  const { functionResponse, function_response = functionResponse } = fieldsOf(
    wire === undefined ? wire : tryParse(wire),
  )
  return textField(fieldsOf(function_response), "id")
}

/** Gemini's calls have ids that clients do not send back; the first call of a response carries a signature of its thoughts. */
function signatureOf(wire: string | undefined): readonly string[] {
  const fields = fieldsOf(wire?.includes("ignature") === true ? tryParse(wire) : undefined)
  const seal = textField(fields, "thoughtSignature") ?? textField(fields, "thought_signature")
  return seal === undefined || seal.length < minSignature ? [] : [digest("seal", seal)]
}

/** Minimum length of a compacted history in characters. */
const minCompaction = 16

/** Clients may send a compaction back with reordered keys or with a cache marker, so hash only its content. */
function compaction(wire: string): readonly string[] {
  const block = fieldsOf(tryParse(wire))
  const said = textField(block, "encrypted_content") ?? textField(block, "content") ?? textField(block, "id")
  return said === undefined || said.length < minCompaction ? [] : [digest("compaction", said)]
}

/** In OpenAI Responses each item of a response has an id, by which clients may refer to it. */
const itemId = ({ format, role, wire }: Message): readonly string[] =>
  format === "openai-responses" && role === "assistant" ? random(textField(objectIn(wire), "id")) : []

const random = (id: string | undefined): readonly string[] => (id !== undefined && isRandomId(id) ? [id] : [])

/**
 * A hash of a message's content that stays the same when the client sends it back: clients join the texts of a response, trim them, and
 * remove the thinking. Empty if the message has no content.
 */
export const contentKey = (message: Message): string => keptKey(message)

const keptKey = createPerObject((message: Message): string => {
  if (message.role === "assistant") return answerKey(message)
  return message.parts.length === 0 ? "" : messageKey(message)
})

function answerKey({ parts }: Message): string {
  const text = normalizedText(parts)
  const rest = parts.flatMap(otherKey)
  return text === "" && rest.length === 0 ? "" : digest("answer", text, ...rest)
}

/** Length in characters above which whitespace is not normalized: no client rewrites that much text. */
const maxSpaced = 200_000

function normalizedText(parts: readonly Part[]): string {
  const text = withoutThinking(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join(""))
  return (text.length > maxSpaced ? text : text.replace(/\s+/g, " ")).trim()
}

/** Removes thinking at the start of a text: some models put it there, and clients remove it. */
function withoutThinking(text: string): string {
  const start = text.trimStart()
  const end = start.startsWith("<think>") ? start.indexOf("</think>") : -1
  return end < 0 ? text : start.slice(end + "</think>".length)
}

/** Minimum length of a response that identifies a conversation; shorter ones occur in many. */
const minTelling = 24

/** True if this response is unlikely to occur in another conversation of the same client. */
export const isTelling = (message: Message): boolean =>
  message.parts.some(({ type }) => type === "tool-call") || hasTellingWords(message)

/** The same, by the text alone: many conversations begin with the same tool call. */
export const hasTellingWords = ({ parts }: Message): boolean => normalizedText(parts).length >= minTelling

function otherKey(part: Part): readonly unknown[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return []
    case "tool-call":
      // An id that is an index or a number may differ when the call is sent back.
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

/**
 * A hash of a request's frame: the lines of its instructions without dates and times, and its tool names. Without an id, only requests with
 * the same mark can be matched by their messages: instructions contain rules, and one API key may serve many customers whose instructions
 * differ in one line.
 */
export const frameMark = (request: ModelRequest, hint: string | undefined): string =>
  digest(
    "frame",
    request.format,
    toolNames(request),
    frameParts(request).map((part) => stableHash(part)),
    hint ?? "",
  )

export const toolsMark = (request: ModelRequest): string => digest("tools", ...toolNames(request))

export const toolNames = (request: ModelRequest): readonly string[] =>
  [...new Set([...request.tools.map(({ name }) => name), ...listedTools(request.messages)])].sort()

/** A tool list among the messages is identified by its kind and length, because its content is not decoded. */
function listedTools(messages: readonly Message[]): readonly string[] {
  const found: string[] = []
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === "opaque" && toolLists.has(part.kind)) found.push(`${part.kind}:${part.wire.length}`)
    }
  }
  return found
}

/** The instructions: the system part and system messages before the first turn. */
export function frameParts({ system, messages }: ModelRequest): readonly Part[] {
  const first = messages.findIndex((message) => !isFrame(message, false))
  const leading = messages.slice(0, first < 0 ? messages.length : first)
  const parts = [...system, ...leading.flatMap((message) => (message.role === "system" ? message.parts : []))]
  return parts.filter((part) => !isVolatile(part))
}

const months =
  "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
/** Matches dates and times of day, which change without changing the meaning. Other numbers may belong to rules. */
const datesAndTimes = new RegExp(
  [
    String.raw`\b\d{4}[-/]\d{1,2}[-/]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?`,
    String.raw`\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b`,
    String.raw`\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?\b`,
    String.raw`\b(?:${months})\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?\b`,
    String.raw`\b\d{1,2}\.? (?:${months})(?:,? \d{4})?\b`,
    String.raw`\b(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\b`,
    String.raw`\b1\d{9}(?:\d{3})?\b`,
  ].join("|"),
  "g",
)

/** Hash of a text that ignores dates, times and the order of lines: some clients list files in the order that the disk returns. */
const stableHash = createPerObject((part: Part) =>
  digest("text", textOrWire(part).replace(datesAndTimes, "·").split("\n").sort().join("\n")),
)
