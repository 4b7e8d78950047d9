import type { Transcript } from "../../message/message.ts"
import { isFrame } from "./history.ts"

/** Of a text this much is looked at, which is more than a summary of a conversation has. */
const maxLength = 64_000
/** Shorter lines stand in every text. */
const leastLine = 40
const maxToldLines = 6
const maxOpeningLines = 300

/** The longest lines of an answer: a client that goes on from it as a summary puts it among words of its own. */
export const toldLines = (answer: Transcript): readonly string[] => linesIn(textOf(answer), maxToldLines)

/** The lines of what a conversation opens with, up to its first answer. */
export function openingLines(messages: Transcript): readonly string[] {
  const end = messages.findIndex((message) => message.role === "assistant" && !isFrame(message, true))
  const opening = messages.slice(0, end < 0 ? messages.length : end)
  return linesIn(textOf(opening.filter(({ role }) => role === "user")), maxOpeningLines)
}

const textOf = (messages: Transcript): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : []))).join("\n")

/** Without tags around them and however they are spaced. */
function linesIn(text: string, most: number): readonly string[] {
  const lines = text
    .slice(0, maxLength)
    .split("\n")
    .map((line) =>
      line
        .trim()
        .replace(/^<[^<>]{1,80}>|<[^<>]{1,80}>$/g, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((line) => line.length >= leastLine)
  return [...new Set(lines)].sort((one, other) => other.length - one.length).slice(0, most)
}
