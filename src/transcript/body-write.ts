import { type Wire, wireText } from "../message/ids.ts"
import type { Format, Message } from "../message/message.ts"
import type { Tool } from "../message/request.ts"
import { codecs } from "../wire/codecs.ts"
import { encodeRequest } from "../wire/encode.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { type Fields, write, writeList, writeObject } from "../wire/overlay.ts"
import { unwrap } from "./body.ts"
import type { Conversation } from "./conversation.ts"
import type { Exported, ExportOptions } from "./exported.ts"
import { onOneLine } from "./lines.ts"
import type { BodyOrigin } from "./origin.ts"
import { messagesAsSystem, type Prepared, prepare, systemAsMessage } from "./prepare.ts"
import { formatOfMessages } from "./wire-format.ts"

/** The messages as a list, or, where there is a system prompt or tools beside them, as the body of a request. */
export function writePlain(conversation: Conversation, options: ExportOptions): Exported {
  const format = options.format ?? conversation.format
  const kept = keep(conversation, format, "messages")
  if (kept !== undefined) return kept
  const ready = arrange(conversation, format)
  const list = listOf(ready, format)
  // A list whose messages could be of another format says by its name whose they are.
  const telling = format === "anthropic-messages" || formatOfMessages(ready.messages.map(parsed)) === format
  const bare = ready.system.length === 0 && ready.tools.length === 0 && telling
  return {
    text: `${bare ? list : writeObject(bodyFields(ready, format))}\n`,
    lost: ready.lost,
    lostTools: ready.lostTools,
  }
}

/** The conversation as one line: its id, where it is from, and the body of a request. */
export function writeTrace(conversation: Conversation, options: ExportOptions): Exported {
  const format = options.format ?? conversation.format
  const kept = keep(conversation, format, "trace")
  if (kept !== undefined) return kept
  const ready = arrange(conversation, format)
  const { id, title, model, meta, origin } = conversation
  const source = typeof meta.source === "string" ? meta.source : (origin?.kind ?? "holdfast")
  const more = origin?.kind === "trace" ? meta : {}
  const own = optional({ id: id ?? "", source, title, model, ...more })
  const text = writeObject({ ...own, ...bodyFields(ready, format) })
  return { text: `${onOneLine(text)}\n`, lost: ready.lost, lostTools: ready.lostTools }
}

const parsed = ({ wire }: Message): unknown => (wire === undefined ? undefined : tryParse(wire))

const optional = (fields: Readonly<Record<string, unknown>>): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === undefined ? undefined : write(value)]),
  )

/** The text that it came from with no more than the messages changed, if it is still of that kind and format. */
function keep(conversation: Conversation, format: Format, kind: BodyOrigin["kind"]): Exported | undefined {
  const { origin, messages, system, tools } = conversation
  if (origin?.type !== "body" || origin.kind !== kind || origin.request.format !== format) return undefined
  const { request, bare, after } = origin
  if (system !== request.system || tools !== request.tools) return undefined
  if (messages.some((message) => message.format !== undefined && message.format !== format)) return undefined
  const text = encodeRequest(request, { messages })
  return { text: `${bare ? unwrap(format, text) : text}${after}`, lost: [], lostTools: [] }
}

/** With the system prompt where the format wants it: among the messages on chat, apart everywhere else. */
const arrange = (conversation: Conversation, format: Format): Prepared =>
  prepare(format === "openai-chat" ? systemAsMessage(conversation) : messagesAsSystem(conversation), format)

const listOf = ({ messages }: Prepared, format: Format): Wire =>
  writeList(messages.flatMap(codecs[format].writeMessage))

function bodyFields(ready: Prepared, format: Format): Fields {
  const { names, writeSystem } = codecs[format]
  const [system, tools, messages] = [names.system[0], names.tools[0], names.messages[0]]
  return {
    ...(system === undefined || ready.system.length === 0 ? {} : { [system]: writeSystem(ready.system, undefined) }),
    ...(tools === undefined || ready.tools.length === 0 ? {} : { [tools]: writeTools(ready.tools, format) }),
    ...(messages === undefined ? {} : { [messages]: listOf(ready, format) }),
  }
}

/** On Gemini functions are declared in a list inside of one tool. */
function writeTools(tools: readonly Tool[], format: Format): Wire {
  if (format !== "gemini") return writeList(tools.map(({ wire }) => wire))
  const isFunction = ({ wire }: Tool): boolean => {
    const value = tryParse(wire)
    return isObject(value) && typeof value.name === "string"
  }
  const functions = tools.filter(isFunction)
  const declared = writeObject({ functionDeclarations: writeList(functions.map(({ wire }) => wire)) })
  const others = tools.filter((tool) => !isFunction(tool)).map(({ wire }) => wireText(wire))
  return writeList([...(functions.length === 0 ? [] : [declared]), ...others])
}
