import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { elements, readJson, tryParse, wireOf } from "../wire/json.ts"
import { readBody } from "./body.ts"
import type { Conversation, TranscriptFile } from "./conversation.ts"
import { firstLine, readLines, withoutMark } from "./lines.ts"

const kind = "trace"

/** One conversation on each line, or a JSON file that holds one, or a list of them. */
export function readTraces(file: string, format?: Format): TranscriptFile {
  const text = withoutMark(file)
  const given = present({ format })
  if (text.trimStart().startsWith("[")) {
    const bodies = elements(readJson(text, "request")).map(wireOf)
    return {
      kind,
      conversations: bodies.map((body) => readBody(body, { kind, line: 1, after: "\n", ...given })),
      skipped: [],
    }
  }
  if (tryParse(firstLine(text)) === undefined)
    return { kind, conversations: [readBody(text, { kind, line: 1, after: "", ...given })], skipped: [] }
  const conversations: Conversation[] = []
  const { cut } = readLines(file, ({ text: line, number }) => {
    conversations.push(readBody(line, { kind, line: number, after: "\n", ...given }))
  })
  return { kind, conversations, skipped: cut === undefined ? [] : [cut] }
}
