import { assert } from "../message/assert.ts"
import {
  type Format,
  type Message,
  messageId,
  type Part,
  type Tool,
  type Transcript,
  wireText,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { overlay, write } from "../wire/json-write.ts"
import { type LossEvent, type Translation, translate } from "../wire/translate.ts"
import {
  type Conversation,
  type Exported,
  type ExportOptions,
  type FileKind,
  type Instant,
  type LinesOrigin,
  textBefore,
} from "./conversation.ts"
import { onOneLine } from "./lines.ts"

/** Data that is on every line of a session file. */
export type SessionHeader = {
  readonly id: string
  readonly cwd: string
  readonly now: Instant
  readonly model: string
  readonly version?: string
  /** Returns a new id on each call. */
  readonly nextId: () => string
}

const epoch: Instant = { iso: "1970-01-01T00:00:00.000Z", ms: 0 }

/** Returns generated ids in the client's format: deterministic, numbered from the session's length. */
const uuidOf = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`

type SessionKind = Exclude<FileKind, "messages" | "trace">

/** The wire format of each kind. pi's own message shape is Anthropic's with other names. */
const formatOf: Readonly<Record<SessionKind, Format>> = {
  "claude-code": "anthropic-messages",
  codex: "openai-responses",
  pi: "anthropic-messages",
}

/** Writes a session file of that kind in its own wire format, reusing as much of the original text as possible. */
export function writeSession(
  kind: SessionKind,
  conversation: Conversation,
  options: ExportOptions,
  writerOf: (session: SessionHeader, ready: ConvertedConversation) => ChainWriter,
): Exported {
  const ready = convertConversation(conversation, formatOf[kind], kind === "pi" ? "keep-unsigned" : "drop-unsigned")
  const { lost, lostTools } = ready
  const origin =
    conversation.origin?.type === "lines" && conversation.origin.kind === kind ? conversation.origin : undefined
  const session = sessionOf(conversation, options, origin?.lines.length ?? 0)
  return { text: writeChain(origin, ready.messages, writerOf(session, ready)), lost, lostTools }
}

function sessionOf({ id, meta, model }: Conversation, options: ExportOptions, start: number): SessionHeader {
  const { newId = uuidOf, now = epoch } = options
  let count = start
  const nextId = (): string => newId(count++)
  const { cwd, version } = meta
  return {
    id: id ?? nextId(),
    cwd: options.cwd ?? (typeof cwd === "string" ? cwd : "/"),
    now,
    model: model ?? "unknown",
    nextId,
    ...(typeof version === "string" ? { version } : {}),
  }
}

/** The names of the members that hold an entry's own id and its parent's. */
type Links = { readonly id: string; readonly parent: string }

/** A new line, and the id that the next line names as its parent. */
export type WrittenLine = { readonly line: string; readonly id: string }

/** What a kind of session file needs: its first lines, and the lines of a message. */
type ChainWriter = {
  readonly head: () => readonly string[]
  readonly write: (message: Message, parent: string | undefined) => readonly WrittenLine[]
  /** Absent if lines name no parent. */
  readonly links?: Links
}

/**
 * Writes a session file. If nothing changed: the original text. If messages were added at the end: that text and their lines. Otherwise:
 * the first lines, the original lines of each unchanged message, linked to a new parent if the old one is gone, and new lines for the rest.
 */
function writeChain(origin: LinesOrigin | undefined, messages: Transcript, writer: ChainWriter): string {
  if (origin?.messages.every((message, n) => message === messages[n]) === true) {
    const added = messages.slice(origin.messages.length)
    if (added.length === 0) return origin.lines.join("\n")
    if (!origin.cut) return textBefore(origin) + writeLines(undefined, added, writer, origin.leaf)
  }
  const old = origin?.head.flatMap((index) => origin.lines[index] ?? [])
  const head = old === undefined || old.length === 0 ? writer.head() : old
  return head.map((line) => `${line}\n`).join("") + writeLines(origin, messages, writer, undefined)
}

function writeLines(
  origin: LinesOrigin | undefined,
  messages: Transcript,
  { write: writeMessage, links }: ChainWriter,
  leaf: string | undefined,
): string {
  const out: string[] = []
  let parent = leaf
  const put = ({ line, id }: WrittenLine): void => {
    out.push(`${line}\n`)
    parent = id
  }
  for (const message of messages) {
    const indexes = origin?.owned.get(message)
    if (origin === undefined || indexes === undefined)
      for (const { line, id } of writeMessage(message, parent)) put({ line: onOneLine(line), id })
    else for (const index of indexes) put(relink(origin.lines[index] ?? "", parent, links))
  }
  return out.join("")
}

/** Returns the line with another parent; unchanged if it already has that parent. */
function relink(line: string, parent: string | undefined, links: Links | undefined): WrittenLine {
  if (links === undefined) return { line, id: "" }
  const linked = overlay(wireText(line), { [links.parent]: write(parent ?? null) })
  const value = tryParse(linked)
  const id = isObject(value) ? value[links.id] : undefined
  assert(typeof id === "string", "an entry without an id in a file whose entries have them")
  return { line: linked, id }
}

/** A conversation in the target format. */
export type ConvertedConversation = {
  readonly messages: Transcript
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  readonly lost: readonly LossEvent[]
  readonly lostTools: readonly string[]
}

/** Converts everything to one format. Messages that need no change stay the same objects. */
export function convertConversation(
  { format, system, tools, messages }: Conversation,
  to: Format,
  unsigned: "keep-unsigned" | "drop-unsigned" = "drop-unsigned",
): ConvertedConversation {
  const translated = translate(messages, to)
  const drops = to === "anthropic-messages" && unsigned === "drop-unsigned"
  const { messages: ready, lost } = drops ? withoutUnsigned(translated) : translated
  const declared = format === to ? { tools, lost: [] } : translateTools(tools, to)
  const parts = format === to ? system : textsOf(system)
  return { messages: ready, system: parts, tools: declared.tools, lost, lostTools: declared.lost }
}

/** Removes reasoning of other providers that pi stored: Anthropic accepts only what it signed itself. */
function withoutUnsigned({ messages, lost }: Translation): Translation {
  const gone: LossEvent[] = []
  const kept = messages.flatMap((message) => {
    const parts = message.parts.filter((part) => part.type !== "reasoning" || part.wire !== undefined)
    if (parts.length === message.parts.length) return message
    gone.push({
      type: "part-lost",
      messageId: message.id,
      part: "reasoning",
      reason: "Anthropic takes no reasoning that it did not sign",
    })
    return parts.length === 0 ? [] : { ...message, parts }
  })
  return { messages: kept, lost: [...lost, ...gone] }
}

const textsOf = (parts: readonly Part[]): readonly Part[] =>
  parts.flatMap((part) => (part.type === "text" && part.text !== "" ? { type: "text", text: part.text } : []))

/** Moves the system parts into a first message, for a file that has no other place for them. */
export function systemAsMessage(conversation: Conversation): Conversation {
  const parts = textsOf(conversation.system)
  if (parts.length === 0) return conversation
  const first: Message = { id: messageId("system"), role: "system", parts }
  return { ...conversation, system: [], messages: [first, ...conversation.messages] }
}

/** Moves system messages at the start to the system parts, for a format that keeps them separate. */
export function messagesAsSystem(conversation: Conversation): Conversation {
  const { messages, system } = conversation
  const end = messages.findIndex(({ role, parts }) => role !== "system" || parts.some(({ type }) => type !== "text"))
  const leading = messages.slice(0, end < 0 ? messages.length : end)
  if (leading.length === 0) return conversation
  const parts = leading.flatMap((message) => textsOf(message.parts))
  return {
    ...conversation,
    system: [...system.filter((part) => part.type !== "text" || part.text !== ""), ...parts],
    messages: messages.slice(leading.length),
  }
}

/** A tool declaration in a neutral form. */
type Declaration = { readonly name: string; readonly description?: string; readonly schema: unknown }

/** Declares the same functions in another format; tools that a provider runs itself have no equivalent and are reported. */
function translateTools(
  tools: readonly Tool[],
  to: Format,
): { readonly tools: readonly Tool[]; readonly lost: readonly string[] } {
  const translated: Tool[] = []
  const lost: string[] = []
  for (const tool of tools) {
    const declared = declarationOf(tryParse(tool.wire))
    if (declared === undefined) lost.push(tool.name)
    else translated.push({ name: declared.name, wire: write(declare(declared, to)) })
  }
  return { tools: translated, lost }
}

const schemaNames = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"]

/** Reads a tool declaration. In every format a function has a name, an optional description, and a schema under one of four names. */
function declarationOf(value: unknown): Declaration | undefined {
  if (!isObject(value)) return undefined
  const inner = isObject(value.function) ? value.function : value
  const { name, description } = inner
  const slot = schemaNames.find((candidate) => inner[candidate] !== undefined)
  const hosted = typeof value.type === "string" && value.type !== "function" && value.type !== "custom"
  if (typeof name !== "string" || hosted || (slot === undefined && value.type === "custom")) return undefined
  const schema = slot === undefined ? { type: "object", properties: {} } : inner[slot]
  return { name, schema, ...present({ description: typeof description === "string" ? description : undefined }) }
}

function declare({ name, description, schema }: Declaration, to: Format): unknown {
  const base = { name, ...present({ description }) }
  switch (to) {
    case "anthropic-messages":
      return { ...base, input_schema: schema }
    case "openai-chat":
      return { type: "function", function: { ...base, parameters: schema } }
    case "openai-responses":
      return { type: "function", ...base, parameters: schema }
    case "gemini":
      return { ...base, parametersJsonSchema: schema }
  }
}
