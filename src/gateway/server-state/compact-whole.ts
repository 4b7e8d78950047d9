import { hash } from "node:crypto"
import { separate } from "../../compact/stack/separate.ts"
import { ownMessage } from "../../compact/standing.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { ModelRequest } from "../../message/request.ts"
import type { Receipt } from "../../session/prepared.ts"
import type { Session } from "../../session/session.ts"
import { createMeter } from "../../tokens/meter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { elementTexts } from "./element-texts.ts"
import { compactionItem, packElements } from "./own-item.ts"
import type { Whole } from "./whole.ts"

/** A conversation compacted because its client asked for that. */
export type CompactedWhole = {
  readonly item: ReturnType<typeof compactionItem>
  /** The user's own messages, which stand before the item. */
  readonly kept: readonly object[]
  readonly receipt: Receipt
}

export type CompactOptions = {
  readonly model?: string
  readonly windowTokens?: number
  /** Do the user's messages stand before the item, so that it need not hold them? */
  readonly keepsUser: boolean
}

/** User messages before the item, newest first, in tokens: a list of all of them would grow with the conversation. */
const keptTokens = 20_000

/** Compact now, and put what is left of the conversation into an item of ours. */
export async function compactWhole(session: Session, whole: Whole, options: CompactOptions): Promise<CompactedWhole> {
  const { model, windowTokens, keepsUser } = options
  const prepared = await session.prepare({
    format: "openai-responses",
    body: whole.text,
    occasion: { asked: {} },
    ...present({ model, windowTokens }),
  })
  const compacted = decodeRequest("openai-responses", prepared.wire)
  const kept = keepsUser ? keptFrom(decodeRequest("openai-responses", whole.text)) : new Map<string, object>()
  const spoken = new Set(separate(compacted).conversation.map(({ id }) => id))
  const texts = elementTexts(compacted)
  const elements = compacted.messages.flatMap(({ id }, n) => {
    const text = texts[n] ?? ""
    return spoken.has(id) && !kept.has(text) && !asksToCompactNow(text) ? [text] : []
  })
  return { item: compactionItem(packElements(elements)), kept: [...kept.values()], receipt: prepared.receipt }
}

const asksToCompactNow = (text: string): boolean => text.length < 200 && text.includes('"compaction_trigger"')

/** The user's messages as an answer has them, by the text of their elements. */
function keptFrom(request: ModelRequest): ReadonlyMap<string, object> {
  const meter = createMeter()
  const texts = elementTexts(request)
  const found: [string, object][] = []
  let left = keptTokens
  for (let n = request.messages.length - 1; n >= 0; n--) {
    const message = request.messages[n]
    const text = texts[n]
    if (message === undefined || text === undefined || !isUsers(message)) continue
    left -= meter.message(message)
    if (left < 0) break
    found.unshift([text, userItem(text)])
  }
  return new Map(found)
}

const isUsers = (message: Message): boolean =>
  message.role === "user" &&
  message.parts.length > 0 &&
  message.parts.every(({ type }) => type === "text" || type === "image" || type === "document") &&
  ownMessage(message) === undefined

/** A message of the user's as an item of an answer: a bare text becomes a list of one. */
function userItem(text: string): object {
  const read = tryParse(text)
  const { content, ...rest } = isObject(read) ? read : {}
  const list = typeof content === "string" ? [{ type: "input_text", text: content }] : content
  return {
    id: `msg_${hash("sha256", text, "hex").slice(0, 32)}`,
    type: "message",
    status: "completed",
    role: "user",
    ...rest,
    content: list,
  }
}
