import { callId, type MessageId } from "../../message/ids.ts"
import type { Message, Role } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { isTrue, numberIn, requireString, stringIn } from "../../wire/expect.ts"
import { elements, isObject, type Json, member, wireOf } from "../../wire/json.ts"
import { mediaOfInline } from "../../wire/media.ts"
import { write, writeObject } from "../../wire/overlay.ts"
import type { Note } from "../conversation.ts"

/** A message of pi's own shape in ours, and what it is beside a message. */
export type PiMessage = { readonly message: Message; readonly note?: Note["note"] }

const roles: ReadonlyMap<string, Role> = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  ["toolResult", "user"],
  ["system", "system"],
  ["bashExecution", "user"],
  ["custom", "user"],
  ["hookMessage", "user"],
  ["branchSummary", "user"],
  ["compactionSummary", "user"],
])

/** Nothing for what is not said to the model: a role that is not known, a command kept from it, an answer without content. */
export function readPiMessage(json: Json, id: MessageId): PiMessage | undefined {
  const wireRole = stringIn(json, "role") ?? ""
  const role = roles.get(wireRole)
  if (role === undefined || isTrue(json, "excludeFromContext")) return undefined
  const parts = readParts(json, wireRole)
  if (parts.length === 0) return undefined
  const notes = { bashExecution: "user-command", branchSummary: "branch-summary", custom: "client-written" } as const
  const note = wireRole in notes ? notes[wireRole as keyof typeof notes] : undefined
  return { message: { id, role, parts, format: "anthropic-messages" }, ...present({ note }) }
}

function readParts(json: Json, role: string): readonly Part[] {
  const signer = stringIn(json, "api")
  switch (role) {
    case "toolResult": {
      const failed = isTrue(json, "isError") ? { failed: true } : {}
      const id = callId(requireString(json, "toolCallId"))
      return [{ type: "tool-result", callId: id, kind: "function", content: readContent(json, signer), ...failed }]
    }
    case "system":
      return [...readContent(json, signer), ...readSections(json)]
    case "bashExecution":
      return [{ type: "text", text: ranText(json) }]
    case "branchSummary":
    case "compactionSummary":
      return [{ type: "text", text: stringIn(json, "summary") ?? "" }]
    default:
      return readContent(json, signer)
  }
}

export function readContent(json: Json, signer: string | undefined): readonly Part[] {
  const content = member(json, "content")
  if (content === undefined || content.value === null || content.value === "") return []
  if (typeof content.value === "string") return [{ type: "text", text: content.value }]
  return elements(content).flatMap((block) => readBlock(block, signer))
}

/** The named sections of a system prompt, in their order; a section that is null was taken out. */
function readSections(json: Json): readonly Part[] {
  const sections = member(json, "sections")?.value
  const texts = isObject(sections) ? Object.values(sections) : []
  return texts.flatMap((text) => (typeof text === "string" && text !== "" ? { type: "text", text } : []))
}

function readBlock(block: Json, signer: string | undefined): Part {
  switch (stringIn(block, "type")) {
    case "text":
      return { type: "text", text: requireString(block, "text") }
    case "thinking":
      return readThinking(block, signer)
    case "toolCall":
      return readCall(block)
    case "image": {
      const data = requireString(block, "data")
      const mediaType = stringIn(block, "mimeType") ?? "application/octet-stream"
      const source = { type: "base64", media_type: mediaType, data }
      return { type: "image", media: mediaOfInline(data, mediaType), wire: write({ type: "image", source }) }
    }
    default:
      return { type: "unknown", wire: write(block.value) }
  }
}

function readCall(block: Json): Part {
  const id = requireString(block, "id")
  const tool = requireString(block, "name")
  const input = member(block, "arguments")
  const wire = writeObject({
    type: write("tool_use"),
    id: write(id),
    name: write(tool),
    input: input === undefined ? write({}) : wireOf(input),
  })
  return { type: "tool-call", callId: callId(id), tool, kind: "function", input: input?.value ?? {}, wire }
}

/** A signature is kept as one only if Anthropic's API gave it: any other provider's means nothing on that wire. */
function readThinking(block: Json, signer: string | undefined): Part {
  const text = stringIn(block, "thinking") ?? ""
  const signature = stringIn(block, "thinkingSignature")
  if (isTrue(block, "redacted")) {
    const wire =
      signer === "anthropic-messages" ? write({ type: "redacted_thinking", data: signature ?? "" }) : undefined
    return { type: "reasoning", text, sealed: true, ...present({ wire }) }
  }
  if (signer !== "anthropic-messages" || signature === undefined) return { type: "reasoning", text }
  return { type: "reasoning", text, signature, wire: write({ type: "thinking", thinking: text, signature }) }
}

/** A command that the user ran beside the model, as the model is told of it. */
function ranText(json: Json): string {
  const code = numberIn(json, "exitCode")
  const end = isTrue(json, "cancelled")
    ? "\n(cancelled)"
    : code === undefined || code === 0
      ? ""
      : `\n(exit code ${code})`
  return `$ ${stringIn(json, "command") ?? ""}\n${stringIn(json, "output") ?? ""}${end}`
}
