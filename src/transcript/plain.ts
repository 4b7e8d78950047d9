import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { readBody, readList } from "./body.ts"
import type { TranscriptFile } from "./conversation.ts"
import { firstLine, readLines, withoutMark } from "./lines.ts"
import { formatOfBody } from "./wire-format.ts"

const kind = "messages"

/** A list of messages, a whole request body, or one message on each line. */
export function readPlain(file: string, format?: Format): TranscriptFile {
  const text = withoutMark(file)
  const place = { kind, line: 1, after: "", ...present({ format }) } as const
  if (text.trimStart().startsWith("[")) return { kind, conversations: [readList(text, place)], skipped: [] }
  const value = tryParse(text)
  const body = isObject(value) ? formatOfBody(value) !== undefined : tryParse(firstLine(text)) === undefined
  return body ? { kind, conversations: [readBody(text, place)], skipped: [] } : readMessageLines(file, format)
}

/** Each line becomes a line of a list, so that a message that cannot be read is found at its own line. */
function readMessageLines(file: string, format: Format | undefined): TranscriptFile {
  const items: string[] = []
  const { all, cut } = readLines(file, () => {})
  for (const [index, line] of all.entries()) {
    const read = /\S/.test(line) && index + 1 !== cut?.line
    items.push(read ? withoutMark(line) : "")
  }
  const last = items.findLastIndex((item) => item !== "")
  const list = items.map((item, n) => (item === "" || n === last ? item : `${item},`)).join("\n")
  const conversation = readList(`[${list}]`, { kind, line: 1, after: "", ...present({ format }) })
  return { kind, conversations: [conversation], skipped: cut === undefined ? [] : [cut] }
}
