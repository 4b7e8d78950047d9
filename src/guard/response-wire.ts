import type { Format, Message, ModelResponse, Part, Wire } from "../message/message.ts"
import { codecOf } from "../wire/codecs.ts"
import { elements, isObject, type Json, member, readJson, tryParse, wireOf } from "../wire/json.ts"
import { type Fields, overlay, write, writeList } from "../wire/json-write.ts"
import { couldHoldCall } from "./find-call.ts"

/** A text of ours in the words of the format, as an answer has it. */
export function textPart(format: Format, text: string): Part {
  if (format === "anthropic-messages") return { type: "text", text, wire: write({ type: "text", text }) }
  if (format === "openai-responses")
    return { type: "text", text, wire: write({ type: "output_text", text, annotations: [], logprobs: [] }) }
  return { type: "text", text }
}

/** Where a format can hold more answers than the first, which is the one that is read. */
const listNames: Partial<Record<Format, string>> = { "openai-chat": "choices", gemini: "candidates" }

/** Answers beside the first that could hold a call: nobody has read them. */
export function strayAnswers({ format, wire }: ModelResponse): number {
  const name = listNames[format]
  const body = wire === undefined || name === undefined ? undefined : tryParse(wire)
  const list = isObject(body) && name !== undefined ? body[name] : undefined
  return Array.isArray(list) ? list.slice(1).filter(couldHoldCall).length : 0
}

/** A message whose parts have changed, written anew. */
export function writtenMessage(format: Format, message: Message, parts: readonly Part[]): Message {
  const changed = { ...message, parts }
  if (format === "openai-responses") return { ...changed, wire: itemWire(message, parts) }
  const [wire] = codecOf(format).writeMessage(changed)
  if (wire === undefined) return changed
  const legacyGone = !parts.some((part) => part.type === "tool-call" && part.wire === undefined)
  return {
    ...changed,
    wire: format === "openai-chat" && legacyGone ? overlay(wire, { function_call: undefined }) : wire,
  }
}

/** On this wire a call is an item of its own, and so is the text in its place. */
function itemWire({ id, wire }: Message, parts: readonly Part[]): Wire {
  const was = wire === undefined ? undefined : tryParse(wire)
  const own = write({ type: "message", id: `msg_holdfast_${id}`, status: "completed", role: "assistant" })
  const content = parts.flatMap(
    (part) => part.wire ?? (part.type === "text" ? textPart("openai-responses", part.text).wire : []) ?? [],
  )
  return overlay(isObject(was) && was.type === "message" ? wire : own, { content: writeList(content) })
}

/** The whole answer as text again, with these messages in it; nothing where there was no text to lay them over. */
export function responseWire({ format, wire, messages, stop }: ModelResponse, stopChanged: boolean): Wire | undefined {
  if (wire === undefined) return undefined
  const body = readJson(wire, "response")
  const [first] = messages
  switch (format) {
    case "anthropic-messages":
      return overlay(wire, {
        content: memberWire(first?.wire, "content"),
        ...(stopChanged && stop === "end" ? { stop_reason: write("end_turn") } : {}),
      })
    case "openai-responses":
      return overlay(wire, { output: writeList(messages.flatMap((message) => message.wire ?? [])) })
    case "openai-chat": {
      const finish: Fields = stopChanged && stop === "end" ? { finish_reason: write("stop") } : {}
      return overlay(wire, { choices: answersOf(body, "choices", { message: first?.wire ?? write(null), ...finish }) })
    }
    case "gemini":
      return overlay(wire, { candidates: answersOf(body, "candidates", { content: first?.wire ?? write({}) }) })
  }
}

function memberWire(wire: Wire | undefined, name: string): Wire {
  const found = wire === undefined ? undefined : member(readJson(wire, "response"), name)
  return found === undefined ? write([]) : wireOf(found)
}

/** The first answer with our fields laid over it, and of the others those that hold no call. */
function answersOf(body: Json, name: string, fields: Fields): Wire {
  const list = member(body, name)
  const [first, ...rest] = list === undefined ? [] : elements(list)
  const others = rest.filter(({ value }) => !couldHoldCall(value)).map(wireOf)
  return writeList([...(first === undefined ? [] : [overlay(wireOf(first), fields)]), ...others])
}

const names = ["thoughtSignature", "thought_signature"] as const

export type Seal = { readonly name: string; readonly text: string }

/** The seal that a call of Gemini's bears, and the name under which it does. */
export function sealOf(format: Format, part: Part): Seal | undefined {
  return format === "gemini" && part.type === "tool-call" ? sealIn(part.wire) : undefined
}

function sealIn(wire: string | undefined): Seal | undefined {
  const fields = wire === undefined ? undefined : tryParse(wire)
  if (!isObject(fields)) return undefined
  for (const name of names) {
    const text = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof text === "string") return { name, text }
  }
  return undefined
}

/**
 * Gemini seals the thoughts before its calls on the first of them, and refuses a history in which the first call of an answer has none.
 * Where that call is withheld, the next one that goes out bears its seal. A part that is no such call, or has a seal, is returned as it is.
 */
export function withSeal(part: Part, seal: Seal | undefined): Part {
  if (seal === undefined || part.type !== "tool-call" || part.kind !== "function") return part
  if (part.wire === undefined || sealIn(part.wire) !== undefined) return part
  return { ...part, wire: overlay(part.wire, { [seal.name]: write(seal.text) }) }
}
