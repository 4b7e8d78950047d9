import { messageId } from "../message/ids.ts"
import type { Format, Message, Transcript } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { Tool } from "../message/request.ts"
import { type LossEvent, type Translation, translate } from "../wire/translate.ts"
import type { Conversation } from "./conversation.ts"
import { translateTools } from "./tools.ts"

/** A conversation in the format that is to be written. */
export type Prepared = {
  readonly messages: Transcript
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  readonly lost: readonly LossEvent[]
  readonly lostTools: readonly string[]
}

/** Everything in one format. Where nothing has to change, messages stay the objects that they were. */
export function prepare(
  { format, system, tools, messages }: Conversation,
  to: Format,
  unsigned: "keep-unsigned" | "drop-unsigned" = "drop-unsigned",
): Prepared {
  const translated = translate(messages, to)
  const drops = to === "anthropic-messages" && unsigned === "drop-unsigned"
  const { messages: ready, lost } = drops ? withoutUnsigned(translated) : translated
  const declared = format === to ? { tools, lost: [] } : translateTools(tools, to)
  const parts = format === to ? system : textsOf(system)
  return { messages: ready, system: parts, tools: declared.tools, lost, lostTools: declared.lost }
}

/** Reasoning that pi kept of another provider: Anthropic takes none that it did not sign itself. */
function withoutUnsigned({ messages, lost }: Translation): Translation {
  const gone: LossEvent[] = []
  const kept = messages.flatMap((message) => {
    const parts = message.parts.filter((part) => part.type !== "reasoning" || part.wire !== undefined)
    if (parts.length === message.parts.length) return message
    gone.push({
      type: "part-lost",
      messageId: message.id,
      part: "reasoning",
      reason: "Anthropic takes no reasoning that it did not sign",
    })
    return parts.length === 0 ? [] : { ...message, parts }
  })
  return { messages: kept, lost: [...lost, ...gone] }
}

const textsOf = (parts: readonly Part[]): readonly Part[] =>
  parts.flatMap((part) => (part.type === "text" && part.text !== "" ? { type: "text", text: part.text } : []))

/** The system parts as a first message, for a file that has no other place for them. */
export function systemAsMessage(conversation: Conversation): Conversation {
  const parts = textsOf(conversation.system)
  if (parts.length === 0) return conversation
  const first: Message = { id: messageId("system"), role: "system", parts }
  return { ...conversation, system: [], messages: [first, ...conversation.messages] }
}

/** System messages at the start as system parts, for a format that keeps them apart. */
export function messagesAsSystem(conversation: Conversation): Conversation {
  const { messages, system } = conversation
  const end = messages.findIndex(({ role, parts }) => role !== "system" || parts.some(({ type }) => type !== "text"))
  const leading = messages.slice(0, end < 0 ? messages.length : end)
  if (leading.length === 0) return conversation
  const parts = leading.flatMap((message) => textsOf(message.parts))
  return {
    ...conversation,
    system: [...system.filter((part) => part.type !== "text" || part.text !== ""), ...parts],
    messages: messages.slice(leading.length),
  }
}
