import type { Format, Part, ToolCallPart } from "../message/message.ts"
import { namesIn, present } from "../message/present.ts"
import type { Steps } from "../message/steps.ts"
import { isObject, tryParse } from "../wire/json.ts"
import type { PartStart, StreamEvent } from "../wire/stream.ts"
import { collectEnd, collectStep, startCollect } from "../wire/stream-steps.ts"

/** Field names by which the formats say what a tool is to do, in lower case without separators. */
const callNames: ReadonlySet<string> = new Set(
  namesIn(
    "name arguments args input action operation partialjson partialargs functioncall functioncalls function toolcall toolcalls tooluse executablecode command commands parameters",
  ),
)

const callType = /(?:^|_)(?:call|use|request|tooluse|toolcall|functioncall)$/i

const plainName = (name: string): string => name.replace(/[_-]/g, "").toLowerCase()

/** True if a block of an unknown type looks like a call, by its type or by a field name. */
function looksLikeCall(value: unknown): boolean {
  if (!isObject(value)) return false
  if (typeof value.type === "string" && callType.test(value.type)) return true
  return Object.keys(value).some((name) => callNames.has(plainName(name)))
}

/** Matches names found around a call in text that is not JSON, and escapes that could hide one. */
const callWords = /tool_?(?:calls?|use)|function_?calls?|executable_?code|arguments|"(?:name|args|input)"|_call\b|\\u/i

/** True if a call could be found in a text, whether or not it is JSON. */
export function textCouldHoldCall(text: string): boolean {
  const json = tryParse(text)
  return json === undefined ? callWords.test(text) : couldHoldCall(json)
}

/** Maximum depth searched for a call; no event of any format nests its calls deeper. */
const maxLevels = 12

/**
 * True if a call could be found anywhere in a value: by field names and types, not by what texts say. Values nested too deep count as one.
 */
export function couldHoldCall(value: unknown): boolean {
  const waiting: (readonly [value: unknown, level: number])[] = [[value, 0]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [inner, level] = next
    if (typeof inner !== "object" || inner === null) continue
    if (level > maxLevels || looksLikeCall(inner)) return true
    for (const one of Object.values(inner)) waiting.push([one, level + 1])
  }
  return false
}

/** A call in a response, run by the client or by the provider. */
export type FoundCall = {
  /** Empty if the format gives none. */
  readonly callId: string
  readonly tool: string
  readonly input: unknown
  /** True if the provider has already run it: it can be reported, but not prevented. */
  readonly providerRun: boolean
  /** Reason why it cannot be judged, if so. */
  readonly unread?: string
}

/** Types of items that the provider runs itself, and shows once they have run. */
const providerItems: ReadonlySet<string> = new Set(
  namesIn("web_search_call file_search_call code_interpreter_call image_generation_call mcp_call"),
)

/** Returns the call in a part, if it is one: of a known kind, of a provider's own, or of a type that looks like a call. */
export function findCall(format: Format, part: Part): FoundCall | undefined {
  switch (part.type) {
    case "tool-call":
      return format === "gemini" && namesSeveralCalls(part)
        ? { ...knownCall(part), unread: severalCalls }
        : knownCall(part)
    case "tool-result":
      return undefined
    case "opaque":
      return part.kind.endsWith("_call") ? itemCall(part.kind, part.wire) : undefined
    case "unknown":
      return blockCall(part.wire)
    default:
      // The fields of a Gemini part decide what it is, and it may be several things: a text beside a call is both.
      return format === "gemini" && part.wire !== undefined ? blockCall(part.wire) : undefined
  }
}

const severalCalls = "it says several calls in one part"

/** True if a Gemini part names several calls: each field has two spellings there, and clients differ in which one counts. */
function namesSeveralCalls({ wire }: Part): boolean {
  const block = wire === undefined ? undefined : tryParse(wire)
  return isObject(block) && Object.keys(block).filter((name) => looksLikeCall({ [name]: true })).length > 1
}

function knownCall(part: ToolCallPart & Pick<Part, "wire">): FoundCall {
  const { callId, tool, kind, input, wire } = part
  // In a call of another kind every field counts as input, whatever its name.
  if (kind === "other" && wire !== undefined) return { ...itemCall("", wire), callId, tool }
  const unread = kind === "function" && !isInput(input) ? "its arguments are not whole JSON" : undefined
  return { callId, tool, input, providerRun: kind === "provider", ...present({ unread }) }
}

/** True for arguments that all clients read alike: an object, a list, or none. On a text or a number they differ. */
const isInput = (input: unknown): boolean =>
  typeof input === "object" || input === undefined || (typeof input === "string" && input.trim() === "")

const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** Fields with the identity and status of an item, which are no input. */
const envelopeFields: ReadonlySet<string> = new Set(["id", "type", "status", "call_id", "name"])

function itemCall(type: string, wire: string): FoundCall {
  const item = tryParse(wire)
  const fields = isObject(item) ? item : {}
  const input = Object.fromEntries(Object.entries(fields).filter(([name]) => !envelopeFields.has(name)))
  return {
    callId: nonEmptyText(fields.call_id) ?? nonEmptyText(fields.id) ?? "",
    tool: nonEmptyText(fields.name) ?? type.slice(0, -"_call".length),
    input,
    providerRun: providerItems.has(type),
    ...(isObject(item) ? {} : { unread: "it is no JSON object" }),
  }
}

function blockCall(wire: string): FoundCall | undefined {
  const block = tryParse(wire)
  if (block === undefined)
    return { callId: "", tool: "", input: undefined, providerRun: false, unread: "it is no JSON" }
  if (!isObject(block) || !looksLikeCall(block)) return undefined
  const inner = Object.values(block).find((value) => isObject(value) && typeof value.name === "string")
  const named = isObject(inner) ? inner : block
  return {
    callId: nonEmptyText(block.call_id) ?? nonEmptyText(block.id) ?? nonEmptyText(named.id) ?? "",
    tool:
      nonEmptyText(named.name) ?? nonEmptyText(block.tool) ?? nonEmptyText(block.type) ?? Object.keys(block)[0] ?? "",
    input: block,
    providerRun: false,
  }
}

/** A part of a stream after its last event. */
type EndedPart = {
  readonly start: StreamEvent & PartStart
  readonly events: readonly StreamEvent[]
  /** Its input fragments, joined. */
  readonly input: string
}

/** Fields in which a format repeats the input of a call beside the fragments that it streamed. */
const copyNames = ["arguments", "input", "code", "action", "operation", "args"] as const

/**
 * All calls that a client could read a part as: the collected part, its joined fragments, and every copy that the format sends along. In an
 * honest stream they are equal; where they differ, each is judged. Empty if it is no call.
 */
export function* readingsOf(format: Format, part: EndedPart): Steps<readonly FoundCall[]> {
  const { start, events, input } = part
  const whole = yield* wholeOf(format, events)
  yield
  if (start.part !== "tool-call") {
    if (whole === undefined || whole.length > 0) return whole ?? [unreadCall("", "", "it cannot be put together")]
    const hides = events.some(({ wire }) => wire !== undefined && couldHoldCall(contentOf(format, wire.sse.data)))
    return hides ? [unreadCall("", "", "it looks like a call and cannot be read as one")] : []
  }
  const { callId, tool, kind } = start
  const found = { callId, tool, providerRun: kind === "provider" }
  if (whole === undefined) return [unreadCall(callId, tool, "it cannot be put together")]
  const texts = input === "" ? [] : [input]
  for (const [n, event] of events.entries()) {
    texts.push(...copiesIn(event))
    if (n % eventsAtOnce === 0) yield
  }
  const copies = texts.map((text): FoundCall => {
    const parsed = kind === "custom" ? undefined : tryParse(text)
    if (kind !== "function") return { ...found, input: parsed ?? text }
    return parsed !== undefined && isInput(parsed)
      ? { ...found, input: parsed }
      : unreadCall(callId, tool, "its arguments are not whole JSON")
  })
  yield
  return unique([...whole, ...(whole.length + copies.length === 0 ? [{ ...found, input: undefined }] : copies)])
}

/** Number of events examined in one step. */
const eventsAtOnce = 1000

const unreadCall = (callId: string, tool: string, unread: string): FoundCall => ({
  callId,
  tool,
  input: undefined,
  providerRun: false,
  unread,
})

/** Calls in the collected part; undefined if it cannot be collected. */
function* wholeOf(format: Format, events: readonly StreamEvent[]): Steps<readonly FoundCall[] | undefined> {
  try {
    let collecting = startCollect(format)
    for (const [n, event] of events.entries()) {
      collecting = collectStep(collecting, event)
      if (n % eventsAtOnce === 0) yield
    }
    const { messages } = collectEnd(collecting)
    yield
    return messages.flatMap(({ parts }) => parts.flatMap((one) => findCall(format, one) ?? []))
  } catch {
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

/** Content of an event about its part, without the envelope. */
function contentOf(format: Format, data: string): unknown {
  const json = fieldsOf(tryParse(data))
  if (format === "anthropic-messages") return json.content_block ?? json.delta
  return format === "openai-responses" ? (json.item ?? json) : undefined
}

/** Complete inputs that an event repeats, as text. */
function copiesIn({ type, wire }: StreamEvent): readonly string[] {
  if (wire === undefined || (type !== "other" && type !== "part-start")) return []
  const json = fieldsOf(tryParse(wire.sse.data))
  const said = type === "other" ? json : fieldsOf(json.content_block ?? json.item)
  return copyNames.flatMap((name) => {
    const value = said[name]
    if (typeof value === "string") return value === "" ? [] : [value]
    if (value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)) return []
    return [JSON.stringify(value)]
  })
}

function unique(calls: readonly FoundCall[]): readonly FoundCall[] {
  const seen = new Set<string>()
  return calls.filter((call) => {
    const key = callKey(call)
    const known = seen.has(key)
    seen.add(key)
    return !known
  })
}

/** Key that is equal for two readings of the same call. */
export const callKey = ({ tool, input, unread }: FoundCall): string => JSON.stringify([tool, input, unread])

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Fields of a delta that the decoder reads as calls. */
const readFields: ReadonlySet<string> = new Set(["tool_calls", "function_call"])

/** True if a chunk has a call outside the delta of its first choice, the only place where calls are read. */
function strayInChat(chunk: Fields): boolean {
  const choices = listOf(chunk.choices)
  const at = choices.findIndex((choice) => isObject(choice) && (choice.index ?? 0) === 0)
  return choices.some((choice, n) => {
    if (n !== at) return couldHoldCall(choice)
    const { delta, ...rest } = fieldsOf(choice)
    const more = Object.entries(fieldsOf(delta)).filter(([name]) => !readFields.has(name))
    return couldHoldCall(rest) || couldHoldCall(Object.fromEntries(more))
  })
}

/** True if a chunk has a call outside its first candidate, or in a part that is several things at once. */
function strayInGemini(chunk: Fields): boolean {
  const [first, ...rest] = listOf(chunk.candidates)
  if (rest.some(couldHoldCall)) return true
  const parts = listOf(fieldsOf(fieldsOf(first).content).parts)
  return parts.some((part) => {
    const calls = Object.keys(fieldsOf(part)).filter((name) => looksLikeCall({ [name]: true }))
    return calls.length > 1 || (calls.length > 0 && fieldsOf(part).text !== undefined)
  })
}

/** True if a call is in the content of the starting message or in an event of another type: blocks are read only from their own events. */
function strayInAnthropic(event: StreamEvent, json: Fields): boolean {
  if (event.type === "response-start") return couldHoldCall(fieldsOf(json.message).content)
  return event.type === "other" && couldHoldCall(json)
}

/** True if a call is outside the events of items, the only ones read; the caller compares what the closing event repeats. */
function strayInResponses(event: StreamEvent, json: Fields): boolean {
  if (event.type === "response-start") return couldHoldCall(fieldsOf(json.response).output)
  if (event.type !== "other") return false
  const { response, ...rest } = json
  return couldHoldCall(fieldsOf(response).output) || couldHoldCall(rest)
}

/**
 * True if an event carries a call where the decoder of the format does not look. Checked once for each wire event, at its first piece. In
 * formats whose wire events are about one part each, those of a `watched` part are judged with the part.
 */
export function isStray(format: Format, event: StreamEvent, watched: boolean): boolean {
  const { wire } = event
  if (wire === undefined || wire.piece > 0 || wire.sse.type !== "event" || wire.sse.data === "") return false
  const json = fieldsOf(tryParse(wire.sse.data))
  if (format === "openai-chat") return strayInChat(json)
  if (format === "gemini") return strayInGemini(json)
  if (watched) return false
  return format === "anthropic-messages" ? strayInAnthropic(event, json) : strayInResponses(event, json)
}

/** True if an event that is unreadable or an error may be passed on unchanged, because no call can be found in it. */
export function isHarmless({ wire }: StreamEvent): boolean {
  if (wire === undefined) return true
  const { type, data } = wire.sse
  if (type === "comment" || data.trim() === "[DONE]") return true
  const json = type === "event" ? tryParse(data) : undefined
  return json !== undefined && !couldHoldCall(json)
}
