import { wireText } from "../../message/ids.ts"
import type { Format, Message } from "../../message/message.ts"
import type { ModelRequest } from "../../message/request.ts"
import { codecs } from "../../wire/codecs.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { overlay, write } from "../../wire/json.ts"

/** The elements of a request's list as texts, one for each of its messages. */
export const elementTexts = ({ wire, layout }: Pick<ModelRequest, "wire" | "layout">): readonly string[] =>
  (layout.messages?.elements ?? []).map(({ start, end }) => asElement(wire.slice(start, end)))

/** Messages as elements of a list. */
export const messageTexts = (format: Format, messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) => codecs[format].writeMessage(message).map(asElement))

/** On OpenAI Responses a bare text may be the whole input; in a list it is the message that it stands for. */
const asElement = (text: string): string => (text.startsWith('"') ? `{"role":"user","content":${text}}` : text)

/** A body with another list of elements; all else in it stays to the letter. */
export function withElements(format: Format, wire: string, elements: readonly string[]): string {
  const { layout } = decodeRequest(format, wire)
  const [name = ""] = codecs[format].names.messages
  if (layout.messages === undefined)
    return withElements(format, overlay(wireText(wire), { [name]: write([]) }), elements)
  const { start, end } = layout.messages
  return `${wire.slice(0, start)}[${elements.join(",")}]${wire.slice(end)}`
}
