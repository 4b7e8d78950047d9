import { HoldfastError } from "../message/errors.ts"
import { messageId } from "../message/ids.ts"
import { type Format, formats, type Message, type Transcript } from "../message/message.ts"
import { decodeRequest } from "../wire/decode.ts"
import { isObject } from "../wire/json.ts"
import { frameFor } from "./frame.ts"

/** A message as it was read, or as its wire format has it; plain text of a user or assistant needs no format. */
export type MessageLike = Message | object

const isMessage = (value: unknown): value is Message =>
  isObject(value) && typeof value.id === "string" && typeof value.role === "string" && Array.isArray(value.parts)

/** Messages in whatever form a caller has them. */
export function readMessagesLike(values: readonly MessageLike[], format: Format | undefined): Transcript {
  if (!Array.isArray(values)) refuse("messages", "a list of messages", typeof values)
  if (values.every(isMessage)) return values
  if (format !== undefined && !formats.includes(format))
    refuse("format", `one of ${formats.join(", ")}`, String(format))
  const plain = values.map(plainMessage)
  if (format === undefined && plain.every((message) => message !== undefined)) return plain
  if (format === undefined) return refuse("format", `one of ${formats.join(", ")}, to read these messages`, "nothing")
  return decodeMessages(format, values)
}

function refuse(option: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found })
}

function plainMessage(value: unknown, n: number): Message | undefined {
  if (isMessage(value)) return value
  if (!isObject(value) || typeof value.content !== "string") return undefined
  const { role, content } = value
  if (role !== "user" && role !== "assistant" && role !== "system") return undefined
  return { id: messageId(`m${n}`), role, parts: [{ type: "text", text: content }] }
}

/** Read as the messages of a request are, so that what is wrong with one is said with its path. */
function decodeMessages(format: Format, values: readonly unknown[]): Transcript {
  const { layout, wire } = frameFor({ format })
  const list = layout.messages
  const head = wire.slice(0, list?.start)
  return decodeRequest(format, `${head}${JSON.stringify(values)}${wire.slice(list?.end)}`).messages
}
