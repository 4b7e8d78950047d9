import { assert } from "../message/assert.ts"
import {
  type CallId,
  callId,
  type Message,
  type ModelResponse,
  messageId,
  type Part,
  type Role,
  type StopReason,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
  tokens,
  type Usage,
  type Wire,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import { type Codec, mediaOfFile, mediaOfInline, type RequestSettings, readEnvelope, wireFields } from "./codec.ts"
import {
  countIn,
  elements,
  isObject,
  type Json,
  member,
  memberOf,
  readJson,
  refuseJson,
  requireObject,
  requireString,
  requireWire,
  stringIn,
  tryParse,
  valueIn,
  wireOf,
} from "./json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"

/** The two spellings that the API accepts for each field: JSON's and protocol buffers'. */
const spellings = (name: string): readonly string[] => [
  name,
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
]

/** Returns a field under either spelling. */
export const memberSpelled = (json: Json, name: string): Json | undefined => memberOf(json, spellings(name))

// Settings, system, tools

/** The model and the choice to stream are in the URL path, not in the body; `model` is read for bodies that have it anyway. */
function readSettings(body: Json): RequestSettings {
  const config = memberSpelled(body, "generationConfig")
  const maxOutputTokens = countIn(config, "maxOutputTokens") ?? countIn(config, "max_output_tokens")
  const cached = memberSpelled(body, "cachedContent")?.value
  const held = typeof cached === "string" ? ({ type: "cached-content", id: cached } as const) : undefined
  return { stream: false, ...present({ model: stringIn(body, "model"), maxOutputTokens, held }) }
}

function readSystem(system: Json): readonly Part[] {
  if (typeof system.value === "string") return [{ type: "text", text: system.value }]
  const parts = member(requireObject(system), "parts")
  if (isObject(parts?.value)) return [readPart(parts, callId("system"), trackWaiting([]))]
  return elements(parts).map((part) => readPart(part, callId("system"), trackWaiting([])))
}

function readTools(tools: Json): readonly Tool[] {
  return elements(tools).flatMap((tool): readonly Tool[] => {
    const declarations = memberSpelled(tool, "functionDeclarations")
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

function readMessage(json: Json, earlier: readonly Message[]): Message {
  const wireRole = stringIn(requireObject(json), "role") ?? "user"
  const role = roles.get(wireRole)
  if (role === undefined) return refuseJson(json, `"user" or "model"`, "role")
  const list = member(json, "parts")
  if (list !== undefined && !Array.isArray(list.value)) return refuseJson(list, "an array of parts")
  const id = messageId(`m${earlier.length}`)
  const waiting = trackWaiting(earlier)
  const parts = elements(list).map((part, n) => readPart(part, callId(`${id}.${n}`), waiting))
  return { id, role, parts, wire: wireOf(json), format: "gemini" }
}

// Parts

function readPart(json: Json, place: CallId, waiting: WaitingList): Part {
  requireObject(json)
  const wire = wireOf(json)
  const signature = memberSpelled(json, "thoughtSignature")?.value
  const text = member(json, "text")
  if (text !== undefined) {
    if (typeof text.value !== "string") return refuseJson(text, "a string")
    if (valueIn(json, "thought") !== true) return { type: "text", text: text.value, wire }
    return {
      type: "reasoning",
      text: text.value,
      wire,
      ...present({ signature: typeof signature === "string" ? signature : undefined }),
    }
  }
  const inline = memberSpelled(json, "inlineData")
  const file = memberSpelled(json, "fileData")
  if (inline !== undefined || file !== undefined) return { ...readMedia(inline, file), wire }
  return { ...readCallPart(json, place, waiting), wire }
}

function readMedia(inline: Json | undefined, file: Json | undefined): Part {
  const mediaType = stringIn(inline ?? file, "mimeType") ?? stringIn(inline ?? file, "mime_type")
  const media = inline === undefined ? mediaOfFile(mediaType) : mediaOfInline(stringIn(inline, "data") ?? "", mediaType)
  return mediaType?.startsWith("image/") === true ? { type: "image", media } : { type: "document", media }
}

function readCallPart(json: Json, place: CallId, waiting: WaitingList): Part {
  const call = memberSpelled(json, "functionCall")
  if (call !== undefined) {
    const tool = requireString(call, "name")
    return { type: "tool-call", callId: idOf(call, place), tool, kind: "function", input: valueIn(call, "args") }
  }
  const response = memberSpelled(json, "functionResponse")
  if (response !== undefined) return readFunctionResponse(response, waiting)
  const code = memberSpelled(json, "executableCode")
  if (code !== undefined) {
    const id = idOf(code, place)
    waiting.ask("code_execution", id)
    return { type: "tool-call", callId: id, tool: "code_execution", kind: "provider", input: code.value }
  }
  const ran = memberSpelled(json, "codeExecutionResult")
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

function readFunctionResponse(response: Json, waiting: WaitingList): ToolResultPart {
  const name = requireString(response, "name")
  const named = stringIn(response, "id")
  const id = waiting.answer(name, named) ?? named
  const given = member(response, "response")
  const parts = member(response, "parts")
  const media = elements(parts).map((part) => readPart(part, callId("part"), trackWaiting([])))
  return {
    type: "tool-result",
    callId: callId(id ?? `unasked-${name}`),
    kind: "function",
    tool: name,
    content: [...(given === undefined ? [] : [{ type: "text", text: resultText(given) } as const]), ...media],
    ...(given !== undefined && textMemberOf(given.value) === "error" ? { failed: true } : {}),
  }
}

/** Returns the member's name if a response is a single text under a customary name; any other response is read as JSON. */
function textMemberOf(response: unknown): string | undefined {
  if (!isObject(response)) return undefined
  const [name, ...more] = Object.keys(response)
  const customary = name === "output" || name === "result" || name === "error" || name === "content"
  return customary && more.length === 0 && typeof response[name] === "string" ? name : undefined
}

function resultText(given: Json): string {
  const slot = textMemberOf(given.value)
  return (slot === undefined ? undefined : stringIn(given, slot)) ?? wireOf(given)
}

// System

function writeSystem(parts: readonly Part[], before: Wire | undefined): Wire {
  return overlay(before?.startsWith("{") === true ? before : undefined, { parts: writeList(parts.map(writePart)) })
}

// Tools

/** One element may declare several tools: existing elements stay unchanged, new tools get one element of their own. */
function writeTools(tools: readonly Tool[], before: Wire | undefined): Wire {
  const was = readJson(before ?? "[]", "request")
  const known = readTools(was)
  const kept = new Set<string>(tools.map(({ wire }) => wire))
  assert(
    known.every(({ wire }) => kept.has(wire)),
    "tools of this format are only added",
  )
  const added = tools.slice(known.length).map(({ wire }) => wire)
  const own = added.length === 0 ? [] : [writeObject({ functionDeclarations: writeList(added) })]
  return writeList([...elements(was).map(wireOf), ...own])
}

// Messages

function writeMessage(message: Message): readonly Wire[] {
  const role: Fields =
    message.wire === undefined ? { role: write(message.role === "assistant" ? "model" : "user") } : {}
  const parts =
    message.parts.length === 0 && message.wire !== undefined
      ? emptyParts(message.wire)
      : { parts: writeList(message.parts.map(writePart)) }
  return [overlay(message.wire, { ...role, ...parts })]
}

const emptyParts = (wire: Wire): Fields => {
  const { parts } = wireFields(wire)
  return Array.isArray(parts) && parts.length > 0 ? { parts: write([]) } : {}
}

// Parts

function writePart(part: Part): Wire {
  switch (part.type) {
    case "text":
      return overlay(part.wire, { text: write(part.text) })
    case "reasoning":
      return part.wire ?? writeObject({ text: write(part.text), thought: write(true) })
    case "tool-call":
      return writeCall(part)
    case "tool-result":
      return writeResult(part)
    default:
      return requireWire(part, "gemini")
  }
}

/** Returns the spelling used in the wire text, and the value under it. */
function spelledField(
  wire: Wire | undefined,
  name: string,
): { readonly name: string; readonly value: Readonly<Record<string, unknown>> | undefined } {
  const was = wireFields(wire)
  const spelling = spellings(name).find((candidate) => was[candidate] !== undefined) ?? name
  const value = was[spelling]
  return { name: spelling, value: isObject(value) ? value : undefined }
}

/** Writes an id only if there was one, or if the part is ours and its call has one. An id made up by a client stays. */
const idField = (before: Readonly<Record<string, unknown>> | undefined, id: string): Fields =>
  !isPlaceId(id) && (before === undefined || typeof before.id === "string") ? { id: write(id) } : {}

/** True for ids derived from a position, which mean nothing to the API. */
const isPlaceId = (id: string): boolean => /^m\d+\.\d+$/.test(id) || id.startsWith("unasked-")

function writeCall(part: ToolCallPart & Pick<Part, "wire">): Wire {
  if (part.kind === "provider" && part.wire !== undefined) return part.wire
  const { name, value } = spelledField(part.wire, "functionCall")
  const args: Fields = part.input === undefined ? {} : { args: write(part.input) }
  const call = overlay(value === undefined ? undefined : write(value), {
    ...idField(value, part.callId),
    name: write(part.tool),
    ...args,
  })
  return overlay(part.wire, { [name]: call })
}

function writeResult(part: ToolResultPart & Pick<Part, "wire">): Wire {
  if (part.kind === "provider" && part.wire !== undefined) return writeRanCode(part, part.wire)
  const { name, value } = spelledField(part.wire, "functionResponse")
  const text = part.content.flatMap((item) => (item.type === "text" ? item.text : [])).join("\n")
  const media = part.content.filter((item) => item.type !== "text")
  const fields: Fields = {
    ...idField(value, part.callId),
    ...(value === undefined ? { name: write(part.tool ?? "unknown") } : {}),
    response: writeGiven(text, value?.response, part.failed),
    parts: media.length === 0 ? undefined : writeList(media.map(writePart)),
  }
  return overlay(part.wire, { [name]: overlay(value === undefined ? undefined : write(value), fields) })
}

/** Writes the response object for a text: the original one if its value is the same, otherwise under the same name if there was one. */
function writeGiven(text: string, before: unknown, failed: boolean | undefined): Wire {
  const slot = textMemberOf(before)
  if (before !== undefined && slot === undefined && JSON.stringify(tryParse(text)) === JSON.stringify(before))
    return write(before)
  return writeObject({ [slot ?? (failed === true ? "error" : "output")]: write(text) })
}

function writeRanCode(part: ToolResultPart, wire: Wire): Wire {
  const { name, value } = spelledField(wire, "codeExecutionResult")
  const [only] = part.content
  if (value === undefined || only?.type !== "text" || value.output === undefined) return wire
  return overlay(wire, { [name]: overlay(write(value), { output: write(only.text) }) })
}

/** Calls without a result yet, for results that name only their tool. */
type WaitingList = {
  readonly ask: (tool: string, call: CallId) => void
  /**
   * Returns the call that a result of this tool answers, in the newest turn with open calls: the one with its id, or else the first. A
   * client that got a call without an id makes one up, which only its result has.
   */
  readonly answer: (tool: string, id?: string) => CallId | undefined
}

/** Maximum number of earlier messages searched for a call: results follow their calls directly, but each may be a separate message. */
const reach = 256

/** Searches nothing until the first result needs it. */
function trackWaiting(earlier: readonly Message[]): WaitingList {
  const own = new Map<string, CallId[]>()
  let before: ReadonlyMap<string, CallId[]> | undefined
  return {
    ask: (tool, call) => put(own, tool, call),
    answer: (tool, id) => {
      const mine = take(own.get(tool), id)
      if (mine !== undefined) return mine
      before ??= waitingCallsIn(earlier)
      return take(before.get(tool), id)
    },
  }
}

function take(calls: CallId[] | undefined, id: string | undefined): CallId | undefined {
  if (calls === undefined || id === undefined) return calls?.shift()
  const named = calls.indexOf(callId(id))
  const at = named >= 0 ? named : calls.findIndex(isPlaceId)
  return at < 0 ? undefined : calls.splice(at, 1)[0]
}

function put(waiting: Map<string, CallId[]>, tool: string, call: CallId): void {
  const calls = waiting.get(tool)
  if (calls === undefined) waiting.set(tool, [call])
  else calls.push(call)
}

/** Returns the calls without a result in the newest turn that has any: some clients send each call of a turn as a separate message. */
function waitingCallsIn(messages: readonly Message[]): ReadonlyMap<string, CallId[]> {
  const answered = new Set<CallId>()
  const oldest = Math.max(0, messages.length - reach)
  for (let at = messages.length - 1; at >= oldest; at--) {
    const turn: Message[] = []
    for (let message = messages[at]; message?.role === "assistant"; message = messages[--at]) turn.unshift(message)
    const waiting = new Map<string, CallId[]>()
    for (const { parts } of turn) {
      for (const part of parts) if (part.type === "tool-result") answered.add(part.callId)
      for (const part of parts)
        if (part.type === "tool-call" && !answered.has(part.callId)) put(waiting, part.tool, part.callId)
    }
    if (waiting.size > 0) return waiting
    for (const part of messages[at]?.parts ?? []) if (part.type === "tool-result") answered.add(part.callId)
  }
  return new Map()
}

/** Gemini: `POST …/models/{model}:generateContent` and `:streamGenerateContent`. */
export const gemini: Codec = {
  format: "gemini",
  names: { messages: ["contents"], system: spellings("systemInstruction"), tools: ["tools"] },
  readSettings,
  readSystem,
  readTools,
  readMessage,
  writeSystem,
  writeTools,
  writeMessage,
  readResponse: readGeminiResponse,
}

/** The API has a single reason for a finished answer, with or without tool calls. */
export function geminiStop(reason: string | undefined, messages: readonly Message[]): StopReason {
  const calls = messages.some(({ parts }) =>
    parts.some((part) => part.type === "tool-call" && part.kind === "function"),
  )
  if (reason === "STOP") return calls ? "tool-calls" : "end"
  if (reason === "MAX_TOKENS") return "length"
  return reason === undefined || reason === "OTHER" || reason.startsWith("MALFORMED") ? "other" : "refusal"
}

/** Reads a response; a blocked prompt has no candidate and gives no message. */
export function readGeminiResponse(body: Json): ModelResponse {
  const [candidate] = elements(member(requireObject(body), "candidates"))
  const content = member(candidate, "content")
  const messages =
    content === undefined ? [] : [{ ...readMessage(content, []), role: "assistant", id: messageId("r0") } as const]
  const isBlocked = candidate === undefined && stringIn(member(body, "promptFeedback"), "blockReason") !== undefined
  const names = { id: "responseId", model: "modelVersion", usage: "usageMetadata" }
  return {
    format: "gemini",
    ...readEnvelope(body, readGeminiUsage, names),
    messages,
    stop: isBlocked ? "refusal" : geminiStop(stringIn(candidate, "finishReason"), messages),
  }
}

export function readGeminiUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const input = (countIn(usage, "promptTokenCount") ?? 0) + (countIn(usage, "toolUsePromptTokenCount") ?? 0)
  const output = (countIn(usage, "candidatesTokenCount") ?? 0) + (countIn(usage, "thoughtsTokenCount") ?? 0)
  return {
    inputTokens: tokens(input),
    outputTokens: tokens(output),
    cacheReadTokens: tokens(countIn(usage, "cachedContentTokenCount") ?? 0),
    cacheWriteTokens: tokens(0),
  }
}
