import { quoteText } from "../message/fence.ts"
import {
  type CallId,
  type Format,
  type Message,
  type MessageId,
  messageId,
  type Part,
  type Role,
  type ToolCallPart,
  type ToolResultPart,
  type Transcript,
  type Wire,
  wireText,
} from "../message/message.ts"
import { cutIntoRuns, present } from "../message/present.ts"
import { codecOf, codecs } from "./codecs.ts"
import { isObject, type Json, memberOf, readJson, tryParse, wireOf } from "./json.ts"
import { write, writeObject } from "./json-write.ts"

/** A part that could not be carried into the other format completely, and why. */
export type LossEvent = {
  readonly type: "part-lost"
  readonly messageId: MessageId
  readonly part: Part["type"]
  readonly reason: string
}

export type Translation = { readonly messages: Transcript; readonly lost: readonly LossEvent[] }

/** The context of a translation: the message of a part, the target format, and the calls so far. */
type Transfer = {
  readonly message: Message
  readonly to: Format
  readonly calls: ReadonlyMap<CallId, ToolCallPart>
  readonly lost: LossEvent[]
}

/**
 * Translates a conversation to another wire format: texts, calls, results and roles stay, and what cannot be carried is reported. A
 * message already in that format stays the same object; every other is read back through the target's codec.
 */
export function translate(messages: Transcript, to: Format): Translation {
  codecOf(to) // throws for an unknown format name
  const lost: LossEvent[] = []
  const calls = new Map<CallId, ToolCallPart>()
  const out: Message[] = []
  for (const group of cutIntoRuns(messages, (before, message) => areJoined(before, message, to))) {
    const [first] = group
    // A result answers the newest call with its id: some histories use an id twice.
    for (const part of group.flatMap(({ parts }) => parts)) if (part.type === "tool-call") calls.set(part.callId, part)
    if (first.format === to) out.push(first)
    else {
      const parts = group.flatMap((message) => carryMessage({ message, to, calls, lost }))
      const wires = splitByRole(first, parts, to).flatMap((message) => codecs[to].writeMessage(message))
      for (const [n, wire] of wires.entries())
        out.push(readBack(wire, n === 0 ? first.id : messageId(`${first.id}.${n}`), to, out))
    }
  }
  return { messages: out, lost }
}

/**
 * True if two messages become one. OpenAI Responses has an item for each piece of an answer, where the others have one message; Anthropic
 * and Gemini want all results of a round in one message, where OpenAI has one for each.
 */
function areJoined(before: Message, message: Message, to: Format): boolean {
  if (before.role !== message.role || before.format === to || message.format === to) return false
  if (message.role === "assistant") {
    return to !== "openai-responses" && before.format === "openai-responses" && message.format === "openai-responses"
  }
  return (to === "anthropic-messages" || to === "gemini") && onlyResults(before) && onlyResults(message)
}

const onlyResults = ({ parts }: Message): boolean =>
  parts.length > 0 && parts.every((part) => part.type === "tool-result")

/** Reads the written message back through the target's codec, so that the result is what a reader of that format sees. */
const readBack = (wire: Wire, id: MessageId, to: Format, earlier: readonly Message[]): Message => ({
  ...codecs[to].readMessage(readJson(wire, "request"), earlier),
  id,
})

/** Splits a message by role: some histories have a call in a user message or a result in an answer. */
function splitByRole({ id, role }: Message, parts: readonly Part[], to: Format): readonly Message[] {
  const sideOf = ({ type }: Part): Role =>
    type === "tool-result" ? "user" : type === "tool-call" || type === "reasoning" ? "assistant" : role
  const runs = cutIntoRuns(parts, (before, part) => sideOf(before) === sideOf(part))
  return runs.map((run) => ({ id, role: sideOf(run[0]), parts: inOrder(run, to) }))
}

/** Results come first, because their call is right before them; in chat, reasoning is one text and calls follow the content. */
function inOrder(parts: readonly Part[], to: Format): readonly Part[] {
  const results = parts.filter((part) => part.type === "tool-result")
  const rest = parts.filter((part) => part.type !== "tool-result")
  if (to !== "openai-chat") return [...results, ...rest]
  const reasoning = rest.flatMap((part) => (part.type === "reasoning" ? part.text : []))
  const calls = rest.filter((part) => part.type === "tool-call")
  const content = rest.filter((part) => part.type !== "tool-call" && part.type !== "reasoning")
  const thought: readonly Part[] = reasoning.length === 0 ? [] : [{ type: "reasoning", text: reasoning.join("\n") }]
  return [...results, ...thought, ...content, ...calls]
}

// Parts

function carryMessage(transfer: Transfer): readonly Part[] {
  const { message, to } = transfer
  if (message.role === "system" && to === "gemini" && message.parts.length > 0)
    lose(transfer, "text", "the target has no system role among its messages; the text is the user's now")
  return message.parts.flatMap((part) => carry(part, transfer))
}

function carry(part: Part, transfer: Transfer): readonly Part[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }]
    case "reasoning":
      if (transfer.to === "openai-chat" && part.signature === undefined && part.sealed !== true)
        return part.text === "" ? [] : [{ type: "reasoning", text: part.text }]
      return lose(transfer, part.type, "reasoning is worth something to the provider that signed it only")
    case "tool-call":
      return [carryCall(part, transfer)]
    case "tool-result":
      return [carryResult(part, transfer)]
    case "image":
    case "document":
      return [carryMedia(part, transfer, false)]
    case "opaque":
      return lose(transfer, part.type, `only its own provider can read a ${part.kind} item`)
    case "unknown":
      return lose(transfer, part.type, "a block of a type that is not known here")
  }
}

function lose({ message, lost }: Transfer, part: Part["type"], reason: string): readonly Part[] {
  lost.push({ type: "part-lost", messageId: message.id, part, reason })
  return []
}

function carryCall(part: ToolCallPart & Pick<Part, "wire">, transfer: Transfer): Part {
  const { callId, tool, kind, input } = part
  const { to, message } = transfer
  if (kind === "provider" || kind === "approval") {
    lose(transfer, "tool-call", "the call was not the client's to run; it is told as text")
    return { type: "text", text: quoteText(part) }
  }
  const openai = to === "openai-chat" || to === "openai-responses"
  if (kind === "custom" && openai) return { type: "tool-call", callId, tool, kind, input }
  const wrapped = input === undefined || input === null ? {} : { input }
  const raw = inputText(part, message.format)
  const wire = raw === undefined ? undefined : writeCall(part, raw, to)
  const call = { type: "tool-call", callId, tool, kind: "function", ...present({ wire }) } as const
  return { ...call, input: openai || isObject(input) ? input : wrapped }
}

/** Returns the input as the provider wrote it, if its value is unchanged, so that numbers beyond double precision keep their digits. */
export function inputText(part: ToolCallPart & Pick<Part, "wire">, format: Format | undefined): Wire | undefined {
  const raw =
    part.wire === undefined || format === undefined ? undefined : rawInput(readJson(part.wire, "request"), format)
  const same = raw !== undefined && isObject(part.input) && JSON.stringify(tryParse(raw)) === JSON.stringify(part.input)
  return same ? raw : undefined
}

function rawInput(json: Json, format: Format): Wire | undefined {
  const inner = memberOf(json, ["function", "functionCall", "function_call"]) ?? json
  const found = memberOf(inner, format === "gemini" ? ["args"] : ["arguments", "input", "action", "operation"])
  if (found === undefined) return undefined
  return typeof found.value === "string" ? wireText(found.value) : wireOf(found)
}

function writeCall({ callId, tool }: ToolCallPart, input: Wire, to: Format): Wire {
  const [id, name] = [write(callId), write(tool)]
  switch (to) {
    case "anthropic-messages":
      return writeObject({ type: write("tool_use"), id, name, input })
    case "openai-chat":
      return writeObject({ id, type: write("function"), function: writeObject({ name, arguments: write(input) }) })
    case "openai-responses":
      return writeObject({ type: write("function_call"), call_id: id, name, arguments: write(input) })
    case "gemini":
      return writeObject({ functionCall: writeObject({ id, name, args: input }) })
  }
}

function carryResult(part: ToolResultPart, transfer: Transfer): Part {
  const { to, calls } = transfer
  if (part.kind === "provider" || part.kind === "approval") {
    lose(transfer, "tool-result", "the call was not the client's to run; its result is told as text")
    return { type: "text", text: quoteText(part) }
  }
  const content = part.content.flatMap((item) =>
    item.type === "image" || item.type === "document" ? carryMedia(item, transfer, true) : carry(item, transfer),
  )
  const marked = to === "anthropic-messages" || to === "gemini"
  if (part.failed === true && !marked) lose(transfer, part.type, "the target cannot mark a result as failed")
  const call = calls.get(part.callId)
  const kind = to === "openai-responses" && call?.kind === "custom" ? "custom" : "function"
  const result: ToolResultPart = {
    type: "tool-result",
    callId: part.callId,
    kind,
    content,
    ...(part.failed === true && marked ? { failed: true } : {}),
  }
  return to === "gemini" ? { ...result, wire: namedResult(result, call?.tool ?? "unknown") } : result
}

/** In Gemini a result names its function, which our parts do not. */
function namedResult({ callId: id, content, failed }: ToolResultPart, name: string): Wire {
  const text = content.flatMap((item) => (item.type === "text" ? item.text : [])).join("\n")
  return write({ functionResponse: { id, name, response: { [failed === true ? "error" : "output"]: text } } })
}

// Media

type MediaPart = Extract<Part, { readonly type: "image" | "document" }>

/** The data of an image or file, independent of a format. */
type Bytes = { readonly mediaType?: string; readonly data?: string; readonly url?: string; readonly title?: string }

/** Carries the data in the target's block if it is accepted at that place; otherwise its text, or a note in brackets. */
function carryMedia(part: MediaPart, transfer: Transfer, inResult: boolean): Part {
  const { message, to } = transfer
  const bytes = message.format === undefined ? undefined : bytesOf(part, message.format)
  const taken = (message.role === "user" || inResult) && !(inResult && to === "openai-chat")
  const wire = bytes === undefined || !taken ? undefined : writeMedia(part.type, bytes, to)
  if (wire !== undefined) return { type: part.type, media: part.media, wire: write(wire) }
  const title = part.type === "document" ? part.title : undefined
  const told = part.type === "document" ? part.text : undefined
  lose(transfer, part.type, told === undefined ? "the target cannot take it there" : "only its text was carried")
  const label = [part.type, title, part.media.mediaType]
    .flatMap((word) => (word === undefined ? [] : shortName(word)))
    .join(" ")
  return { type: "text", text: told === undefined ? `[${label}: left out]` : `[${label}]\n${told}` }
}

/** Shortens a title to one line. */
const shortName = (title: string): string => title.replace(/\s+/g, " ").slice(0, 80)

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const record = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

function bytesOf(part: MediaPart, format: Format): Bytes | undefined {
  const block = record(part.wire === undefined ? undefined : tryParse(part.wire))
  if (format === "anthropic-messages") {
    const { type, media_type, data, url } = record(block.source)
    if (block.type !== "image" && block.type !== "document") return undefined
    if (type === "base64") return present({ mediaType: text(media_type), data: text(data), title: text(block.title) })
    return type === "url" ? present({ url: text(url), title: text(block.title) }) : undefined
  }
  if (format === "gemini") {
    const { mimeType, mime_type, data } = record(block.inlineData ?? block.inline_data)
    return data === undefined ? undefined : present({ mediaType: text(mimeType ?? mime_type), data: text(data) })
  }
  const { file_data, filename } = format === "openai-chat" ? record(block.file) : block
  const image = text(block.image_url) ?? text(record(block.image_url).url)
  const url = image ?? text(file_data) ?? text(block.file_url)
  return url === undefined ? undefined : { ...bytesOfUrl(url), ...present({ title: text(filename) }) }
}

function bytesOfUrl(url: string): Bytes {
  const inline = /^data:([^;,]{1,127});base64,/i.exec(url)
  return inline === null ? { url } : { ...present({ mediaType: inline[1] }), data: url.slice(inline[0].length) }
}

function writeMedia(type: MediaPart["type"], bytes: Bytes, to: Format): unknown {
  const { mediaType, data, url, title } = bytes
  const inline = data !== undefined && mediaType !== undefined
  const address = inline ? `data:${mediaType};base64,${data}` : url
  if (to === "gemini") {
    const image = mediaType?.startsWith("image/") === true
    return inline && image === (type === "image") ? { inlineData: { mimeType: mediaType, data } } : undefined
  }
  if (address === undefined || (type === "document" && !inline)) return undefined
  if (to === "openai-chat")
    return type === "image"
      ? { type: "image_url", image_url: { url: address } }
      : { type: "file", file: { filename: title ?? "document", file_data: address } }
  if (to === "openai-responses")
    return type === "image"
      ? { type: "input_image", image_url: address }
      : { type: "input_file", filename: title ?? "document", file_data: address }
  if (type === "document" && mediaType !== "application/pdf") return undefined
  const source = inline ? { type: "base64", media_type: mediaType, data } : { type: "url", url }
  return { type, source, ...(type === "document" && title !== undefined ? { title } : {}) }
}
