import type { Wire } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import type { Part, ToolCallPart, ToolResultPart } from "../../message/part.ts"
import { markField } from "../breakpoint.ts"
import { requireWire } from "../expect.ts"
import { writeArguments, writeCustomInput } from "../input.ts"
import { isObject, tryParse } from "../json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "../overlay.ts"
import { isPlaceId } from "./read.ts"

// System

/** On this wire the system part stands among the messages. */
export function writeSystem(parts: readonly Part[]): Wire {
  return writeContent(parts)
}

// Messages

export function writeMessage(message: Message): readonly Wire[] {
  return message.role === "assistant" ? [writeAssistant(message)] : writeOther(message)
}

/** Tool results are messages of their own here; what else a message of ours carries follows them. */
function writeOther({ role, parts, wire }: Message): readonly Wire[] {
  const results = parts.filter((part) => part.type === "tool-result")
  const rest = parts.filter((part) => part.type !== "tool-result")
  if (results.length === 0) {
    // What was a tool's message and holds no result any more is no tool's message.
    const base = parsed(wire).tool_call_id === undefined && parsed(wire).role !== "function" ? wire : undefined
    return [overlay(base, { ...roleField(base, role), ...contentField(rest, base) })]
  }
  const [first, ...more] = results.map((result, n) => writeResult(result, n === 0 ? wire : undefined))
  const after = rest.length === 0 ? [] : [writeObject({ role: write(role), content: writeContent(rest) })]
  return [...(first === undefined ? [] : [first]), ...more, ...after]
}

function writeResult(result: ToolResultPart, wire: Wire | undefined): Wire {
  const was = parsed(wire)
  const content = contentField(result.content, wire)
  if (was.role === "function") return overlay(wire, content)
  if (wire === undefined && isPlaceId(result.callId)) {
    return writeObject({ role: write("function"), name: write(result.tool ?? "unknown"), ...content })
  }
  const failed =
    (was.is_error === true) === (result.failed === true) || wire === undefined
      ? {}
      : { is_error: write(result.failed === true) }
  return overlay(wire, { role: write("tool"), tool_call_id: write(result.callId), ...content, ...failed })
}

function writeAssistant({ parts, wire }: Message): Wire {
  const was = parsed(wire)
  const calls = parts.filter((part) => part.type === "tool-call")
  const content = parts.filter((part) => part.type !== "tool-call" && part.type !== "reasoning")
  const reasoning = parts.find((part) => part.type === "reasoning")?.text
  return overlay(wire, {
    ...roleField(wire, "assistant"),
    ...(content.length === 0 && wire === undefined ? { content: write(null) } : contentField(content, wire)),
    ...reasoningFields(was, reasoning),
    ...callFields(was, calls),
  })
}

function reasoningFields(was: Readonly<Record<string, unknown>>, reasoning: string | undefined): Fields {
  const name =
    typeof was.reasoning_content !== "string" && typeof was.reasoning === "string" ? "reasoning" : "reasoning_content"
  if (reasoning !== undefined) return { [name]: write(reasoning) }
  return typeof was[name] === "string"
    ? { reasoning_content: undefined, reasoning: undefined, reasoning_details: undefined }
    : {}
}

function callFields(
  was: Readonly<Record<string, unknown>>,
  calls: readonly (ToolCallPart & Pick<Part, "wire">)[],
): Fields {
  const [only] = calls
  if (isObject(was.function_call) && was.tool_calls === undefined) {
    if (only === undefined) return { function_call: undefined }
    const { arguments: before } = was.function_call
    const call = { name: write(only.tool), arguments: writeArguments(only.input, before) }
    return { function_call: overlay(write(was.function_call), call) }
  }
  if (calls.length > 0) return { tool_calls: writeList(calls.map(writeCall)) }
  return Array.isArray(was.tool_calls) && was.tool_calls.length > 0 ? { tool_calls: undefined } : {}
}

/** No content may be absent, null or an empty list on the wire: whichever it was stays. */
function contentField(parts: readonly Part[], wire: Wire | undefined): Fields {
  const { content: was } = parsed(wire)
  const stays = wire !== undefined && (was === undefined || was === null || (Array.isArray(was) && was.length === 0))
  return parts.length === 0 && stays ? {} : { content: writeContent(parts) }
}

/** One plain text is written as a string, as the API allows; anything else as a list of parts. */
function writeContent(parts: readonly Part[]): Wire {
  const [only] = parts
  if (parts.length === 0) return write("")
  const plain = parts.length === 1 && only?.type === "text" && only.wire === undefined && only.breakpoint === undefined
  return plain ? write(only.text) : writeList(parts.map(writePart))
}

const roleField = (wire: Wire | undefined, role: string): Fields => (wire === undefined ? { role: write(role) } : {})

const parsed = (wire: Wire | undefined): Readonly<Record<string, unknown>> => {
  const value = wire === undefined ? undefined : tryParse(wire)
  return isObject(value) ? value : {}
}

// Parts

function writePart(part: Part): Wire {
  if (part.type === "text")
    return overlay(part.wire, { type: write("text"), text: write(part.text), ...markField(part) })
  return overlay(requireWire(part, "openai-chat"), markField(part))
}

function writeCall(part: ToolCallPart & Pick<Part, "wire">): Wire {
  const was = parsed(part.wire)
  const id = { id: write(part.callId) }
  const name = part.kind === "custom" ? "custom" : "function"
  const before = was[name]
  const inner = isObject(before) ? before : undefined
  const base = part.wire === undefined || inner === undefined ? undefined : write(inner)
  const call =
    part.kind === "custom"
      ? overlay(base, { name: write(part.tool), input: writeCustomInput(part.input) })
      : overlay(base, { name: write(part.tool), arguments: writeArguments(part.input, inner?.arguments) })
  return overlay(part.wire, { ...id, type: write(name), [name]: call })
}
