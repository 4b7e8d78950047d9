import { type Message, messageId, type Transcript, textOf, type Wire } from "../message/message.ts"
import { namesIn, present } from "../message/present.ts"
import { codecs } from "../wire/codecs.ts"
import { countIn, elements, isObject, type Json, member, stringIn, tryParse } from "../wire/json.ts"
import { overlay, write, writeObject } from "../wire/json-write.ts"
import type {
  AbandonedBranch,
  Compaction,
  Conversation,
  Exported,
  ExportOptions,
  MessageNote,
  SkippedLine,
  SkipReason,
  TranscriptFile,
} from "./conversation.ts"
import { type Line, type Lines, readLines } from "./lines.ts"
import { type SessionHeader, writeSession } from "./write-session.ts"

/** Prefixes of texts that Codex itself writes with the user's role. */
const contextMarks: readonly string[] = [
  "<environment_context>",
  "<user_instructions>",
  "# AGENTS.md",
  "<user_shell_command>",
  "<turn_aborted>",
  "<subagent_notification>",
  "<skill>",
]

/** True for a message with the user's role that the client wrote. */
function isContext({ role, parts }: Message): boolean {
  const [first] = parts
  return (
    role === "user" && first?.type === "text" && contextMarks.some((mark) => first.text.trimStart().startsWith(mark))
  )
}

const isUserTurn = (message: Message): boolean =>
  message.role === "user" && message.parts.every(({ type }) => type !== "tool-result") && !isContext(message)

const kind = "codex"

/** Known line types that the model never sees. */
const bookkeeping: ReadonlySet<string | undefined> = new Set(
  namesIn(
    "session_meta event_msg turn_context world_state token_usage_record inter_agent_communication_metadata security_risk_score realtime_item",
  ),
)

/** Items that are stored but never sent. */
const unsent: ReadonlySet<string | undefined> = new Set(["ghost_snapshot", "other"])

/** State while the lines are read. */
type Rollout = {
  readonly messages: Message[]
  readonly owned: Map<Message, readonly number[]>
  readonly compactions: Compaction[]
  readonly branches: AbandonedBranch[]
  readonly skipped: SkippedLine[]
  meta?: Json
  head?: number
  /** Until September 2025, lines were bare items after a first line with the session's data. */
  bare: boolean
  model?: string | undefined
}

/** Reads a Codex rollout: the current items, those that were rolled back, and each compaction. */
export function readCodex(text: string): TranscriptFile {
  const rollout: Rollout = {
    messages: [],
    owned: new Map(),
    compactions: [],
    branches: [],
    skipped: [],
    bare: false,
  }
  const lines = readLines(text, (line) => readLine(line, rollout))
  if (lines.cut !== undefined) rollout.skipped.push(lines.cut)
  return { kind, conversations: [conversationOf(rollout, lines)], skipped: rollout.skipped }
}

function readLine(line: Line, rollout: Rollout): void {
  const { json, index } = line
  const type = stringIn(json, "type")
  const payload = member(json, "payload")
  const isMeta = payload === undefined ? isBareMeta(json) : type === "session_meta"
  if (isMeta && rollout.meta === undefined) {
    rollout.meta = payload ?? json
    rollout.head = index
    rollout.bare = payload === undefined
    return
  }
  const item = type === "response_item" ? payload : rollout.bare && payload === undefined ? json : undefined
  if (item !== undefined && stringIn(item, "type") !== undefined && !unsent.has(stringIn(item, "type"))) {
    const message = codecs["openai-responses"].readMessage(item, rollout.messages)
    rollout.messages.push(message)
    rollout.owned.set(message, [index])
    return
  }
  if (type === "compacted" && payload !== undefined) rollout.compactions.push(readCompaction(payload, rollout))
  else {
    if (type === "turn_context") rollout.model = stringIn(payload, "model") ?? rollout.model
    if (stringIn(payload, "type") === "thread_rolled_back") rollBack(countIn(payload, "num_turns") ?? 0, rollout)
    rollout.skipped.push(skip(line, type, payload))
  }
}

const isBareMeta = (json: Json): boolean =>
  stringIn(json, "type") === undefined &&
  stringIn(json, "id") !== undefined &&
  stringIn(json, "timestamp") !== undefined

function skip({ number, text, json }: Line, type: string | undefined, payload: Json | undefined): SkippedLine {
  const known =
    bookkeeping.has(type) || unsent.has(stringIn(payload, "type")) || member(json, "record_type") !== undefined
  const reason: SkipReason = known ? "no-message" : "unknown-type"
  const inner = stringIn(payload, "type")
  return { line: number, reason, text, ...present({ type: inner === undefined ? type : `${type} ${inner}` }) }
}

/** Reads a compaction. Older versions stored only the summary: the user's messages and then the summary replaced the rest. */
function readCompaction(payload: Json, { messages, compactions }: Rollout): Compaction {
  const history = member(payload, "replacement_history")
  const at = messages.length
  if (history === undefined || !Array.isArray(history.value)) {
    const text = stringIn(payload, "message") ?? ""
    const summary: Message = {
      id: messageId(`c${compactions.length}.m0`),
      role: "user",
      parts: [{ type: "text", text }],
    }
    return { at, replacement: [...messages.filter(isUserTurn), summary] }
  }
  const replacement: Message[] = []
  for (const item of elements(history)) {
    const read = codecs["openai-responses"].readMessage(item, replacement)
    replacement.push({ ...read, id: messageId(`c${compactions.length}.m${replacement.length}`) })
  }
  return { at, replacement }
}

/** Turns the last turns into a branch that was rolled back; compactions in them are dropped. */
function rollBack(turns: number, { messages, owned, compactions, branches }: Rollout): void {
  let at = messages.length
  let left = turns
  for (let index = messages.length - 1; index >= 0 && left > 0; index--) {
    const message = messages[index]
    if (message === undefined || !isUserTurn(message)) continue
    at = index
    left--
  }
  if (at === messages.length) return
  const gone = messages.splice(at)
  for (const message of gone) owned.delete(message)
  while ((compactions.at(-1)?.at ?? 0) > at) compactions.pop()
  branches.push({
    reason: "rolled-back",
    messages: gone.map((message, n) => ({ ...message, id: messageId(`b${branches.length}.m${n}`) })),
    ...present({ from: messages.at(-1)?.id }),
  })
}

const notesOf = (messages: Transcript): readonly MessageNote[] =>
  messages.flatMap((message) => (isContext(message) ? { message: message.id, note: "client-written" } : []))

function conversationOf(
  { messages, owned, compactions, branches, meta, head, model }: Rollout,
  lines: Lines,
): Conversation {
  const instructions = stringIn(meta, "instructions") ?? stringIn(meta && member(meta, "base_instructions"), "text")
  const fields = isObject(meta?.value) ? meta.value : {}
  const rest = Object.entries(fields).filter(([name]) => name !== "instructions" && name !== "base_instructions")
  return {
    format: "openai-responses",
    system: instructions === undefined ? [] : [{ type: "text", text: instructions }],
    tools: [],
    messages,
    compactions,
    branches,
    notes: notesOf(messages),
    meta: Object.fromEntries(rest),
    origin: {
      type: "lines",
      kind,
      lines: lines.all,
      owned,
      messages,
      head: head === undefined ? [] : [head],
      cut: lines.cut !== undefined,
    },
    ...present({ id: stringIn(meta, "id"), model }),
  }
}

/** Writes a Codex rollout: a line with the session's data, and one line per item. */
export function writeCodex(conversation: Conversation, options: ExportOptions): Exported {
  const bare = isBare(conversation)
  return writeSession("codex", conversation, options, (session) => ({
    head: () => [headOf(conversation, session)],
    write: (message) => itemsOf(message).map((item) => ({ line: bare ? item : lineOf(item, session), id: "" })),
  }))
}

/** True if it continues a file whose lines are bare items. */
function isBare({ origin }: Conversation): boolean {
  if (origin?.type !== "lines" || origin.kind !== "codex") return false
  const [head] = origin.head
  const first = head === undefined ? undefined : tryParse(origin.lines[head] ?? "")
  return isObject(first) && first.payload === undefined
}

function headOf({ system, meta }: Conversation, { id, cwd, now, model }: SessionHeader): string {
  const instructions = system
    .map(textOf)
    .filter((text) => text !== "")
    .join("\n\n")
  const payload = {
    id,
    timestamp: now.iso,
    cwd,
    originator: typeof meta.originator === "string" ? meta.originator : "holdfast",
    cli_version: typeof meta.cli_version === "string" ? meta.cli_version : "0.0.0",
    source: "exec",
    model_provider: typeof meta.model_provider === "string" ? meta.model_provider : null,
    ...(model === "unknown" ? {} : { model }),
    ...(instructions === "" ? {} : { base_instructions: { text: instructions } }),
  }
  return write({ timestamp: now.iso, type: "session_meta", payload })
}

const lineOf = (item: Wire, { now }: SessionHeader): string =>
  writeObject({ timestamp: write(now.iso), type: write("response_item"), payload: item })

/** Returns the items of a message. Codex requires a type on every message, and its content as a list. */
function itemsOf(message: Message): readonly Wire[] {
  return codecs["openai-responses"].writeMessage(message).map((item) => {
    const value = tryParse(item)
    if (!isObject(value) || (value.type !== undefined && value.type !== "message")) return item
    const { role, content } = value
    const type = role === "assistant" ? "output_text" : "input_text"
    const list = typeof content === "string" ? { content: write([{ type, text: content }]) } : {}
    return overlay(item, { type: write("message"), ...list })
  })
}
