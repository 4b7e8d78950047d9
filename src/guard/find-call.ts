import type { Format, Part, ToolCallPart } from "../message/message.ts"
import { namesIn, present } from "../message/present.ts"
import type { Steps } from "../message/steps.ts"
import { isObject, tryParse } from "../wire/json.ts"
import type { PartStart, StreamEvent } from "../wire/stream.ts"
import { collectEnd, collectStep, startCollect } from "../wire/stream-steps.ts"

/** Names under which one wire or another says what a tool is to do, in small letters and without separators. */
const callNames: ReadonlySet<string> = new Set(
  namesIn(
    "name arguments args input action operation partialjson partialargs functioncall functioncalls function toolcall toolcalls tooluse executablecode command commands parameters",
  ),
)

const callType = /(?:^|_)(?:call|use|request|tooluse|toolcall|functioncall)$/i

const plainName = (name: string): string => name.replace(/[_-]/g, "").toLowerCase()

/** Does a block of a type that nobody knows look like a call: something to be done, with what to do it with? */
function looksLikeCall(value: unknown): boolean {
  if (!isObject(value)) return false
  if (typeof value.type === "string" && callType.test(value.type)) return true
  return Object.keys(value).some((name) => callNames.has(plainName(name)))
}

/** Names that stand around a call in a text that is no JSON, and escapes behind which one could stand. */
const callWords = /tool_?(?:calls?|use)|function_?calls?|executable_?code|arguments|"(?:name|args|input)"|_call\b|\\u/i

/** Could anyone find a call in a text, whether or not it is JSON? */
export function textCouldHoldCall(text: string): boolean {
  const json = tryParse(text)
  return json === undefined ? callWords.test(text) : couldHoldCall(json)
}

/** Levels that are looked through for a call; no event of any wire nests its calls deeper. */
const maxLevels = 12

/** Could anyone find a call anywhere in it? Names and types count, and not what texts say. What nests too deep counts as one. */
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

/** A call that stands in an answer, whoever is to run it. */
export type FoundCall = {
  /** Empty where the wire gives none. */
  readonly callId: string
  readonly tool: string
  readonly input: unknown
  /** It has run already when the answer is seen: it can be told, and no longer prevented. */
  readonly providerRun: boolean
  /** Why it cannot be judged, if so. */
  readonly unread?: string
}

/** Items that the provider runs itself, and shows as they were run. */
const providerItems: ReadonlySet<string> = new Set(
  namesIn("web_search_call file_search_call code_interpreter_call image_generation_call mcp_call"),
)

/** The call that a part is, if it is one: of a known kind, of a provider's own, or of a type that looks like it. */
export function findCall(format: Format, part: Part): FoundCall | undefined {
  switch (part.type) {
    case "tool-call":
      return format === "gemini" && saysMoreCalls(part) ? { ...knownCall(part), unread: severalCalls } : knownCall(part)
    case "tool-result":
      return undefined
    case "opaque":
      return part.kind.endsWith("_call") ? itemCall(part.kind, part.wire) : undefined
    case "unknown":
      return blockCall(part.wire)
    default:
      // A part of Gemini is what its members say, and may have several: a text beside a call is both.
      return format === "gemini" && part.wire !== undefined ? blockCall(part.wire) : undefined
  }
}

const severalCalls = "it says several calls in one part"

/** Every name has two spellings on this wire, and clients differ in which one counts. */
function saysMoreCalls({ wire }: Part): boolean {
  const block = wire === undefined ? undefined : tryParse(wire)
  return isObject(block) && Object.keys(block).filter((name) => looksLikeCall({ [name]: true })).length > 1
}

function knownCall(part: ToolCallPart & Pick<Part, "wire">): FoundCall {
  const { callId, tool, kind, input, wire } = part
  // Of a call that we only relay, all that it says counts, whatever its fields are called.
  if (kind === "other" && wire !== undefined) return { ...itemCall("", wire), callId, tool }
  const unread = kind === "function" && !isInput(input) ? "its arguments are not whole JSON" : undefined
  return { callId, tool, input, providerRun: kind === "provider", ...present({ unread }) }
}

/** Are these arguments that clients agree on: an object, a list, or none? A text or a number each of them takes for something else. */
const isInput = (input: unknown): boolean =>
  typeof input === "object" || input === undefined || (typeof input === "string" && input.trim() === "")

const told = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** Fields that say how an item is named and how far it is. */
const frameNames: ReadonlySet<string> = new Set(["id", "type", "status", "call_id", "name"])

function itemCall(type: string, wire: string): FoundCall {
  const item = tryParse(wire)
  const fields = isObject(item) ? item : {}
  const input = Object.fromEntries(Object.entries(fields).filter(([name]) => !frameNames.has(name)))
  return {
    callId: told(fields.call_id) ?? told(fields.id) ?? "",
    tool: told(fields.name) ?? type.slice(0, -"_call".length),
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
    callId: told(block.call_id) ?? told(block.id) ?? told(named.id) ?? "",
    tool: told(named.name) ?? told(block.tool) ?? told(block.type) ?? Object.keys(block)[0] ?? "",
    input: block,
    providerRun: false,
  }
}

/** A part of a stream that has come to its end. */
type EndedPart = {
  readonly start: StreamEvent & PartStart
  readonly events: readonly StreamEvent[]
  /** The pieces of its input, joined. */
  readonly input: string
}

/** Fields in which a wire repeats the input of a call beside the pieces that it streamed. */
const copyNames = ["arguments", "input", "code", "action", "operation", "args"] as const

/**
 * All that a client could take a part for: what it comes to when it is put together, its pieces joined, and every copy that the
 * wire sends along. They say the same in an honest stream; where they differ, each is judged. None means that it is no call.
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

/** Events that are looked through in one step. */
const eventsAtOnce = 1000

const unreadCall = (callId: string, tool: string, unread: string): FoundCall => ({
  callId,
  tool,
  input: undefined,
  providerRun: false,
  unread,
})

/** What the part comes to; nothing where it cannot be put together. */
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

/** What an event says of its part, without the frame around it. */
function contentOf(format: Format, data: string): unknown {
  const json = fieldsOf(tryParse(data))
  if (format === "anthropic-messages") return json.content_block ?? json.delta
  return format === "openai-responses" ? (json.item ?? json) : undefined
}

/** The input that an event repeats whole, as text. */
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

/** What makes two readings the same call. */
export const callKey = ({ tool, input, unread }: FoundCall): string => JSON.stringify([tool, input, unread])

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Fields of a delta that are read, or that no client takes for a call. */
const readFields: ReadonlySet<string> = new Set(["tool_calls", "function_call"])

/** Only the first choice is read, and of it the delta. */
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

/** Only the first candidate is read, and each part of it as one thing. */
function strayInGemini(chunk: Fields): boolean {
  const [first, ...rest] = listOf(chunk.candidates)
  if (rest.some(couldHoldCall)) return true
  const parts = listOf(fieldsOf(fieldsOf(first).content).parts)
  return parts.some((part) => {
    const calls = Object.keys(fieldsOf(part)).filter((name) => looksLikeCall({ [name]: true }))
    return calls.length > 1 || (calls.length > 0 && fieldsOf(part).text !== undefined)
  })
}

/** Blocks are read from their own events; an answer that begins with some in it is not. */
function strayInAnthropic(event: StreamEvent, json: Fields): boolean {
  if (event.type === "response-start") return couldHoldCall(fieldsOf(json.message).content)
  return event.type === "other" && couldHoldCall(json)
}

/** Items are read from their own events; what the closing event repeats is compared with them by the caller. */
function strayInResponses(event: StreamEvent, json: Fields): boolean {
  if (event.type === "response-start") return couldHoldCall(fieldsOf(json.response).output)
  if (event.type !== "other") return false
  const { response, ...rest } = json
  return couldHoldCall(fieldsOf(response).output) || couldHoldCall(rest)
}

/**
 * Does the wire of this event carry a call where the reader of the format does not look? The first piece of a wire event answers for
 * all of it. Where each wire event speaks of one part, those of a part that is `watched` are judged with it.
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

/** May an event that could not be read, or one that tells of an error, go on as it came? Only if nobody can find a call in it. */
export function isHarmless({ wire }: StreamEvent): boolean {
  if (wire === undefined) return true
  const { type, data } = wire.sse
  if (type === "comment" || data.trim() === "[DONE]") return true
  const json = type === "event" ? tryParse(data) : undefined
  return json !== undefined && !couldHoldCall(json)
}
