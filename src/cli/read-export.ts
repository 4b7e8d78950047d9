import { type Format, formats, type Message } from "../message/message.ts"
import { present } from "../message/present.ts"
import { createHoldfast } from "../session/holdfast.ts"
import type { HistoryEntry } from "../session/inspect.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { importSession } from "../store/session-file.ts"
import { fileInvalid } from "../transcript/body.ts"
import type { FileKind, TranscriptFile } from "../transcript/conversation.ts"
import { importTranscript } from "../transcript/import.ts"
import { firstLine } from "../transcript/lines.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { unusable } from "./command.ts"

/** A file of conversations, of an agent or of our own. */
export type ConversationFile = Omit<TranscriptFile, "kind"> & { readonly kind: FileKind | "holdfast" }

/** Reads what `holdfast sessions export` or the inspector exported: the current branch, and no compaction. Undefined for any other file. */
export async function readExport(text: string): Promise<ConversationFile | undefined> {
  const head = tryParse(firstLine(text))
  if (!isObject(head)) return undefined
  if (head.type === "session" && typeof head.session === "string") return readSessionFile(text)
  return head.type === "session-opened" && head.id === "e1" ? readHistoryFile(text) : undefined
}

/** Number of entries read at a time. */
const page = 1000

async function readSessionFile(text: string): Promise<ConversationFile> {
  const store = createMemoryStore()
  const holdfast = createHoldfast({ store })
  try {
    const { session: id, entries } = await importSession(store, text.split("\n"))
    const session = holdfast.session(id)
    const messages: Message[] = []
    let model: string | undefined
    for (let from = 1; from <= entries; from += page)
      for (const entry of await session.history({ from, limit: page })) {
        if (entry.message !== undefined && entry.onBranch === true) messages.push(entry.message)
        model = modelIn(entry) ?? model
      }
    const format = messages.findLast((message) => message.format !== undefined)?.format ?? "anthropic-messages"
    const lists = { system: [], tools: [], compactions: [], branches: [], notes: [] }
    const conversation = { id, format, messages, meta: {}, ...lists, ...present({ model }) }
    return { kind: "holdfast", conversations: [conversation], skipped: [] }
  } finally {
    await holdfast.close()
  }
}

const modelIn = ({ body }: Pick<HistoryEntry, "body">): string | undefined =>
  body?.type === "usage-reported" ? body.model : undefined

/** Entries as the inspector exports them, read anew from the wire text of their messages. */
function readHistoryFile(text: string): ConversationFile {
  const entries = text.split("\n").flatMap((line, n) => (line.trim() === "" ? [] : entryIn(line, n + 1)))
  const said = entries.flatMap(({ message }) => message ?? [])
  const format = said.at(-1)?.format
  if (said.some((message) => message.wire === undefined || message.format !== format))
    return unusable(
      "format-unknown",
      "It is a session with messages of several formats, or without their wire text.",
      "Export it with holdfast sessions export, and replay that file.",
    )
  const list = `[${said.map(({ wire }) => wire).join(",")}]`
  const { conversations, skipped } = importTranscript(list, { kind: "messages", ...present({ format }) })
  const model = entries.findLast((entry) => entry.model !== undefined)?.model
  return {
    kind: "holdfast",
    conversations: conversations.map((conversation) => ({ ...conversation, ...present({ model }) })),
    skipped,
  }
}

type ExportedEntry = {
  /** A message on the current branch. */
  readonly message?: { readonly format?: Format; readonly wire?: string }
  readonly model?: string
}

function entryIn(line: string, number: number): ExportedEntry {
  const entry = tryParse(line)
  if (!isObject(entry)) throw fileInvalid(number, "an entry of a session", "something else")
  const { message, onBranch, body } = entry
  if (isObject(body) && body.type === "usage-reported" && typeof body.model === "string") return { model: body.model }
  if (!isObject(message) || onBranch !== true) return {}
  const format = formats.find((known) => known === message.format)
  return { message: present({ format, wire: typeof message.wire === "string" ? message.wire : undefined }) }
}
