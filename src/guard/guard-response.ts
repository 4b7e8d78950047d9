import type { Format, Message, ModelResponse, Part } from "../message/message.ts"
import { present } from "../message/present.ts"
import { callsInText } from "./calls-in-text.ts"
import { type FoundCall, findCall } from "./find-call.ts"
import type { Guard } from "./guard.ts"
import {
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
import { responseWire, type Seal, sealOf, strayAnswers, textPart, withSeal, writtenMessage } from "./response-wire.ts"

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
