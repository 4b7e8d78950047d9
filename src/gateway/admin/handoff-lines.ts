import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { entryId, seqOf } from "../../session/log/entry.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { HandoffLine, LineSource } from "./answers.ts"
import { messageLine, messageText } from "./message-line.ts"

type Earlier = { readonly id: string; readonly summary?: string }

/** The lines of a digest's text. A line carried over from an earlier handoff has its sources from there. */
export function handoffLines(
  text: string,
  summary: string | undefined,
  earlier: readonly Earlier[],
): readonly HandoffLine[] {
  const own = sourcesIn(summary)
  const before = earlier.map(({ id, summary: json }) => ({ id, lines: sourcesIn(json) }))
  return text.split("\n").map((line): HandoffLine => {
    if (/^<\/?[a-z]+\b[^>]*>$/.test(line.trim())) return { text: line, kind: "frame", sources: [] }
    if (line.startsWith("## ")) return { text: line, kind: "heading", sources: [] }
    const said = line.replace(/^- (?:\[[A-Z][a-z ]{2,24}\] )?/, "")
    const sources = own.get(said) ?? []
    const carried = sources.length > 0 ? undefined : before.find(({ lines }) => (lines.get(said) ?? []).length > 0)
    return {
      text: line,
      kind: "line",
      sources: carried?.lines.get(said) ?? sources,
      ...present({ since: carried?.id }),
    }
  })
}

/** The source entries of each line of a summary, by the first line of its text. */
function sourcesIn(json: string | undefined): ReadonlyMap<string, readonly string[]> {
  const summary = json === undefined ? undefined : tryParse(json)
  const sections = isObject(summary) && Array.isArray(summary.sections) ? summary.sections.filter(isObject) : []
  const lines = sections.flatMap(({ lines: all }) => (Array.isArray(all) ? all.filter(isObject) : []))
  return new Map(
    lines.flatMap(({ text, sources }) =>
      typeof text === "string" && Array.isArray(sources)
        ? [[text.split("\n", 1)[0] ?? "", sources.filter((source) => typeof source === "string")] as const]
        : [],
    ),
  )
}

/** Text around the words that were used. */
const around = 240
const maxSources = 6
/** Shortest piece that does not match by chance; words with a digit, an `@` or a slash may be shorter. */
const tellingLength = 14
const tellingWord = /[\d@/]/

/** The sources of a handoff line: the messages it names, otherwise those that contain its values; best matches first. */
export function sourcesOf(
  line: HandoffLine,
  messages: ReadonlyMap<number, Message>,
  turnAt: (seq: number) => number,
): readonly LineSource[] {
  const named = line.sources.flatMap((id) => seqOf(id) ?? [])
  const found: LineSource[] = []
  for (const seq of named.length > 0 ? named : messages.keys()) {
    const message = messages.get(seq)
    if (message === undefined) continue
    const text = messageText(message)
    const used = usedSpan(text, line.text)
    if (used === undefined && named.length === 0) continue
    const [start, end] = used ?? [0, 0]
    found.push({
      entry: entryId(seq),
      turn: turnAt(seq) + 1,
      line: messageLine(message),
      before: text.slice(Math.max(0, start - around), start),
      used: text.slice(start, end),
      after: text.slice(end, end + around),
    })
  }
  return found.sort((one, other) => other.used.length - one.used.length).slice(0, maxSources)
}

/** The longest piece of a line that stands in a text verbatim. */
function usedSpan(text: string, line: string): readonly [start: number, end: number] | undefined {
  const bare = line.replace(/^\s*(?:- |\* |Goal: )/, "").replaceAll("`", "")
  const pieces = [bare, ...bare.split(/(?<=[.!?;])\s+/), ...bare.split(/[,;:()\s=[\]{}…]+/)]
  const telling = pieces
    .map((piece) => piece.trim())
    .filter((piece) => piece.length >= (tellingWord.test(piece) ? 4 : tellingLength))
  for (const piece of telling.toSorted((one, other) => other.length - one.length)) {
    const start = text.indexOf(piece)
    if (start >= 0) return [start, start + piece.length]
  }
  return undefined
}
