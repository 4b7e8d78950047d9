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
  /** The very object that came in, if nothing was withheld. */
  readonly response: ModelResponse
  /** Every call, in the order of the answer. */
  readonly judged: readonly JudgedCall[]
}

/**
 * Judge every call of a whole answer. A call that is refused is taken out, and a text that says so stands in its place; if no call is
 * left, the answer ends instead of waiting for results. What a provider runs itself (a search, its own sandbox, a remote MCP
 * server) has run by the time the answer is seen: no one can prevent it here, so it stays as it is and is told as not enforced.
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

/** Only the first of several answers is read. */
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
  let seal: Seal | undefined
  for (const part of message.parts) {
    if (part.type === "text") {
      parts.push(await guardText(format, part, judge))
      continue
    }
    const found = findCall(format, part)
    const call = found === undefined ? undefined : await judge(found)
    if (call?.result === undefined) {
      const next = withSeal(part, seal)
      if (next !== part) seal = undefined
      parts.push(next)
      continue
    }
    seal ??= sealOf(format, part)
    if (format === "openai-chat") said.push(withheldText(call))
    else parts.push(textPart(format, withheldText(call)))
  }
  const same = parts.length === message.parts.length && parts.every((part, n) => part === message.parts[n])
  return same ? message : writtenMessage(format, message, said.length === 0 ? parts : withWords(parts, said))
}

/** A text up to the first call in it that is refused; what stands behind that is not told. */
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
  // Gemini's part is what its members say: a text beside a call is both.
  const found = findCall(format, part)
  const call = found === undefined ? undefined : await judge(found)
  return call?.result === undefined ? part : textPart(format, withheldText(call))
}

/** Chat has one text for the whole message, before its calls. */
function withWords(parts: readonly Part[], said: readonly string[]): readonly Part[] {
  const at = parts.findLastIndex((part) => part.type === "text" && part.wire === undefined)
  const text = parts[at]
  const words = said.join("\n\n")
  if (text?.type === "text")
    return parts.with(at, { type: "text", text: text.text === "" ? words : `${text.text}\n\n${words}` })
  const calls = parts.findIndex((part) => part.type === "tool-call")
  return parts.toSpliced(calls < 0 ? parts.length : calls, 0, { type: "text", text: words })
}

/** With no call left for the client, nothing waits for a result. */
function changed(response: ModelResponse, messages: readonly Message[]): ModelResponse {
  const left = messages.some(({ parts }) => parts.some((part) => part.type === "tool-call" && part.kind !== "provider"))
  const stop = response.stop === "tool-calls" && !left ? "end" : response.stop
  const { wire: _, ...rest } = response
  const wire = responseWire({ ...response, messages, stop }, stop !== response.stop)
  return { ...rest, messages, stop, ...present({ wire }) }
}

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
function strayAnswers({ format, wire }: ModelResponse): number {
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

type Seal = { readonly name: string; readonly text: string }

/** The seal that a call of Gemini's bears, and the name under which it does. */
function sealOf(format: Format, part: Part): Seal | undefined {
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
function withSeal(part: Part, seal: Seal | undefined): Part {
  if (seal === undefined || part.type !== "tool-call" || part.kind !== "function") return part
  if (part.wire === undefined || sealIn(part.wire) !== undefined) return part
  return { ...part, wire: overlay(part.wire, { [seal.name]: write(seal.text) }) }
}
