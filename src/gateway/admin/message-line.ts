import { startOfText } from "../../language/cut-text.ts"
import type { Message, Part } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { MessageLine } from "./answers.ts"
import { wordsIn } from "./session-profile.ts"

const lineLength = 300

export function messageLine(message: Message): MessageLine {
  const { role, parts } = message
  const words = wordsIn(message)
  const shown = parts.find(({ type }) => type === "tool-call") ?? parts.find(({ type }) => type === "tool-result")
  const more = parts.length > 1 ? { more: parts.length - 1 } : {}
  if (words !== "") return { who: "person", text: oneLine(words), ...more }
  if (shown?.type === "tool-call")
    return { who: "call", tool: startOfText(shown.tool, 100), text: oneLine(argumentWords(shown.input)), ...more }
  if (shown?.type === "tool-result") {
    const failed = shown.failed === true ? ({ failed: true } as const) : {}
    return { who: "result", text: oneLine(partText(shown)), ...present({ tool: shown.tool }), ...failed, ...more }
  }
  const said = oneLine(parts.map(partText).join(" "))
  return { who: role === "assistant" ? "model" : "client", text: said, ...more }
}

const oneLine = (text: string): string => startOfText(text.replace(/\s+/g, " ").trim(), lineLength)

/** The only string value of a call's input, or all values. */
export function argumentWords(input: unknown): string {
  if (typeof input === "string") return input
  if (typeof input !== "object" || input === null) return String(input ?? "")
  const values = Object.values(input)
  const [first] = values
  if (values.length === 1 && typeof first === "string") return first
  return Object.entries(input)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ")
}

/** The full content of a part as text. */
function partText(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text
    case "tool-call":
      return `${part.tool} ${typeof part.input === "string" ? part.input : JSON.stringify(part.input, null, 2)}`
    case "tool-result":
      return part.content.map(partText).join("\n")
    case "image":
      return "[a picture]"
    case "document":
      return part.text ?? `[a document${part.title === undefined ? "" : `: ${part.title}`}]`
    default:
      return `[${part.type === "opaque" ? part.kind : "a part of an unknown kind"}]`
  }
}

/** The full content of a message as text. */
export const messageText = ({ parts }: Pick<Message, "parts">): string => parts.map(partText).join("\n")
