import { HoldfastError } from "../message/errors.ts"
import {
  callId,
  type Format,
  type Message,
  type MessageId,
  messageId,
  type Part,
  type Role,
  type Tool,
  type Transcript,
} from "../message/message.ts"
import { namesIn, present } from "../message/present.ts"
import { mediaOfInline } from "../wire/codec.ts"
import {
  countIn,
  elements,
  isObject,
  isTrue,
  type Json,
  member,
  numberIn,
  requireString,
  stringIn,
  wireOf,
} from "../wire/json.ts"
import { write, writeObject } from "../wire/json-write.ts"
import { readPlain, readTraces } from "./body.ts"
import { readClaudeCode } from "./claude-code-read.ts"
import { readCodex } from "./codex.ts"
import {
  type AbandonedBranch,
  type Compaction,
  type Conversation,
  type FileKind,
  type MessageNote,
  requireKind,
  type SkippedLine,
  type TranscriptFile,
} from "./conversation.ts"
import { detectFile } from "./detect.ts"
import { type Line, type Lines, readLines } from "./lines.ts"
import { messagesAlong, offshoots, pathTo, type TreeNode } from "./tree.ts"

const kind = "pi"

/** Known entry types that the model never sees. */
const bookkeeping: ReadonlySet<string | undefined> = new Set(
  namesIn("model_change thinking_level_change usage custom label session_info context_edit message"),
)

type Entry = TreeNode & {
  readonly index: number
  readonly type: string
  readonly said?: PiMessage
  readonly compaction?: { readonly summary: string; readonly firstKept?: string; readonly tokensBefore?: number }
  readonly model?: string
  readonly tools?: { readonly added: readonly Tool[]; readonly removed: readonly string[] }
}

type Session = {
  readonly entries: Map<string, Entry>
  readonly skipped: SkippedLine[]
  header?: Json
  head?: number
  title?: string | undefined
  last?: string
  /** The entry id of every line, the header included: the first version refers to entries by their index. */
  readonly order: string[]
}

/** Reads a pi session: the path to the newest entry, its branches, and each compaction. */
function readPi(text: string): TranscriptFile {
  const session: Session = { entries: new Map(), skipped: [], order: [] }
  const lines = readLines(text, (line) => readLine(line, session))
  if (lines.cut !== undefined) session.skipped.push(lines.cut)
  return { kind, conversations: [conversationOf(session, lines)], skipped: session.skipped }
}

function readLine(line: Line, session: Session): void {
  const { json, index, number, text } = line
  const type = stringIn(json, "type") ?? ""
  // Before version 2 entries had no ids: each follows the one before it.
  const id = stringIn(json, "id") ?? `line ${number}`
  session.order.push(id)
  if (type === "session" && session.header === undefined) {
    session.header = json
    session.head = index
    return
  }
  if (type === "session_info") session.title = stringIn(json, "name") ?? session.title
  const repeated = session.entries.has(id)
  const parent = member(json, "parentId") === undefined ? session.last : stringIn(json, "parentId")
  const entry = { index, type, ...readEntry(json, type, session), ...present({ id, parent }), id }
  if (repeated || (entry.said === undefined && entry.compaction === undefined)) {
    const reason = repeated ? "repeated" : bookkeeping.has(type) ? "no-message" : "unknown-type"
    session.skipped.push({ line: number, reason, type, text })
  }
  if (repeated) return
  session.entries.set(id, entry)
  session.last = id
}

function readEntry(json: Json, type: string, { order }: Session): Partial<Entry> {
  const place = messageId("unplaced")
  const user = (parts: Message["parts"]): Message => ({ id: place, role: "user", parts, format: "anthropic-messages" })
  if (type === "message") {
    const inner = member(json, "message")
    if (inner === undefined) return {}
    const model = stringIn(inner, "role") === "assistant" ? stringIn(inner, "model") : undefined
    return present({ said: readPiMessage(inner, place), model, tools: readTools(inner) })
  }
  if (type === "custom_message")
    return { said: { message: user(readContent(json, undefined)), note: "client-written" } }
  if (type === "branch_summary") {
    const parts = [{ type: "text", text: stringIn(json, "summary") ?? "" } as const]
    return { said: { message: user(parts), note: "branch-summary" } }
  }
  if (type === "model_change") return present({ model: stringIn(json, "modelId") })
  if (type !== "compaction") return {}
  const byPlace = numberIn(json, "firstKeptEntryIndex")
  const firstKept = stringIn(json, "firstKeptEntryId") ?? (byPlace === undefined ? undefined : order[byPlace])
  const summary = stringIn(json, "summary") ?? ""
  return { compaction: { summary, ...present({ firstKept, tokensBefore: countIn(json, "tokensBefore") }) } }
}

/** Reads the tools that a system message adds or removes, in Anthropic's declaration. */
function readTools(message: Json): Entry["tools"] {
  const added = elements(member(message, "toolsAdded")).map((tool): Tool => {
    const name = stringIn(tool, "name") ?? "unnamed"
    const schema = member(tool, "parameters")?.value ?? { type: "object" }
    const fields = { name, ...present({ description: stringIn(tool, "description") }), input_schema: schema }
    return { name, wire: write(fields) }
  })
  const removed = elements(member(message, "toolsRemoved")).map((tool) => stringIn(tool, "name") ?? "")
  return added.length + removed.length === 0 ? undefined : { added, removed }
}

function toolsOf(path: readonly Entry[]): readonly Tool[] {
  const tools = new Map<string, Tool>()
  for (const { tools: change } of path) {
    for (const tool of change?.added ?? []) tools.set(tool.name, tool)
    for (const name of change?.removed ?? []) tools.delete(name)
  }
  return [...tools.values()]
}

function conversationOf({ entries, header, head, title, last }: Session, lines: Lines): Conversation {
  const path = pathTo(entries, last)
  const onPath = new Set(path.map(({ id }) => id))
  const spoken = path.filter(({ said }) => said !== undefined)
  const messages = numbered(spoken, "")
  const ids = new Map(spoken.map(({ id }, n) => [id, messages[n]?.id]))
  const along = messagesAlong(path, (id) => ids.get(id))
  const meta = isObject(header?.value) ? header.value : {}
  return {
    format: "anthropic-messages",
    system: [],
    tools: toolsOf(path),
    messages,
    compactions: compactionsOf(path, messages),
    branches: branchesOf(entries, onPath, along),
    notes: spoken.flatMap(({ said }, n) =>
      said?.note === undefined ? [] : { message: messageId(`m${n}`), note: said.note },
    ),
    meta,
    origin: {
      type: "lines",
      kind,
      lines: lines.all,
      owned: new Map(spoken.map(({ index }, n) => [messages[n] as Message, [index]])),
      messages,
      head: head === undefined ? [] : [head],
      cut: lines.cut !== undefined,
      ...present({ leaf: last }),
    },
    ...present({ id: stringIn(header, "id"), title, model: path.findLast(({ model }) => model !== undefined)?.model }),
  }
}

const numbered = (entries: readonly Entry[], prefix: string): Transcript =>
  entries
    .flatMap(({ said }) => said?.message ?? [])
    .map((message, n) => ({ ...message, id: messageId(`${prefix}m${n}`) }))

function compactionsOf(path: readonly Entry[], messages: Transcript): readonly Compaction[] {
  const found: Compaction[] = []
  const places = new Map<string, number>()
  let at = 0
  for (const { id, said, compaction } of path) {
    places.set(id, at)
    if (said !== undefined) at++
    if (compaction === undefined) continue
    const { summary: text, firstKept, tokensBefore } = compaction
    const from = firstKept === undefined ? at : (places.get(firstKept) ?? at)
    const kept = messages.slice(from, at).filter(({ role }) => role !== "system")
    const summary: Message = { id: messageId(`c${found.length}.m0`), role: "user", parts: [{ type: "text", text }] }
    found.push({ at, replacement: [summary, ...kept], ...present({ tokensBefore }) })
  }
  return found
}

function branchesOf(
  entries: ReadonlyMap<string, Entry>,
  onPath: ReadonlySet<string>,
  along: ReadonlyMap<string, MessageId>,
): readonly AbandonedBranch[] {
  return offshoots(entries.values(), (id) => onPath.has(id))
    .filter(({ nodes }) => nodes.some(({ said }) => said !== undefined))
    .map(({ from, nodes }, n) => ({
      reason: "abandoned",
      messages: numbered(nodes, `b${n}.`),
      ...present({ from: from === undefined ? undefined : along.get(from) }),
    }))
}

/** A message of pi converted to ours, and its note. */
type PiMessage = { readonly message: Message; readonly note?: MessageNote["note"] }

const roles: ReadonlyMap<string, Role> = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  ["toolResult", "user"],
  ["system", "system"],
  ["bashExecution", "user"],
  ["custom", "user"],
  ["hookMessage", "user"],
  ["branchSummary", "user"],
  ["compactionSummary", "user"],
])

/**
 * Converts a message. Undefined for one that the model never sees: an unknown role, a command hidden from it, an answer without content.
 */
function readPiMessage(json: Json, id: MessageId): PiMessage | undefined {
  const wireRole = stringIn(json, "role") ?? ""
  const role = roles.get(wireRole)
  if (role === undefined || isTrue(json, "excludeFromContext")) return undefined
  const parts = readParts(json, wireRole)
  if (parts.length === 0) return undefined
  const notes = { bashExecution: "user-command", branchSummary: "branch-summary", custom: "client-written" } as const
  const note = wireRole in notes ? notes[wireRole as keyof typeof notes] : undefined
  return { message: { id, role, parts, format: "anthropic-messages" }, ...present({ note }) }
}

function readParts(json: Json, role: string): readonly Part[] {
  const signer = stringIn(json, "api")
  switch (role) {
    case "toolResult": {
      const failed = isTrue(json, "isError") ? { failed: true } : {}
      const id = callId(requireString(json, "toolCallId"))
      return [{ type: "tool-result", callId: id, kind: "function", content: readContent(json, signer), ...failed }]
    }
    case "system":
      return [...readContent(json, signer), ...readSections(json)]
    case "bashExecution":
      return [{ type: "text", text: commandText(json) }]
    case "branchSummary":
    case "compactionSummary":
      return [{ type: "text", text: stringIn(json, "summary") ?? "" }]
    default:
      return readContent(json, signer)
  }
}

function readContent(json: Json, signer: string | undefined): readonly Part[] {
  const content = member(json, "content")
  if (content === undefined || content.value === null || content.value === "") return []
  if (typeof content.value === "string") return [{ type: "text", text: content.value }]
  return elements(content).flatMap((block) => readBlock(block, signer))
}

/** Returns the named sections of a system prompt, in order; a section that is null was removed. */
function readSections(json: Json): readonly Part[] {
  const sections = member(json, "sections")?.value
  const texts = isObject(sections) ? Object.values(sections) : []
  return texts.flatMap((text) => (typeof text === "string" && text !== "" ? { type: "text", text } : []))
}

function readBlock(block: Json, signer: string | undefined): Part {
  switch (stringIn(block, "type")) {
    case "text":
      return { type: "text", text: requireString(block, "text") }
    case "thinking":
      return readThinking(block, signer)
    case "toolCall":
      return readCall(block)
    case "image": {
      const data = requireString(block, "data")
      const mediaType = stringIn(block, "mimeType") ?? "application/octet-stream"
      const source = { type: "base64", media_type: mediaType, data }
      return { type: "image", media: mediaOfInline(data, mediaType), wire: write({ type: "image", source }) }
    }
    default:
      return { type: "unknown", wire: write(block.value) }
  }
}

function readCall(block: Json): Part {
  const id = requireString(block, "id")
  const tool = requireString(block, "name")
  const input = member(block, "arguments")
  const wire = writeObject({
    type: write("tool_use"),
    id: write(id),
    name: write(tool),
    input: input === undefined ? write({}) : wireOf(input),
  })
  return { type: "tool-call", callId: callId(id), tool, kind: "function", input: input?.value ?? {}, wire }
}

/** Reads reasoning. A signature is kept only if Anthropic's API made it, because another provider's is invalid there. */
function readThinking(block: Json, signer: string | undefined): Part {
  const text = stringIn(block, "thinking") ?? ""
  const signature = stringIn(block, "thinkingSignature")
  if (isTrue(block, "redacted")) {
    const wire =
      signer === "anthropic-messages" ? write({ type: "redacted_thinking", data: signature ?? "" }) : undefined
    return { type: "reasoning", text, sealed: true, ...present({ wire }) }
  }
  if (signer !== "anthropic-messages" || signature === undefined) return { type: "reasoning", text }
  return { type: "reasoning", text, signature, wire: write({ type: "thinking", thinking: text, signature }) }
}

/** Returns a command that the user ran, in the form that the model sees. */
function commandText(json: Json): string {
  const code = numberIn(json, "exitCode")
  const end = isTrue(json, "cancelled")
    ? "\n(cancelled)"
    : code === undefined || code === 0
      ? ""
      : `\n(exit code ${code})`
  return `$ ${stringIn(json, "command") ?? ""}\n${stringIn(json, "output") ?? ""}${end}`
}

/** Maximum length of a file: JavaScript engines limit strings to slightly more (V8 to 536,870,888 characters). */
const maxFileLength = 500_000_000

/** What the caller knows about the file; otherwise its kind, and the wire format of bare messages, are detected. */
export type ImportOptions = { readonly kind?: FileKind; readonly format?: Format }

const readers: Readonly<Record<FileKind, (text: string, format?: Format) => TranscriptFile>> = {
  messages: readPlain,
  trace: readTraces,
  "claude-code": (text) => readClaudeCode(text),
  codex: (text) => readCodex(text),
  pi: (text) => readPi(text),
}

/** Reads a transcript file of any kind in one pass over its lines: time is linear in the length of the file. */
export function importTranscript(text: string, { kind, format }: ImportOptions = {}): TranscriptFile {
  if (typeof text !== "string")
    throw new HoldfastError({ code: "json-invalid", offset: 0, reason: `it is ${typeof text}, not text` })
  if (text.length > maxFileLength)
    throw new HoldfastError({ code: "body-too-large", length: text.length, limit: maxFileLength })
  return readers[requireKind(kind ?? detectFile(text))](text, format)
}
