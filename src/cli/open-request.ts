import { HoldfastError } from "../message/errors.ts"
import { type Wire, wireText } from "../message/ids.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { type Conversation, contextOf, type FileKind } from "../transcript/conversation.ts"
import { exportTranscript } from "../transcript/export.ts"
import { importTranscript } from "../transcript/import.ts"
import { firstLine } from "../transcript/lines.ts"
import { codecs } from "../wire/codecs.ts"
import { overlay, readJson, tryParse, write } from "../wire/json.ts"
import { type Failure, unusable } from "./failure.ts"

/** What was opened: the body of the request that the client would send next, and what is worth knowing of its file. */
export type Opened = {
  readonly body: string
  readonly format: Format
  readonly kind: FileKind | "request"
  /** As the file names it, where the body does not. */
  readonly model?: string
  /** Which of how many conversations this is. */
  readonly index: number
  readonly count: number
  /** Lines that broke off or that nobody knows. */
  readonly unread: number
  /** Parts that the format could not take over. */
  readonly lost: number
}

export type OpenOptions = { readonly format?: Format; readonly index: number }

/** Read a request body of any format, or a transcript file of any kind. */
export function openRequest(text: string, { format, index }: OpenOptions): Opened | Failure {
  const file = importFile(text, format)
  if (file === undefined) {
    const whole = { index: 0, count: 1, unread: 0, lost: 0 }
    return { ...whole, body: text, format: format ?? "openai-chat", kind: "request" }
  }
  const { kind, conversations, skipped } = file
  const conversation = conversations[index]
  if (conversation === undefined) return noSuch(conversations.length, index)
  const unread = skipped.filter(({ reason }) => reason === "cut-off" || reason === "unknown-type").length
  return { index, count: conversations.length, unread, ...bodyOf(conversation, kind, format) }
}

const noSuch = (count: number, index: number): Failure =>
  count === 0
    ? unusable("input-empty", "The file holds no conversation.", "Give a file with at least one message.")
    : unusable(
        "index-too-large",
        `There is no conversation ${index}: the file holds ${count}, counted from 0.`,
        `Give --index 0${count === 1 ? "" : ` to ${count - 1}`}.`,
      )

/** Nothing where the shape tells nothing and the user says what it is: then it is that. */
function importFile(text: string, format: Format | undefined): ReturnType<typeof importTranscript> | undefined {
  try {
    return importTranscript(text, present({ format }))
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "format-unknown") throw error
    if (format !== undefined) return undefined
    // What is no JSON at all is told where it breaks.
    if (tryParse(firstLine(text)) === undefined) readJson(text, "request")
    throw error
  }
}

type Body = Pick<Opened, "body" | "format" | "kind" | "model" | "lost">

/** What a trace says of itself beside the request. */
const traceFields = { id: undefined, source: undefined, title: undefined }

function bodyOf(conversation: Conversation, kind: FileKind, asked: Format | undefined): Body {
  const { origin, model } = conversation
  if (origin?.type === "body") {
    const { wire, format } = origin.request
    const body = kind === "trace" ? overlay(wire, traceFields) : wire
    return { body, format, kind: kind === "messages" && !origin.bare ? "request" : kind, lost: 0 }
  }
  const format = asked ?? conversation.format
  const said = { ...conversation, messages: contextOf(conversation) }
  const { text, lost, lostTools } = exportTranscript(said, "messages", { format })
  const body = asBody(wireText(text.trim()), format, model)
  return { body, format, kind, lost: lost.length + lostTools.length, ...present({ model }) }
}

/** A list as the body that carries it, with the model that the session ran on; Gemini names that in its URL. */
function asBody(text: Wire, format: Format, model: string | undefined): string {
  const whole = text.startsWith("[") ? `{${JSON.stringify(codecs[format].names.messages[0])}:${text}}` : text
  return model === undefined || format === "gemini" ? whole : overlay(wireText(whole), { model: write(model) })
}
