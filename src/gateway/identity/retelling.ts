import type { Message, ModelRequest, Transcript } from "../../message/message.ts"
import { isFrame } from "./history.ts"

/** Only this many characters of a text are examined, which is more than a summary has. */
const maxLength = 64_000
/** Shorter lines occur in many texts. */
const leastLine = 40
/** A response without a longer line is identified by its longest line, if that has at least this length. */
const leastOnlyLine = 12
const maxResponseLines = 6
const maxOpeningLines = 300

/** The longest lines of a response: a client that uses it as a summary puts it between text of its own. */
export function longestLines(answer: Transcript): readonly string[] {
  const lines = longestFirst(linesIn(textOf(answer), leastOnlyLine))
  const long = lines.filter((line) => line.length >= leastLine)
  return long.length === 0 ? lines.slice(0, 1) : long.slice(0, maxResponseLines)
}

/** The lines of a conversation's opening messages, including the first assistant message: some clients write their summary into that. */
export function openingLines(messages: Transcript): readonly string[] {
  const end = messages.findIndex((message) => message.role === "assistant" && !isFrame(message, true))
  const opening = messages.slice(0, end < 0 ? messages.length : end + 1)
  const text = textOf(opening.filter(({ role }) => role !== "system")).slice(0, maxLength)
  return longestFirst(linesIn(text, leastOnlyLine)).slice(0, maxOpeningLines)
}

/** Shortest line that identifies a conversation quoted as text in another request: few conversations share one. */
const leastTurnLine = 24
const maxTurnLines = 3
/** Clients shorten tool output when they write it as text. */
const maxResult = 1500

/** A few lines of the messages since the last response, and of the new response. */
export function turnLines({ messages }: ModelRequest, answer: Transcript): readonly string[] {
  const news = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
  const text = [...news.filter(({ role }) => role === "user"), ...answer].flatMap(headsOf).join("\n")
  return longestFirst(linesIn(text, leastTurnLine)).slice(0, maxTurnLines)
}

/** Only the last lines are examined: they have the newest messages and the question about them. */
const maxTextLines = 200

/** The lines of a request that may contain a conversation as text; none if the request is a conversation itself. */
export function linesOfCall({ messages }: ModelRequest): readonly string[] {
  if (messages.some(({ role }) => role === "assistant")) return []
  const text = textOf(messages.filter(({ role }) => role === "user")).slice(-maxLength)
  return linesIn(text, leastTurnLine).slice(-maxTextLines)
}

/** Is the line long enough to identify a conversation without another line? */
export const isTellingLine = (line: string): boolean => line.length >= leastLine

const textOf = (messages: Transcript): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : []))).join("\n")

/** The texts of a message; of a tool result only whole lines at its beginning. */
const headsOf = ({ parts }: Message): readonly string[] =>
  parts.flatMap((part) => {
    if (part.type === "text") return part.text
    if (part.type !== "tool-result") return []
    return part.content.flatMap((piece) => (piece.type === "text" ? wholeLines(piece.text) : []))
  })

const wholeLines = (text: string): string =>
  text.length <= maxResult ? text : text.slice(0, Math.max(0, text.lastIndexOf("\n", maxResult)))

const tag = /<[^<>\n]{1,80}>/g
/** A label at the beginning of a line, such as a speaker or a heading: `[User]:`, `**Summary:**`. */
const label = /^[*#>\s-]{0,6}\[?\p{L}[\p{L} ]{0,24}\]?\*{0,2}:\*{0,2}\s+/u

/** The distinct lines of a text, without tags and labels, with whitespace normalized. */
function linesIn(text: string, least: number): readonly string[] {
  const lines = text
    .slice(-maxLength)
    .replace(tag, "\n")
    .split("\n")
    .map((line) => line.replace(label, "").replace(label, "").replace(/\s+/g, " ").trim())
    .filter((line) => line.length >= least)
  return [...new Set(lines)]
}

const longestFirst = (lines: readonly string[]): readonly string[] =>
  lines.toSorted((one, other) => other.length - one.length)
