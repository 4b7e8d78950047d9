import type { Format, Message, ModelResponse, Part, Wire } from "../message/message.ts"
import { present } from "../message/present.ts"
import { codecOf } from "../wire/codecs.ts"
import { elements, isObject, type Json, member, readJson, tryParse, wireOf } from "../wire/json.ts"
import { type Fields, overlay, write, writeList } from "../wire/json-write.ts"
import { callsInText } from "./calls-in-text.ts"
import { couldHoldCall, type FoundCall, findCall } from "./find-call.ts"
import type { Guard } from "./guard.ts"
import {
  checkGuardNames,
  checkGuardUse,
  type GuardUse,
  type JudgedCall,
  judgeCall,
  judgedCall,
  spentWith,
  unreadVerdict,
  withheldText,
  withSpent,
} from "./judge-call.ts"

export type GuardedResponse = {
  /** Same object as the input if nothing was withheld. */
  readonly response: ModelResponse
  /** Every call, in the order of the response. */
  readonly judged: readonly JudgedCall[]
}

/**
 * Judges every call of a complete response. A refused call is replaced by a text that says so; if no call is left, the response ends
 * instead of waiting for results. What a provider runs itself (a search, its own sandbox, a remote MCP server) has already run when the
 * response arrives: it cannot be prevented here, so it stays unchanged and is reported as not enforced.
 */
export async function guardResponse(
  response: ModelResponse,
  guard: Guard,
  use: GuardUse = {},
): Promise<GuardedResponse> {
  checkGuardNames(use, "guardResponse")
  checkGuardUse(use)
  const judged: JudgedCall[] = []
  const messages: Message[] = []
  let spent = 0
  const judge = async (found: FoundCall): Promise<JudgedCall> => {
    const call = await judgeCall(found, guard, withSpent(use, spent))
    spent += spentWith([call])
    judged.push(call)
    return call
  }
  for (const message of response.messages) messages.push(await guardMessage(response.format, message, judge))
  const strays = use.mode === "observe" ? 0 : strayAnswers(response)
  for (let n = 0; n < strays; n++) judged.push(strayCall(use))
  if (strays === 0 && messages.every((message, n) => message === response.messages[n])) return { response, judged }
  return { response: changed(response, messages), judged }
}

/** Judged call for a choice or candidate beside the first, which is the only one that is read. */
const strayCall = (use: GuardUse): JudgedCall =>
  judgedCall(
    { callId: "", tool: "", providerRun: false },
    unreadVerdict("", "it stands in an answer beside the first"),
    use,
  )

async function guardMessage(
  format: Format,
  message: Message,
  judge: (found: FoundCall) => Promise<JudgedCall>,
): Promise<Message> {
  const parts: Part[] = []
  const said: string[] = []
  let signature: ThoughtSignature | undefined
  for (const part of message.parts) {
    if (part.type === "text") {
      parts.push(await guardText(format, part, judge))
      continue
    }
    const found = findCall(format, part)
    const call = found === undefined ? undefined : await judge(found)
    if (call?.result === undefined) {
      const next = withSignature(part, signature)
      if (next !== part) signature = undefined
      parts.push(next)
      continue
    }
    signature ??= signatureOf(format, part)
    if (format === "openai-chat") said.push(withheldText(call))
    else parts.push(textPart(format, withheldText(call)))
  }
  const same = parts.length === message.parts.length && parts.every((part, n) => part === message.parts[n])
  return same ? message : writtenMessage(format, message, said.length === 0 ? parts : withWords(parts, said))
}

/** Cuts a text at the first call in it that is refused; calls behind that are not reported. */
async function guardText(
  format: Format,
  part: Part & { readonly type: "text" },
  judge: (found: FoundCall) => Promise<JudgedCall>,
): Promise<Part> {
  for (const { tool, input, start } of callsInText(part.text)) {
    const call = await judge({ callId: "", tool, input, providerRun: false })
    if (call.result === undefined) continue
    const before = part.text.slice(0, start).trimEnd()
    return textPart(format, before === "" ? withheldText(call) : `${before}\n\n${withheldText(call)}`)
  }
  // The fields of a Gemini part decide what it is: a text beside a call is both.
  const found = findCall(format, part)
  const call = found === undefined ? undefined : await judge(found)
  return call?.result === undefined ? part : textPart(format, withheldText(call))
}

/** Adds refusal texts to the text of a chat message, which has one, before its calls. */
function withWords(parts: readonly Part[], said: readonly string[]): readonly Part[] {
  const at = parts.findLastIndex((part) => part.type === "text" && part.wire === undefined)
  const text = parts[at]
  const words = said.join("\n\n")
  if (text?.type === "text")
    return parts.with(at, { type: "text", text: text.text === "" ? words : `${text.text}\n\n${words}` })
  const calls = parts.findIndex((part) => part.type === "tool-call")
  return parts.toSpliced(calls < 0 ? parts.length : calls, 0, { type: "text", text: words })
}

/** The response with changed messages; it no longer waits for results if the client has no call left to run. */
function changed(response: ModelResponse, messages: readonly Message[]): ModelResponse {
  const left = messages.some(({ parts }) => parts.some((part) => part.type === "tool-call" && part.kind !== "provider"))
  const stop = response.stop === "tool-calls" && !left ? "end" : response.stop
  const { wire: _, ...rest } = response
  const wire = responseWire({ ...response, messages, stop }, stop !== response.stop)
  return { ...rest, messages, stop, ...present({ wire }) }
}

/** Creates a text part of ours, as responses of the format have it. */
export function textPart(format: Format, text: string): Part {
  if (format === "anthropic-messages") return { type: "text", text, wire: write({ type: "text", text }) }
  if (format === "openai-responses")
    return { type: "text", text, wire: write({ type: "output_text", text, annotations: [], logprobs: [] }) }
  return { type: "text", text }
}

/** Field in which a format holds choices or candidates, of which only the first is read. */
const listNames: Partial<Record<Format, string>> = { "openai-chat": "choices", gemini: "candidates" }

/** Number of choices beside the first that could hold a call: they are not read. */
function strayAnswers({ format, wire }: ModelResponse): number {
  const name = listNames[format]
  const body = wire === undefined || name === undefined ? undefined : tryParse(wire)
  const list = isObject(body) && name !== undefined ? body[name] : undefined
  return Array.isArray(list) ? list.slice(1).filter(couldHoldCall).length : 0
}

/** Returns a message with changed parts, encoded again. */
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

/** JSON of a message item; in this format a call is an item of its own, and so is the text that replaces it. */
function itemWire({ id, wire }: Message, parts: readonly Part[]): Wire {
  const was = wire === undefined ? undefined : tryParse(wire)
  const own = write({ type: "message", id: `msg_holdfast_${id}`, status: "completed", role: "assistant" })
  const content = parts.flatMap(
    (part) => part.wire ?? (part.type === "text" ? textPart("openai-responses", part.text).wire : []) ?? [],
  )
  return overlay(isObject(was) && was.type === "message" ? wire : own, { content: writeList(content) })
}

/** JSON of the whole response with these messages in it; undefined if there was no JSON to overlay. */
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

/** The first choice with our fields overlaid, then the others that hold no call. */
function answersOf(body: Json, name: string, fields: Fields): Wire {
  const list = member(body, name)
  const [first, ...rest] = list === undefined ? [] : elements(list)
  const others = rest.filter(({ value }) => !couldHoldCall(value)).map(wireOf)
  return writeList([...(first === undefined ? [] : [overlay(wireOf(first), fields)]), ...others])
}

const signatureNames = ["thoughtSignature", "thought_signature"] as const

type ThoughtSignature = { readonly name: string; readonly text: string }

/** Thought signature of a Gemini call, with the field name it stands under. */
function signatureOf(format: Format, part: Part): ThoughtSignature | undefined {
  return format === "gemini" && part.type === "tool-call" ? signatureIn(part.wire) : undefined
}

function signatureIn(wire: string | undefined): ThoughtSignature | undefined {
  const fields = wire === undefined ? undefined : tryParse(wire)
  if (!isObject(fields)) return undefined
  for (const name of signatureNames) {
    const text = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof text === "string") return { name, text }
  }
  return undefined
}

/**
 * Gemini puts a thought signature on the first call of a response, and rejects a history in which that call has none. If that call is
 * withheld, the next function call takes over its signature. Any other part, and one with its own signature, is returned unchanged.
 */
function withSignature(part: Part, signature: ThoughtSignature | undefined): Part {
  if (signature === undefined || part.type !== "tool-call" || part.kind !== "function") return part
  if (part.wire === undefined || signatureIn(part.wire) !== undefined) return part
  return { ...part, wire: overlay(part.wire, { [signature.name]: write(signature.text) }) }
}
