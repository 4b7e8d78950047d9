import { quoteText } from "../message/fence.ts"
import {
  type CallId,
  type Message,
  type Part,
  type ToolCallPart,
  type Transcript,
  textOfMessage,
  type Wire,
  wireText,
} from "../message/message.ts"
import { codecs } from "../wire/codecs.ts"
import { isObject, member, readJson, tryParse, wireOf } from "../wire/json.ts"
import { type Fields, write, writeList, writeObject, writeOptional } from "../wire/json-write.ts"
import { inputText, type LossEvent } from "../wire/translate.ts"
import { writePlain, writeTrace } from "./body.ts"
import { writeCodex } from "./codex.ts"
import { type Conversation, type Exported, type ExportOptions, type FileKind, requireKind } from "./conversation.ts"
import { onOneLine } from "./lines.ts"
import {
  type ConvertedConversation,
  type SessionHeader,
  systemAsMessage,
  type WrittenLine,
  writeSession,
} from "./write-session.ts"

/** The format version that is written: entries name their parents, and extensions' messages are `custom`. */
const version = 3

/** Writes a pi session file: a header, and one entry per message, each the child of the one before. */
function writePi(conversation: Conversation, options: ExportOptions): Exported {
  const lost: LossEvent[] = []
  const base = systemAsMessage(withoutOldOrigin(conversation))
  const done = writeSession("pi", base, options, (session, { messages }) => {
    const tools = toolNames(messages)
    return {
      head: () => [
        JSON.stringify({ type: "session", version, id: session.id, timestamp: session.now.iso, cwd: session.cwd }),
      ],
      write: (message, parent) => writeEntries(message, parent, session, (part) => blockOf(part, message, lost), tools),
      links: { id: "id", parent: "parentId" },
    }
  })
  return { ...done, lost: [...done.lost, ...lost] }
}

/**
 * Drops the original text if its entries have no ids, because they cannot be linked again: such a file is copied whole or written from
 * scratch.
 */
function withoutOldOrigin(conversation: Conversation): Conversation {
  const { origin, messages, meta } = conversation
  const old = meta.version === undefined || meta.version === 1
  if (origin?.type !== "lines" || origin.messages === messages || !old) return conversation
  const { origin: _, ...rest } = conversation
  return rest
}

/** Maps each result to its tool: that of the newest call with its id, because some histories use an id twice. */
function toolNames(messages: Transcript): ReadonlyMap<Part, string> {
  const called = new Map<CallId, string>()
  const names = new Map<Part, string>()
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type === "tool-call") called.set(part.callId, part.tool)
    else if (part.type === "tool-result") names.set(part, called.get(part.callId) ?? "unknown")
  }
  return names
}

type Blocks = (part: Part) => readonly Wire[]

/** Writes the entries of a message: each result is a message of its own, followed by the other parts. */
function writeEntries(
  message: Message,
  parent: string | undefined,
  session: SessionHeader,
  blocks: Blocks,
  tools: ReadonlyMap<Part, string>,
): readonly WrittenLine[] {
  const { nextId, now } = session
  const said: Wire[] = []
  for (const part of message.parts) {
    if (part.type !== "tool-result" || part.kind === "provider") continue
    said.push(
      writeObject({
        role: write("toolResult"),
        toolCallId: write(part.callId),
        toolName: write(tools.get(part) ?? "unknown"),
        content: writeList(part.content.flatMap(blocks)),
        isError: write(part.failed === true),
        timestamp: write(now.ms),
      }),
    )
  }
  const rest = message.parts.filter((part) => part.type !== "tool-result" || part.kind === "provider").flatMap(blocks)
  if (rest.length > 0) said.push(writeMessage(message, rest, session))
  let previous = parent
  return said.map((inner) => {
    const id = nextId()
    const place = { id: write(id), parentId: write(previous ?? null), timestamp: write(now.iso) }
    previous = id
    return { line: writeObject({ type: write("message"), ...place, message: inner }), id }
  })
}

function writeMessage({ role, parts }: Message, blocks: readonly Wire[], { now, model }: SessionHeader): Wire {
  const base = { role: write(role), content: writeList(blocks) }
  if (role !== "assistant") return writeObject({ ...base, timestamp: write(now.ms) })
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  return writeObject({
    ...base,
    api: write("anthropic-messages"),
    provider: write("anthropic"),
    model: write(model),
    usage: write({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost }),
    stopReason: write(parts.some(({ type }) => type === "tool-call") ? "toolUse" : "stop"),
    timestamp: write(now.ms),
  })
}

/** Returns the blocks that pi supports: text, thinking, calls, inline images. Other parts are written as text and reported as lost. */
function blockOf(part: Part, { id: messageId }: Message, lost: LossEvent[]): readonly Wire[] {
  const writeLost = (reason: string, text: string): readonly Wire[] => {
    lost.push({ type: "part-lost", messageId, part: part.type, reason })
    return text === "" ? [] : [write({ type: "text", text })]
  }
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [write({ type: "text", text: part.text })]
    case "reasoning":
      return [write(thinkingOf(part))]
    case "tool-call":
      if (part.kind === "provider") return writeLost("the call was not the client's to run", quoteText(part))
      return [callOf(part)]
    case "tool-result":
      return writeLost("the call was not the client's to run", quoteText(part))
    case "image":
      return imageOf(part) ?? writeLost("only inline images can be held", "[image: left out]")
    case "document":
      return writeLost("documents cannot be held", `[document ${part.title ?? ""}]\n${part.text ?? "left out"}`)
    case "opaque":
    case "unknown":
      return writeLost("a block that only its own provider can read", "")
  }
}

function callOf(part: ToolCallPart & Pick<Part, "wire">): Wire {
  const { callId, tool, input } = part
  const wrapped = isObject(input) ? input : input === undefined || input === null ? {} : { input }
  return writeObject({
    type: write("toolCall"),
    id: write(callId),
    name: write(tool),
    arguments: inputText(part, "anthropic-messages") ?? write(wrapped),
  })
}

function thinkingOf(part: Extract<Part, { readonly type: "reasoning" }>): unknown {
  const wire = part.wire === undefined ? undefined : tryParse(part.wire)
  const data = isObject(wire) && typeof wire.data === "string" ? wire.data : undefined
  const signature = part.sealed === true ? data : part.signature
  return {
    type: "thinking",
    thinking: part.text,
    ...(signature === undefined ? {} : { thinkingSignature: signature }),
    ...(part.sealed === true ? { redacted: true } : {}),
  }
}

function imageOf(part: Extract<Part, { readonly type: "image" }>): readonly Wire[] | undefined {
  const block = part.wire === undefined ? undefined : tryParse(part.wire)
  const source = isObject(block) && isObject(block.source) ? block.source : {}
  if (typeof source.data !== "string" || typeof source.media_type !== "string") return undefined
  return [write({ type: "image", data: source.data, mimeType: source.media_type })]
}

const writers: Readonly<Record<FileKind, (conversation: Conversation, options: ExportOptions) => Exported>> = {
  messages: writePlain,
  trace: writeTrace,
  "claude-code": writeClaudeCode,
  codex: writeCodex,
  pi: writePi,
}

/**
 * Writes a conversation as a file of that kind: every message of it, compacted away or not. To write what the client would send next
 * instead, pass `messages: contextOf(conversation)`.
 */
export function exportTranscript(conversation: Conversation, kind: FileKind, options: ExportOptions = {}): Exported {
  return writers[requireKind(kind)](conversation, options)
}

/** Writes a Claude Code session file: first the session's data, then one line per message, each the child of the one before. */
function writeClaudeCode(conversation: Conversation, options: ExportOptions): Exported {
  const side = conversation.sidechain === true
  return writeSession("claude-code", conversation, options, (session, ready) => ({
    head: () => headOf(ready, session),
    write: (message, parent) => [writeLine(message, parent, session, side)],
    links: { id: "uuid", parent: "parentUuid" },
  }))
}

/** Returns the line with the system prompt and the tools, in the form of newer versions, if there are any. */
function headOf({ system, tools }: ConvertedConversation, { id }: SessionHeader): readonly string[] {
  if (system.length + tools.length === 0) return []
  const shape = writeObject({
    system: codecs["anthropic-messages"].writeSystem(system, wireText("[]")),
    tools: writeList(tools.map(({ wire }) => wire)),
  })
  return [onOneLine(writeObject({ type: write("api-request-shape"), sessionId: write(id), shape }))]
}

function writeLine(message: Message, parent: string | undefined, session: SessionHeader, side: boolean): WrittenLine {
  const { id: sessionId, cwd, version, now, nextId } = session
  const id = nextId()
  const line = writeObject({
    parentUuid: write(parent ?? null),
    isSidechain: write(side),
    userType: write("external"),
    cwd: write(cwd),
    sessionId: write(sessionId),
    version: writeOptional(version),
    ...saidFields(message, session, id),
    uuid: write(id),
    timestamp: write(now.iso),
  })
  return { line, id }
}

/**
 * Returns the fields of a message. An answer also has the API's data; a system message, which has no line type of its own, is also written
 * as information.
 */
function saidFields(message: Message, { model }: SessionHeader, id: string): Fields {
  const content = contentOf(message)
  const base = { role: write(message.role), content }
  if (message.role === "user") return { type: write("user"), message: writeObject(base) }
  if (message.role === "system") {
    const text = textOfMessage(message)
    const told = { subtype: write("informational"), level: write("info"), content: write(text) }
    return { type: write("system"), ...told, message: writeObject(base) }
  }
  const calls = message.parts.some(({ type }) => type === "tool-call")
  const answer = writeObject({
    model: write(model),
    id: write(`msg_${id}`),
    type: write("message"),
    ...base,
    stop_reason: write(calls ? "tool_use" : "end_turn"),
    stop_sequence: write(null),
    usage: write({ input_tokens: 0, output_tokens: 0 }),
  })
  return { type: write("assistant"), message: answer }
}

/** Returns the content unchanged, except that an answer's content is always a list of blocks. */
function contentOf(message: Message): Wire {
  const [wire] = codecs["anthropic-messages"].writeMessage(message)
  const content = wire === undefined ? undefined : member(readJson(wire, "request"), "content")
  if (content === undefined) return wireText("[]")
  if (message.role !== "assistant" || typeof content.value !== "string") return wireOf(content)
  return write([{ type: "text", text: content.value }])
}
