import type { Wire } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import type { Part, ToolResultPart } from "../../message/part.ts"
import { markField } from "../breakpoint.ts"
import { requireWire } from "../expect.ts"
import { isObject, tryParse } from "../json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "../overlay.ts"

// System

export function writeSystem(parts: readonly Part[], before: Wire | undefined): Wire {
  const [only] = parts
  const wasText = before === undefined || before.startsWith('"')
  if (wasText && parts.length === 1 && only?.type === "text" && only.breakpoint === undefined) return write(only.text)
  return writeList(parts.map(writePart))
}

// Messages

export function writeMessage(message: Message): readonly Wire[] {
  return [overlay(message.wire, { role: write(message.role), content: writeContent(message.parts) })]
}

/** One plain text is written as a string, as the API allows; anything else as blocks. */
function writeContent(parts: readonly Part[]): Wire {
  const [only] = parts
  const plain = parts.length === 1 && only?.type === "text" && only.wire === undefined && only.breakpoint === undefined
  return plain ? write(only.text) : writeList(parts.map(writePart))
}

// Parts

function writePart(part: Part): Wire {
  switch (part.type) {
    case "text":
      return overlay(part.wire, { type: write("text"), text: write(part.text), ...markField(part) })
    case "reasoning":
      return part.wire === undefined
        ? writeObject({ type: write("thinking"), thinking: write(part.text), signature: write(part.signature ?? "") })
        : overlay(part.wire, markField(part))
    case "tool-call":
      return overlay(part.wire, {
        ...(part.kind === "provider" ? {} : { type: write("tool_use") }),
        id: write(part.callId),
        name: write(part.tool),
        ...(part.input === undefined ? {} : { input: write(part.input) }),
        ...markField(part),
      })
    case "tool-result":
      return writeToolResult(part)
    case "image":
    case "document":
    case "opaque":
    case "unknown":
      return overlay(requireWire(part, "anthropic-messages"), markField(part))
  }
}

function writeToolResult(part: ToolResultPart & Pick<Part, "wire" | "breakpoint">): Wire {
  const before = part.wire === undefined ? undefined : tryParse(part.wire)
  const was = isObject(before) ? before : {}
  return overlay(part.wire, {
    ...(part.kind === "provider" ? {} : { type: write("tool_result") }),
    tool_use_id: write(part.callId),
    ...contentField(part, was.content),
    ...((was.is_error === true) === (part.failed === true)
      ? {}
      : { is_error: part.failed === true ? write(true) : undefined }),
    ...markField(part),
  })
}

/** An empty result may be absent, null or an empty list on the wire: whichever it was stays. */
function contentField({ content, kind }: ToolResultPart, was: unknown): Fields {
  const [only] = content
  if (content.length === 0) return was === undefined || was === null || Array.isArray(was) ? {} : { content: write([]) }
  if (kind === "provider" && content.length === 1 && only?.type === "unknown" && isObject(was))
    return { content: only.wire }
  return { content: writeContent(content) }
}
