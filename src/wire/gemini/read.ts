import { type CallId, callId, messageId } from "../../message/ids.ts"
import type { Message, Role } from "../../message/message.ts"
import type { Part, ToolResultPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { Tool } from "../../message/request.ts"
import type { Settings } from "../codec.ts"
import { countIn, refuse, requireObject, requireString, stringIn } from "../expect.ts"
import { elements, isObject, type Json, member, memberOf, valueIn, wireOf } from "../json.ts"
import { mediaOfFile, mediaOfInline } from "../media.ts"
import { createWaiting, type Waiting } from "./waiting.ts"

/** The API takes every field in two spellings, the protocol buffer's and JSON's. */
export const spellings = (name: string): readonly string[] => [
  name,
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
]

const inside = (json: Json, name: string): Json | undefined => memberOf(json, spellings(name))

// Settings, system, tools

/** The model and whether to stream stand in the path, not in the body; `model` is here for bodies that name it all the same. */
export function readSettings(body: Json): Settings {
  const config = inside(body, "generationConfig")
  const maxOutputTokens = countIn(config, "maxOutputTokens") ?? countIn(config, "max_output_tokens")
  const cached = inside(body, "cachedContent")?.value
  const held = typeof cached === "string" ? ({ type: "cached-content", id: cached } as const) : undefined
  return { stream: false, ...present({ model: stringIn(body, "model"), maxOutputTokens, held }) }
}

export function readSystem(system: Json): readonly Part[] {
  if (typeof system.value === "string") return [{ type: "text", text: system.value }]
  const parts = member(requireObject(system), "parts")
  if (isObject(parts?.value)) return [readPart(parts, callId("system"), createWaiting([]))]
  return parts === undefined ? [] : elements(parts).map((part) => readPart(part, callId("system"), createWaiting([])))
}

export function readTools(tools: Json): readonly Tool[] {
  return elements(tools).flatMap((tool): readonly Tool[] => {
    const declarations = inside(tool, "functionDeclarations")
    if (declarations !== undefined) {
      return elements(declarations).map((declared) => ({
        name: stringIn(declared, "name") ?? "unnamed",
        wire: wireOf(declared),
      }))
    }
    return [{ name: isObject(tool.value) ? (Object.keys(tool.value)[0] ?? "unnamed") : "unnamed", wire: wireOf(tool) }]
  })
}

// Messages

const roles: ReadonlyMap<string, Role> = new Map([
  ["user", "user"],
  ["model", "assistant"],
  ["function", "user"],
])

export function readMessage(json: Json, earlier: readonly Message[]): Message {
  const wireRole = stringIn(requireObject(json), "role") ?? "user"
  const role = roles.get(wireRole)
  if (role === undefined) return refuse(json, `"user" or "model"`, "role")
  const list = member(json, "parts")
  if (list !== undefined && !Array.isArray(list.value)) return refuse(list, "an array of parts")
  const id = messageId(`m${earlier.length}`)
  const waiting = createWaiting(earlier)
  const parts = (list === undefined ? [] : elements(list)).map((part, n) =>
    readPart(part, callId(`${id}.${n}`), waiting),
  )
  return { id, role, parts, wire: wireOf(json), format: "gemini" }
}

// Parts

function readPart(json: Json, place: CallId, waiting: Waiting): Part {
  requireObject(json)
  const wire = wireOf(json)
  const signature = inside(json, "thoughtSignature")?.value
  const text = member(json, "text")
  if (text !== undefined) {
    if (typeof text.value !== "string") return refuse(text, "a string")
    if (valueIn(json, "thought") !== true) return { type: "text", text: text.value, wire }
    return {
      type: "reasoning",
      text: text.value,
      wire,
      ...present({ signature: typeof signature === "string" ? signature : undefined }),
    }
  }
  const inline = inside(json, "inlineData")
  const file = inside(json, "fileData")
  if (inline !== undefined || file !== undefined) return { ...readMedia(inline, file), wire }
  return { ...readCallPart(json, place, waiting), wire }
}

function readMedia(inline: Json | undefined, file: Json | undefined): Part {
  const mediaType = stringIn(inline ?? file, "mimeType") ?? stringIn(inline ?? file, "mime_type")
  const media = inline === undefined ? mediaOfFile(mediaType) : mediaOfInline(stringIn(inline, "data") ?? "", mediaType)
  return mediaType?.startsWith("image/") === true ? { type: "image", media } : { type: "document", media }
}

function readCallPart(json: Json, place: CallId, waiting: Waiting): Part {
  const call = inside(json, "functionCall")
  if (call !== undefined) {
    const tool = requireString(call, "name")
    return { type: "tool-call", callId: idOf(call, place), tool, kind: "function", input: valueIn(call, "args") }
  }
  const response = inside(json, "functionResponse")
  if (response !== undefined) return readFunctionResponse(response, waiting)
  const code = inside(json, "executableCode")
  if (code !== undefined) {
    const id = idOf(code, place)
    waiting.ask("code_execution", id)
    return { type: "tool-call", callId: id, tool: "code_execution", kind: "provider", input: code.value }
  }
  const ran = inside(json, "codeExecutionResult")
  if (ran === undefined) return { type: "unknown", wire: wireOf(json) }
  const id = stringIn(ran, "id") ?? waiting.answer("code_execution") ?? place
  return {
    type: "tool-result",
    callId: callId(id),
    kind: "provider",
    content: [{ type: "text", text: stringIn(ran, "output") ?? "" }],
  }
}

const idOf = (call: Json, place: CallId): CallId => callId(stringIn(call, "id") ?? place)

function readFunctionResponse(response: Json, waiting: Waiting): ToolResultPart {
  const name = requireString(response, "name")
  const id = stringIn(response, "id") ?? waiting.answer(name)
  const given = member(response, "response")
  const parts = member(response, "parts")
  const media =
    parts === undefined ? [] : elements(parts).map((part) => readPart(part, callId("part"), createWaiting([])))
  return {
    type: "tool-result",
    callId: callId(id ?? `unasked-${name}`),
    kind: "function",
    tool: name,
    content: [...(given === undefined ? [] : [{ type: "text", text: resultText(given) } as const]), ...media],
    ...(given !== undefined && slotOf(given.value) === "error" ? { failed: true } : {}),
  }
}

/** A response that is one text under a customary name reads as that text; any other as the JSON that it is. */
export function slotOf(response: unknown): string | undefined {
  if (!isObject(response)) return undefined
  const [name, ...more] = Object.keys(response)
  const customary = name === "output" || name === "result" || name === "error" || name === "content"
  return customary && more.length === 0 && typeof response[name] === "string" ? name : undefined
}

function resultText(given: Json): string {
  const slot = slotOf(given.value)
  return (slot === undefined ? undefined : stringIn(given, slot)) ?? wireOf(given)
}
