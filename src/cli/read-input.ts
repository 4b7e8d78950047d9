import { createReadStream } from "node:fs"
import { open, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { codeOrThrow, HoldfastError } from "../message/errors.ts"
import { type Format, type Wire, wireText } from "../message/message.ts"
import { suggest } from "../message/nearest.ts"
import { present } from "../message/present.ts"
import { type Conversation, contextOf, type FileKind } from "../transcript/conversation.ts"
import { exportTranscript } from "../transcript/export.ts"
import { importTranscript } from "../transcript/import.ts"
import { firstLine } from "../transcript/lines.ts"
import { codecs } from "../wire/codecs.ts"
import { readJson, tryParse } from "../wire/json.ts"
import { overlay, write } from "../wire/json-write.ts"
import { misuse, unusable } from "./command.ts"
import { fileNamesIn } from "./running-gateway.ts"
import type { World } from "./world.ts"

/** Limit on input: a body has at most 100 million characters, and several copies of its text are in memory. */
export const maxInputBytes = 128_000_000

export type Input = { readonly name: string; readonly text: string }

/** Reads the file, or standard input; fails with the reason if there is no usable text, and with what is `wanted` instead. */
export async function readInput(
  path: string | undefined,
  world: World,
  wanted = "a request body or a transcript as JSON",
): Promise<Input> {
  if (path === undefined && world.stdinIsTerminal)
    return misuse("There is nothing to read.", "Name a file, or pipe a request body in. --help says more.")
  if (path === undefined || path === "-") return await readAll("standard input", world.stdin, wanted)
  try {
    const { size } = await stat(path)
    if (size > maxInputBytes) return tooLarge(path, megabytes(size))
    return await readAll(path, createReadStream(path), wanted)
  } catch (error) {
    return unreadable(path, codeOrThrow(error))
  }
}

/** Reads a short private file, and whether only its owner may read it. `text` is undefined if it is longer than `maxBytes`. */
export async function readOwnFile(path: string, maxBytes: number) {
  const file = await open(path, "r")
  try {
    const { mode, size } = await file.stat()
    const text = size > maxBytes ? undefined : await file.readFile("utf8")
    return { text, isPrivate: process.platform === "win32" || (mode & 0o077) === 0 }
  } finally {
    await file.close()
  }
}

/** Fails because a file could not be read, by the code of the system's error. */
export function unreadable(path: string, code: string): never {
  unusable("input-unreadable", ...wordsFor(path, code))
}

function wordsFor(path: string, code: string): [sentence: string, next: string] {
  if (code === "ENOENT") return [`There is no file ${path}.`, suggestFile(path)]
  if (code === "EISDIR") return [`${path} is a folder.`, "Name one file in it."]
  if (code === "EACCES" || code === "EPERM") return [`${path} may not be read.`, "Check who may read it."]
  return [`${path} could not be read (${code}).`, "Check the name and the disk."]
}

/** Suggests the file in the folder that was most likely meant, or what else to do. */
function suggestFile(path: string): string {
  const folder = dirname(path)
  const here = suggest(basename(path), fileNamesIn(folder), "")
  if (here === "") return "Check the name, and the folder that you are in."
  return folder === "." ? here : here.replace(/^Did you mean /, `Did you mean ${join(folder, "/")}`)
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`

const tooLarge = (name: string, size: string): never =>
  unusable(
    "input-too-large",
    `${name} has ${size}; at most ${megabytes(maxInputBytes)} are read.`,
    "Give one session or one request at a time, with large media by URL or file id.",
  )

async function readAll(name: string, chunks: AsyncIterable<Uint8Array>, wanted: string): Promise<Input> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxInputBytes) return tooLarge(name, `more than ${megabytes(maxInputBytes)}`)
    read.push(chunk)
  }
  return decode(name, Buffer.concat(read), wanted)
}

function decode(name: string, bytes: Uint8Array, wanted: string): Input {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (wide) return unusable("input-not-text", `${name} is text in UTF-16.`, "Save it as UTF-8.")
  const text = bytes.includes(0) ? undefined : textOf(bytes)
  if (text === undefined) return unusable("input-not-text", `${name} is not text in UTF-8.`, `Give ${wanted}.`)
  if (!/\S/.test(text)) return unusable("input-empty", `${name} is empty.`, `Give ${wanted}.`)
  return { name, text }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** An opened file: the body of the request that the client would send next, and facts about the file. */
export type OpenedRequest = {
  readonly body: string
  readonly format: Format
  readonly kind: FileKind | "request"
  /** The model named in the file, if the body does not name it. */
  readonly model?: string
  /** The index of this conversation, and the number of conversations in the file. */
  readonly index: number
  readonly count: number
  /** Number of lines that were cut off or are of an unknown type. */
  readonly unread: number
  /** Number of parts that the format cannot express. */
  readonly lost: number
}

type OpenOptions = { readonly format?: Format; readonly index: number }

/** Reads a request body of any format, or a transcript file of any kind. */
export function openRequest(text: string, { format, index }: OpenOptions): OpenedRequest {
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

const noSuch = (count: number, index: number): never =>
  count === 0
    ? unusable("input-empty", "The file holds no conversation.", "Give a file with at least one message.")
    : unusable(
        "index-too-large",
        `There is no conversation ${index}: the file holds ${count}, counted from 0.`,
        `Give --index 0${count === 1 ? "" : ` to ${count - 1}`}.`,
      )

/** Undefined if the shape is unknown and the user named a format: then that format is used. */
function importFile(text: string, format: Format | undefined): ReturnType<typeof importTranscript> | undefined {
  try {
    return importTranscript(text, present({ format }))
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "format-unknown") throw error
    if (format !== undefined) return undefined
    // If it is not JSON, this throws a Problem with the place of the error.
    if (tryParse(firstLine(text)) === undefined) readJson(text, "request")
    throw error
  }
}

type Body = Pick<OpenedRequest, "body" | "format" | "kind" | "model" | "lost">

/** The fields of a trace file that are not part of the request. */
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

/** Wraps a message list in a body, with the session's model; for Gemini the model is in the URL. */
function asBody(text: Wire, format: Format, model: string | undefined): string {
  const whole = text.startsWith("[") ? `{${JSON.stringify(codecs[format].names.messages[0])}:${text}}` : text
  return model === undefined || format === "gemini" ? whole : overlay(wireText(whole), { model: write(model) })
}
