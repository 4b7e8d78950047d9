import { mergeSpans } from "../../compact/gate/mark-data.ts"
import { withoutLineStart } from "../../compact/summary/summary.ts"
import { startOfText } from "../../language/cut-text.ts"
import { sentencesIn } from "../../language/sentences.ts"
import type { Message, Part, Span } from "../../message/message.ts"
import { present, sumOf } from "../../message/present.ts"
import { entryId, seqOf } from "../../session/log/entry.ts"
import { piecesIn } from "../../session/log/search-logs.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { HandoffLine, LineSource, MessageLine } from "./answers.ts"
import { wordsIn } from "./session-profile.ts"

/** Splits a digest's text into lines with their sources. A line carried over from an earlier handoff has its sources from there. */
export function handoffLines(
  text: string,
  summary: string | undefined,
  earlier: readonly { readonly id: string; readonly summary?: string }[],
): readonly HandoffLine[] {
  const own = sourcesIn(summary)
  const before = earlier.map(({ id, summary: json }) => ({ id, lines: sourcesIn(json) }))
  /** The statement of the previous line: a person's words may have several lines. */
  let open: Statement | undefined
  return text.split("\n").map((line): HandoffLine => {
    if (/^<\/?[a-z_]+\b[^>]*>$/.test(line.trim())) return { text: line, kind: "frame", sources: [] }
    if (line.startsWith("## ")) {
      open = undefined
      return { text: line, kind: "heading", sources: [] }
    }
    const said = withoutLineStart(line)
    const carried = own.has(said) ? undefined : before.find(({ lines }) => lines.has(said))
    const begun = own.get(said) ?? carried?.lines.get(said)
    if (begun !== undefined) open = { ...begun, ...present({ since: carried?.id }) }
    else if (open?.rest.has(line.trim()) !== true) open = undefined
    return { text: line, kind: "line", sources: open?.sources ?? [], ...present({ since: open?.since }) }
  })
}

type Statement = { readonly sources: readonly string[]; readonly rest: ReadonlySet<string>; readonly since?: string }

/** The statements of a summary by their first line, with their source entries and further lines. */
function sourcesIn(json: string | undefined): ReadonlyMap<string, Statement> {
  const summary = json === undefined ? undefined : tryParse(json)
  const sections = isObject(summary) && Array.isArray(summary.sections) ? summary.sections.filter(isObject) : []
  const lines = sections.flatMap(({ lines: all }) => (Array.isArray(all) ? all.filter(isObject) : []))
  return new Map(
    lines.flatMap(({ text, sources: named }) => {
      const sources = Array.isArray(named) ? named.filter((source) => typeof source === "string") : []
      if (typeof text !== "string" || sources.length === 0) return []
      const [first = "", ...rest] = text.split("\n")
      return [[first, { sources, rest: new Set(rest.map((line) => line.trim())) }] as const]
    }),
  )
}

/** Characters shown around the used words, and the limits on an excerpt and on the number of sources. */
const around = 160
const maxExcerpt = 900
const maxSources = 6
/** Minimum length of a piece that does not match by chance; words with a digit, an `@` or a slash may be shorter. */
const tellingLength = 14
const tellingWord = /[\d@/]/
/** Matches prices and times. They occur in many messages, so they are marked, but do not make a message a source. */
const shortNumber = /^[\d.,:-]{1,7}$/

/** The sources of a handoff line: the messages it names, otherwise those that contain its values; best matches first. */
export function sourcesOf(
  line: HandoffLine,
  messages: ReadonlyMap<number, Message>,
  turnAt: (seq: number) => number,
): readonly LineSource[] {
  const named = line.sources.flatMap((id) => seqOf(id) ?? [])
  const found: { readonly source: LineSource; readonly usedLength: number }[] = []
  for (const seq of named.length > 0 ? named : messages.keys()) {
    const message = messages.get(seq)
    if (message === undefined) continue
    const text = messageText(message)
    const spans = usedSpans(text, line.text)
    const usedLength = sumOf(spans, ({ start, end }) => (shortNumber.test(text.slice(start, end)) ? 0 : end - start))
    if (usedLength === 0 && named.length === 0) continue
    const source = {
      entry: entryId(seq),
      turn: turnAt(seq) + 1,
      line: messageLine(message),
      pieces: excerptOf(text, spans),
    }
    found.push({ source, usedLength })
  }
  return found
    .sort((one, other) => other.usedLength - one.usedLength)
    .slice(0, maxSources)
    .map(({ source }) => source)
}

/** The spans of a line's words in a text: of the whole line, otherwise of its clauses, otherwise of its distinctive words. */
function usedSpans(text: string, line: string): readonly Span[] {
  const bare = withoutLineStart(line.trim()).replaceAll("`", "").trim()
  const sentences = sentencesIn(bare, { start: 0, end: bare.length }).map(({ start, end }) => bare.slice(start, end))
  // The question that the words answer is appended in brackets, as `(asked: …)`.
  const clauses = sentences.flatMap((sentence) => sentence.split(/;\s+|\s+\((?=[a-z ]+:)/))
  const values = bare.split(/[,;:()\s=[\]{}…"]+/)
  // The line of a record occurs in no message, but each of its values does.
  const pieces = /\S=\S/.test(bare) ? [[bare], values] : [[bare], clauses, values]
  for (const list of pieces) {
    const telling = list.filter((piece) => piece.length >= (tellingWord.test(piece) ? 4 : tellingLength))
    const spans = telling.flatMap((piece) => spanOf(text, piece) ?? [])
    if (spans.length > 0) return mergeSpans(spans)
  }
  return []
}

/** The span of a piece in a text, with any whitespace between its words. */
function spanOf(text: string, piece: string): Span | undefined {
  const words = piece.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
  const found = new RegExp(words.join("\\s+")).exec(text)
  return found === null ? undefined : { start: found.index, end: found.index + found[0].length }
}

/** The part of a text around the given spans, split where they begin and end. */
function excerptOf(text: string, spans: readonly Span[]): LineSource["pieces"] {
  const from = Math.max(0, (spans[0]?.start ?? 0) - around)
  const to = Math.min(text.length, from + maxExcerpt, (spans.at(-1)?.end ?? 0) + around)
  const shown = spans.filter(({ start }) => start < to).map(({ start, end }) => ({ start, end: Math.min(end, to) }))
  return piecesIn(text, shown, { start: from, end: to })
}

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

export const messageText = ({ parts }: Pick<Message, "parts">): string => parts.map(partText).join("\n")
