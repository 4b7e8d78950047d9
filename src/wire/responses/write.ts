import { assert } from "../../message/assert.ts"
import type { Wire } from "../../message/ids.ts"
import type { Message, Role } from "../../message/message.ts"
import type { Part, ToolCallPart, ToolResultPart } from "../../message/part.ts"
import { requireWire } from "../expect.ts"
import { writeArguments, writeCustomInput } from "../input.ts"
import { isObject, tryParse } from "../json.ts"
import { overlay, write, writeList, writeObject } from "../overlay.ts"

// System

export function writeSystem(parts: readonly Part[], before: Wire | undefined): Wire {
  if (before?.startsWith("[")) return writeList(parts.map((part) => part.wire ?? write(part)))
  return write(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n\n"))
}

// Messages

/** A message of ours may need several items: runs of content become one, calls and results one each. */
export function writeMessage({ role, parts, wire }: Message): readonly Wire[] {
  const base = wire?.startsWith("{") === true && isMessageItem(wire) ? wire : undefined
  const runs: Part[][] = []
  for (const part of parts) {
    const run = runs.at(-1)
    if (run?.[0] !== undefined && isContent(run[0]) && isContent(part)) run.push(part)
    else runs.push([part])
  }
  if (runs.length === 0 && base !== undefined) return [overlay(base, { content: write([]) })]
  const first = runs.findIndex(([part]) => part !== undefined && isContent(part))
  return runs.map((run, n) => {
    const [part] = run
    assert(part !== undefined, "an empty run of parts")
    return isContent(part) ? writeContentItem(role, run, n === first ? base : undefined) : writeItem(part)
  })
}

function isMessageItem(wire: Wire): boolean {
  const item = tryParse(wire)
  return isObject(item) && (item.type === "message" || item.type === undefined)
}

const standalone: ReadonlySet<Part["type"]> = new Set(["reasoning", "tool-call", "tool-result", "opaque"])

/** An unknown part is content if it stood in a message, and an item of its own if it was one. */
const isContent = (part: Part): boolean => !standalone.has(part.type)

function writeContentItem(role: Role, parts: readonly Part[], base: Wire | undefined): Wire {
  const [only] = parts
  if (base === undefined && parts.length === 1 && only?.type === "unknown") return only.wire
  const plain = parts.length === 1 && only?.type === "text" && only.wire === undefined
  const content = plain ? write(only.text) : writeList(parts.map((part) => writePart(role, part)))
  return base === undefined
    ? writeObject({ role: write(role === "system" ? "developer" : role), content })
    : overlay(base, { content })
}

// Parts

function writePart(role: Role, part: Part): Wire {
  if (part.type !== "text") {
    return requireWire(part, "openai-responses")
  }
  if (part.wire === undefined)
    return writeObject({ type: write(role === "assistant" ? "output_text" : "input_text"), text: write(part.text) })
  const was = tryParse(part.wire)
  return overlay(
    part.wire,
    isObject(was) && was.type === "refusal" ? { refusal: write(part.text) } : { text: write(part.text) },
  )
}

function writeItem(part: Part): Wire {
  if (part.type === "tool-call") return writeCall(part)
  if (part.type === "tool-result") return writeOutput(part)
  if (part.wire !== undefined || part.type !== "reasoning") return requireWire(part, "openai-responses")
  return writeObject({ type: write("reasoning"), summary: write([{ type: "summary_text", text: part.text }]) })
}

function writeCall(part: ToolCallPart & Pick<Part, "wire">): Wire {
  const { wire, kind } = part
  if (kind === "custom") {
    const fields = {
      type: write("custom_tool_call"),
      call_id: write(part.callId),
      name: write(part.tool),
      input: writeCustomInput(part.input),
    }
    return overlay(wire, fields)
  }
  if (kind !== "function" && wire !== undefined) return wire
  const was = wire === undefined ? undefined : tryParse(wire)
  const before = isObject(was) ? was.arguments : undefined
  const fields = { type: write("function_call"), call_id: write(part.callId), name: write(part.tool) }
  return overlay(wire, { ...fields, arguments: writeArguments(part.input, before) })
}

function writeOutput(part: ToolResultPart & Pick<Part, "wire">): Wire {
  const { wire, kind, content } = part
  const [only] = content
  if (kind === "approval")
    return (
      wire ??
      writeObject({
        type: write("mcp_approval_response"),
        approval_request_id: write(part.callId),
        approve: write(false),
      })
    )
  if (kind === "other" && wire !== undefined) {
    if (only === undefined || content.length > 1) return wire
    return overlay(wire, { output: only.type === "text" ? write(only.text) : (only.wire ?? write("")) })
  }
  const plain = content.length === 1 && only?.type === "text" && only.wire === undefined
  const output = plain
    ? write(only.text)
    : content.length === 0 && wire === undefined
      ? write("")
      : writeList(content.map((item) => writePart("user", item)))
  const type = kind === "custom" ? "custom_tool_call_output" : "function_call_output"
  return overlay(wire, { type: write(type), call_id: write(part.callId), output })
}
