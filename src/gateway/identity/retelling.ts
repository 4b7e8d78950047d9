import type { Message, ModelRequest, Transcript } from "../../message/message.ts"
import { isFrame } from "./history.ts"

/** Of a text this much is looked at, which is more than a summary of a conversation has. */
const maxLength = 64_000
/** Shorter lines stand in every text. */
const leastLine = 40
/** An answer that has no longer line is told by its longest, unless that is a mere word. */
const leastOnlyLine = 12
const maxToldLines = 6
const maxOpeningLines = 300

/** The longest lines of an answer: a client that goes on from it as a summary puts it among words of its own. */
export function toldLines(answer: Transcript): readonly string[] {
  const lines = longestFirst(linesIn(textOf(answer), leastOnlyLine))
  const long = lines.filter((line) => line.length >= leastLine)
  return long.length === 0 ? lines.slice(0, 1) : long.slice(0, maxToldLines)
}

/** The lines of what a conversation opens with, its first answer included: some clients write their summary into that. */
export function openingLines(messages: Transcript): readonly string[] {
  const end = messages.findIndex((message) => message.role === "assistant" && !isFrame(message, true))
  const opening = messages.slice(0, end < 0 ? messages.length : end + 1)
  const text = textOf(opening.filter(({ role }) => role !== "system")).slice(0, maxLength)
  return longestFirst(linesIn(text, leastOnlyLine)).slice(0, maxOpeningLines)
}

/** Lines by which a conversation is known where it stands as text in another call: long enough that few conversations share one. */
const leastSaidLine = 24
const maxSaidLines = 3
/** Clients cut what tools printed when they write it down as text. */
const maxResult = 1500

/** A few lines of what was said since the last answer, and of the answer to it. */
export function saidLines({ messages }: ModelRequest, answer: Transcript): readonly string[] {
  const news = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
  const text = [...news.filter(({ role }) => role === "user"), ...answer].flatMap(headsOf).join("\n")
  return longestFirst(linesIn(text, leastSaidLine)).slice(0, maxSaidLines)
}

/** At the end of a text stands the newest, and what is asked about it. */
const maxTextLines = 200

/** The lines of a call that may have a conversation as text in it; none where it is a conversation itself. */
export function linesOfCall({ messages }: ModelRequest): readonly string[] {
  if (messages.some(({ role }) => role === "assistant")) return []
  const text = textOf(messages.filter(({ role }) => role === "user")).slice(-maxLength)
  return linesIn(text, leastSaidLine).slice(-maxTextLines)
}

/** Does so long a line tell by itself, without another one? */
export const isTellingLine = (line: string): boolean => line.length >= leastLine

const textOf = (messages: Transcript): string =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : []))).join("\n")

/** The texts of a message, of a tool's result only whole lines of its beginning. */
const headsOf = ({ parts }: Message): readonly string[] =>
  parts.flatMap((part) => {
    if (part.type === "text") return part.text
    if (part.type !== "tool-result") return []
    return part.content.flatMap((piece) => (piece.type === "text" ? wholeLines(piece.text) : []))
  })

const wholeLines = (text: string): string =>
  text.length <= maxResult ? text : text.slice(0, Math.max(0, text.lastIndexOf("\n", maxResult)))

const tag = /<[^<>\n]{1,80}>/g
/** Who speaks, or what follows, at the head of a line: `[User]:`, `**Summary:**`. */
const label = /^[*#>\s-]{0,6}\[?\p{L}[\p{L} ]{0,24}\]?\*{0,2}:\*{0,2}\s+/u

/** The lines of a text without tags and labels, however they are spaced, each once. */
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
