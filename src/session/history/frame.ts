import { HoldfastError, refuseOption } from "../../message/errors.ts"
import {
  type Format,
  formats,
  type Message,
  type ModelRequest,
  messageId,
  type Transcript,
  textOf,
} from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { codecs } from "../../wire/codecs.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { isObject } from "../../wire/json.ts"
import type { PrepareOptions } from "./prepared.ts"

/** The parts of a request besides its messages, for callers without a body of their own. */
type FrameOptions = Pick<PrepareOptions, "model" | "system" | "tools" | "maxOutputTokens" | "stream"> & {
  readonly format: Format
}

type Frame = (
  options: Omit<FrameOptions, "system"> & { readonly system: string | undefined },
) => Readonly<Record<string, unknown>>

/** Anthropic requires `max_tokens`; this value is used in its own examples, and is more than a turn of an agent needs. */
const anthropicOutput = 4096

/** A request without messages in each format. JSON omits undefined members. */
const frames: Readonly<Record<Format, Frame>> = {
  "anthropic-messages": ({ model, system, tools, maxOutputTokens = anthropicOutput, stream }) => ({
    model,
    max_tokens: maxOutputTokens,
    stream,
    system,
    tools,
    messages: [],
  }),
  "openai-chat": ({ model, system, tools, maxOutputTokens, stream }) => ({
    model,
    max_completion_tokens: maxOutputTokens,
    stream,
    tools,
    messages: system === undefined ? [] : [{ role: "system", content: system }],
  }),
  "openai-responses": ({ model, system, tools, maxOutputTokens, stream }) => ({
    model,
    max_output_tokens: maxOutputTokens,
    stream,
    instructions: system,
    tools,
    input: [],
  }),
  gemini: ({ system, tools, maxOutputTokens }) => ({
    systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
    tools,
    generationConfig: maxOutputTokens === undefined ? undefined : { maxOutputTokens },
    contents: [],
  }),
}

const listName = (format: Format): string => codecs[format].names.messages[0] ?? ""

/**
 * Builds a request to put the log's messages into, from options or from a body without messages. `known` is the frame of the previous
 * call: it is returned if the text is the same, so that results cached for its objects stay valid.
 */
export function frameFor(
  options: FrameOptions,
  body?: Readonly<Record<string, unknown>>,
  known?: ModelRequest,
): ModelRequest {
  const { system, tools, ...rest } = options
  const plain = typeof system === "string" ? system : system?.map(textOf).join("\n\n")
  const said = { ...rest, system: plain, ...present({ tools: tools?.map(toolWire) }) }
  const text = JSON.stringify(body === undefined ? frames[options.format](said) : withList(options.format, body))
  if (known?.wire === text && known.format === options.format && known.model === options.model) return known
  const request = decodeRequest(options.format, text)
  return options.model === undefined ? request : { ...request, model: options.model }
}

const toolWire = (tool: unknown): unknown =>
  isObject(tool) && typeof tool.wire === "string" ? JSON.parse(tool.wire) : tool

const withList = (format: Format, body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.hasOwn(body, listName(format)) ? body : { ...body, [listName(format)]: [] }

/** True if a body contains messages, so that it is the client's own history. */
export function carriesMessages(format: Format, body: unknown): boolean {
  if (!isObject(body)) {
    throw new HoldfastError({ code: "request-invalid", path: "the body", expected: "an object", found: typeof body })
  }
  const list = body[listName(format)]
  return list !== undefined && list !== null && !(Array.isArray(list) && list.length === 0)
}

/** A decoded message, or one in its wire format; plain text of a user or assistant needs no format. */
export type MessageLike = Message | object

const isMessage = (value: unknown): value is Message =>
  isObject(value) && typeof value.id === "string" && typeof value.role === "string" && Array.isArray(value.parts)

/** Decodes messages given in any of these forms. */
export function readMessagesLike(values: readonly MessageLike[], format: Format | undefined): Transcript {
  if (!Array.isArray(values)) refuseOption("messages", "a list of messages", typeof values)
  if (values.every(isMessage)) return values
  if (format !== undefined && !formats.includes(format))
    refuseOption("format", `one of ${formats.join(", ")}`, String(format))
  const plain = values.map(plainMessage)
  if (format === undefined && plain.every((message) => message !== undefined)) return plain
  if (format === undefined)
    return refuseOption("format", `one of ${formats.join(", ")}, to read these messages`, "nothing")
  return decodeMessages(format, values)
}

function plainMessage(value: unknown, n: number): Message | undefined {
  if (isMessage(value)) return value
  if (!isObject(value) || typeof value.content !== "string") return undefined
  const { role, content } = value
  if (role !== "user" && role !== "assistant" && role !== "system") return undefined
  return { id: messageId(`m${n}`), role, parts: [{ type: "text", text: content }] }
}

/** Cached empty requests, by format. */
const emptyFrames = new Map<Format, ModelRequest>()

/** Decodes messages inside a request, so that errors state their path. */
function decodeMessages(format: Format, values: readonly unknown[]): Transcript {
  const empty = emptyFrames.get(format) ?? frameFor({ format })
  emptyFrames.set(format, empty)
  const { layout, wire } = empty
  const list = layout.messages
  const head = wire.slice(0, list?.start)
  return decodeRequest(format, `${head}${JSON.stringify(values)}${wire.slice(list?.end)}`).messages
}
