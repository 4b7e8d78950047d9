import { fence } from "../message/fence.ts"
import { messageId } from "../message/ids.ts"
import type { Message } from "../message/message.ts"
import { ownMark, pinsTag } from "../message/own-text.ts"

const heading = "These rules stand, whatever else of the conversation is left out:"

/** Rules as a message of their own, each to the letter. The fence's name is one that no rule contains, so that nothing is escaped. */
export function pinsMessage(pins: readonly string[], id: string): Message {
  return { id: messageId(id), role: "user", parts: [{ type: "text", text: pinsText(pins) }] }
}

export function pinsText(pins: readonly string[]): string {
  const text = [heading, ...pins.map((pin) => `- ${pin}`)].join("\n")
  return fence(freeTag(text), text, ownMark)
}

function freeTag(text: string): string {
  let tag = pinsTag
  for (let n = 2; n < 1000 && fence(tag, text).length !== `<${tag}>\n${text}\n</${tag}>`.length; n++)
    tag = `${pinsTag}-${n}`
  return tag
}
